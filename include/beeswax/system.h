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
  std::string detail;  ///< instruction-set level and threads of the CPU; chip, driver and kernels of a GPU
  size_t memory_bytes = 0;  ///< 0 where no device is there
  bool usable = false;
  std::string reason;  ///< why not, where it is not
  // Of a GPU in parts; empty and 0 for the CPU.
  std::string arch;              ///< "gfx1100", "sm_90"
  int units = 0;                 ///< compute units, multiprocessors
  std::string driver;            ///< the version of its interface: "HIP 6.2.41134", "CUDA 12.4"
  std::string library;           ///< the driver's file that was opened
  std::string kernels;           ///< "gfx1100", "ptx_80"; empty where the library has no code for it
  size_t memory_free_bytes = 0;  ///< of memory_bytes; 0 where nobody asked: device_info() does
};

/// Every kind of device, usable or not.
BW_API std::vector<DeviceInfo> list_devices();
/// The same of one device, and how much of a GPU's memory is free now: its driver is asked, and no other,
/// with the device as the thread's. Throws what Tensor::zeros throws where the device does not open.
BW_API DeviceInfo device_info(const Device& device);
/// The vendors' libraries that a GPU's driver has beside it, none of which is needed: "cuBLASLt 13.1.0, cuDNN
/// 9.19.0", or which are not there. Opens them. Empty for the CPU.
BW_API std::string list_libraries(const Device& device);

/// Memory of a GPU that this process took from its driver for tensors, graphs and intermediate results. It
/// comes in blocks, whose sizes are up to an eighth (at least 512 bytes) more than was asked for; freed ones
/// are kept for use.
struct MemoryStatistics {
  size_t used_bytes = 0;    ///< in blocks that tensors or graphs hold
  size_t kept_bytes = 0;    ///< in blocks that wait for use
  size_t peak_bytes = 0;    ///< the most that was used at a time
  size_t limit_bytes = 0;   ///< as set_memory_limit() was told; 0: none
  size_t driver_calls = 0;  ///< blocks that the driver gave so far
};
/// These three throw Unsupported for the CPU, whose memory is the system's, and what Tensor::zeros throws
/// where a device does not open. Thread-safe.
BW_API MemoryStatistics memory_statistics(const Device& device);
/// The most bytes that used and kept blocks of the device may have together; 0, as at the start: what the
/// device has. Kept blocks over it go back to the driver, now and whenever a new one is needed; where that
/// is not enough, what asks for memory throws OutOfMemory. What is in use already stays.
BW_API void set_memory_limit(const Device& device, size_t bytes);
/// Gives kept blocks back to the driver, which waits for the work that uses them. Throws Unsupported while
/// the thread captures a graph on the device, and Device where the driver does not take a block, which stays
/// kept; set_memory_limit() does so too.
BW_API void trim_memory(const Device& device);

/// Threads that operations on the CPU use, the caller's included. A child of fork() has as many of its own.
BW_API int num_threads();
BW_API void set_num_threads(int threads);

/// Quantized weights that the CPU keeps a second time in the order of its loops, where few threads generate
/// text (BEESWAX_CPU_REPACK=off: none).
struct RepackedWeights {
  size_t bytes = 0;    ///< that they take now
  double seconds = 0;  ///< of the products so far that made some beside their results
};
BW_API RepackedWeights repacked_weights();

/// Lets products of f32 by f32 (matmul, convolutions that are one or have one group) round operands to 11
/// significant bits, as tf32 and xf32 have them, on devices whose matrix units do; sums stay f32. The bound
/// is in docs/numerics.md. Process-wide and off until it is asked for; elsewhere it changes nothing, nor does
/// it for vendors' libraries. Any thread may set it: products that begin afterwards go by it.
BW_API bool reduced_precision_f32();
BW_API void set_reduced_precision_f32(bool allowed);

}  // namespace beeswax
