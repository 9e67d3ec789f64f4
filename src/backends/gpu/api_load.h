// SPDX-License-Identifier: Apache-2.0
// Filling a vendor's table of functions from its library.
#pragma once

#include <string>
#include <string_view>

#include "backends/gpu/driver.h"
#include "core/os/library.h"

namespace beeswax::gpu {

enum class Need : uint8_t { Required, Optional };

/// Looks names up and remembers which required ones are missing.
class Symbols {
 public:
  explicit Symbols(const os::Library& library) : library_(library) {}

  template <class Function>
  void find(Function& function, const char* name, Need need) {
    function = reinterpret_cast<Function>(library_.symbol(name));
    if (function == nullptr && need == Need::Required)
      missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
  }
  /// The required names that the library lacks, with commas; empty where all are there.
  const std::string& missing() const { return missing_; }

 private:
  const os::Library& library_;
  std::string missing_;
};

/// The Code of an error number; HIP and CUDA number these alike.
Code code_of(int number);

/// Why a library did not open or does not suffice, for people; `advice` says what to install.
std::string not_found(const os::Library& library, std::string_view product, std::string_view advice);

}  // namespace beeswax::gpu
