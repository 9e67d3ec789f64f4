// SPDX-License-Identifier: Apache-2.0
// What one run of a kernel may ask of the host, and the hidden arguments that tell the kernel where.
#pragma once

#include <memory>

#include "emu/code_object.h"
#include "emu/exec/run.h"
#include "emu/hip/abi.h"
#include "emu/hostcall.h"

namespace emu::hip {

class Device;

/// Lives as long as the run. Only what the kernel's metadata names is made.
class RunHost {
 public:
  /// Fills in hidden arguments of `kernargs`.
  RunHost(const Kernel& kernel, Device& device, std::byte* kernargs, uint64_t groups, bool cooperative);
  ~RunHost();
  RunHost(const RunHost&) = delete;
  RunHost& operator=(const RunHost&) = delete;

  const HostSide& side() const { return side_; }
  /// The kernel ran to its end: what it needed may be used again.
  void finish();

 private:
  void print_what_is_buffered();
  uint64_t grid_argument(uint64_t groups);

  const Kernel& kernel_;
  Device& device_;
  HostSide side_;
  std::unique_ptr<Hostcall> calls_;
  std::byte* printed_ = nullptr;  // the buffer of `-mprintf-kind=buffered`
  size_t printed_room_ = 0;
  std::byte* grid_ = nullptr;  // what barriers of the grid in memory need
  bool finished_ = false;
};

}  // namespace emu::hip
