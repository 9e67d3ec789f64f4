// SPDX-License-Identifier: Apache-2.0
// Who does an operation that a vendor's library may do too, as an environment variable says.
#pragma once

#include <atomic>
#include <cstdint>

namespace beeswax::gpu {

enum class VendorMode : uint8_t {
  Own,     ///< our kernels
  Vendor,  ///< the library wherever it can; it must be there
  Auto,    ///< the library where a table of measurements says that it is faster
};

/// The variable, read at the first call.
class VendorVariable {
 public:
  /// "BEESWAX_BLAS", and the operation that errors name.
  constexpr VendorVariable(const char* name, const char* operation) : name_(name), operation_(operation) {}

  /// What it says; Auto where it is not set. Throws InvalidArgument for a text that means nothing.
  VendorMode mode();
  /// What a text means; null is Auto.
  VendorMode mode_of(const char* text) const;
  /// Instead of what the variable says.
  void set(VendorMode mode) { mode_.store(static_cast<int>(mode)); }

 private:
  static constexpr int kUnread = -1;
  const char* name_;
  const char* operation_;
  std::atomic<int> mode_{kUnread};
};

}  // namespace beeswax::gpu
