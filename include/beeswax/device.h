// SPDX-License-Identifier: Apache-2.0
// Device: where a tensor lives, as a value: cpu, cuda:0, rocm:1, emu:gfx1100.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "beeswax/export.h"

namespace beeswax {

enum class DeviceKind : uint8_t {
#define BW_BACKEND(Name, ...) Name,
#include "tables/backends.def"
};

class BW_API Device {
 public:
  constexpr Device() = default;  ///< the CPU
  static constexpr Device cpu() { return Device(); }
  /// Reads "cpu", "cuda:0", "rocm:0" or "emu:gfx1100" ("cuda" alone is "cuda:0").
  /// Throws InvalidArgument with the forms that are accepted.
  static Device parse(std::string_view text);
  /// Where this thread makes tensors that are given no device: the CPU, until it calls make_default().
  static Device default_device();
  /// New tensors of this thread are made here from now on, where no device is given.
  void make_default() const;

  DeviceKind kind() const { return kind_; }
  int ordinal() const { return ordinal_; }
  std::string_view arch() const { return arch_.data(); }  ///< "gfx1100" for emu, else ""
  bool is_cpu() const { return kind_ == DeviceKind::Cpu; }
  std::string to_string() const;
  bool operator==(const Device&) const = default;

  /// Seeds the random numbers drawn on this device from now on.
  void set_seed(uint64_t seed) const;
  /// The seed last set (299792458 before any).
  uint64_t seed() const;
  /// Waits for everything submitted to the device, on whatever stream, and throws what failed there, or an
  /// error that kernels of any stream found in their data; where they found several, the next call throws the
  /// next.
  void synchronize() const;

 private:
  DeviceKind kind_ = DeviceKind::Cpu;
  int ordinal_ = 0;
  std::array<char, 16> arch_{};
};

}  // namespace beeswax
