// SPDX-License-Identifier: Apache-2.0
// What the library found on this machine, and the few process-wide settings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "beeswax/device.h"
#include "beeswax/export.h"

namespace beeswax {

struct DeviceInfo {
  std::string device;  ///< as Device::parse takes it: "cpu"
  std::string name;    ///< the maker's name of it
  std::string detail;  ///< instruction-set level and threads of the CPU
  size_t memory_bytes = 0;
  bool usable = false;
  std::string reason;  ///< why not, where it is not
};

/// Every kind of device, usable or not.
BW_API std::vector<DeviceInfo> list_devices();
/// The vendors' libraries that a GPU's driver has beside it, none of which is needed: "cuBLASLt 13.1.0, cuDNN
/// 9.19.0", or which are not there. Opens them. Empty for the CPU.
BW_API std::string list_libraries(const Device& device);

/// Threads that operations on the CPU use, the caller's included.
BW_API int num_threads();
BW_API void set_num_threads(int threads);

/// Lets products of f32 by f32 (matmul, and the convolutions that are one) round their operands to 11
/// significant bits, as tf32 and xf32 have them, on devices whose matrix units do; sums stay f32. The bound
/// is in docs/numerics.md. Process-wide and off until it is asked for; elsewhere it changes nothing, nor does
/// it for vendors' libraries. Any thread may set it: products that begin afterwards go by it.
BW_API bool reduced_precision_f32();
BW_API void set_reduced_precision_f32(bool allowed);

}  // namespace beeswax
