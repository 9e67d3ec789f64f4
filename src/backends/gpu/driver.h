// SPDX-License-Identifier: Apache-2.0
// Driver: a vendor's driver as a plain table of functions. Above it nothing knows whose GPU it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "beeswax/device.h"

namespace beeswax::gpu {

/// What a driver's error number means to us.
enum class Code : uint8_t {
  Ok,
  NotReady,
  OutOfMemory,
  NoDevice,
  BadImage,  ///< code that this device cannot run, or damaged code
  NotFound,  ///< a function that the module lacks
  Refused,   ///< a wrong argument: a fault of ours
  Lost,      ///< the device or its context is broken; nothing more runs on it
  Other,
};
struct Result {
  Code code = Code::Ok;
  int number = 0;  ///< the driver's own, for error_text
  bool ok() const { return code == Code::Ok; }
};

using StreamHandle = void*;
using EventHandle = void*;
using ModuleHandle = void*;
using FunctionHandle = void*;
using GraphHandle = void*;
using GraphExecHandle = void*;

enum class Direction : uint8_t { HostToDevice, DeviceToHost, DeviceToDevice };

/// The most blocks of a cluster.
inline constexpr uint32_t kMostCluster = 8;

struct LaunchShape {
  uint32_t blocks[3] = {1, 1, 1};
  uint32_t threads = 1;
  uint32_t shared_bytes = 0;  ///< dynamic
  uint32_t threads_y = 1, threads_z = 1;
  uint32_t cluster = 1;  ///< blocks along the first axis that run together; other than 1 on NVIDIA's alone
  /// The kernel waits itself for what the stream holds before it (CUDA's programmatic dependent launch): a
  /// driver may start it while the kernel before it ends.
  bool programmatic = false;
};

/// A tensor as the copy engine takes boxes of it: dims innermost first, that one dense.
struct TensorView {
  const void* data;  ///< aligned to 16 bytes
  int element;       ///< its bytes: 2 or 4
  uint64_t dims[3];
  uint64_t strides[2];  ///< of dims 1 and 2, in bytes, multiples of 16
  uint32_t box[2];      ///< elements of dims 0 and 1 in a box; its lines of 128 bytes are swizzled
};

struct Properties {
  std::string name;  ///< "NVIDIA H200"
  std::string arch;  ///< "gfx1100", "sm_90"
  size_t memory_bytes = 0;
  int units = 0;  ///< compute units, multiprocessors
  int wave = 32;
  int shared_bytes = 0;     ///< that a block may have, opted in
  bool integrated = false;  ///< its memory is the host's
  /// Blocks of a cluster may send each other numbers that are counted where they arrive (Hopper's st.async).
  bool counted_stores = false;
};

struct Driver {
#define BW_DRIVER(name, parameters) Result(*name) parameters;
#include "backends/gpu/driver.def"
  /// The vendor's words for an error number.
  std::string (*error_text)(int number);
  std::string vendor;   ///< "AMD", "NVIDIA"
  std::string library;  ///< the file that was opened
  std::string version;  ///< the driver's
};

/// A vendor's driver, or why there is none ("libcuda.so.1 not found; install NVIDIA's driver").
struct DriverState {
  const Driver* driver = nullptr;
  std::string reason;
};
/// The driver that serves devices of a kind (Cuda, Rocm, Emu); opened at the first call.
const DriverState& driver_for(DeviceKind kind);

/// Throws the error that `result` stands for; nothing where it is ok. `what` was being done: "allocating 64
/// MiB".
void check(const Driver& driver, Result result, std::string_view what);

/// Makes a device of a driver the calling thread's, for the calls after it.
void use_device(const Driver& driver, int ordinal);

}  // namespace beeswax::gpu
