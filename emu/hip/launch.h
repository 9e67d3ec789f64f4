// SPDX-License-Identifier: Apache-2.0
// Launching a kernel: arguments into a kernarg segment, hidden arguments by the metadata, checks, the run.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "emu/code_object.h"
#include "emu/hip/abi.h"
#include "emu/hip/stream.h"

namespace emu::hip {

/// Blocks of a grid along y and along z.
constexpr uint32_t kMostBlocksYZ = 65535;

/// A kernel as programs hold it. Lives as long as its module.
struct Function {
  std::shared_ptr<const Image> image;
  const Kernel* kernel;
  Device* device;
};

/// One launch, ready to run any number of times.
struct KernelCall {
  std::shared_ptr<const Image> image;
  const Kernel* kernel;
  Device* device;
  Dim3 grid, block;
  uint32_t dynamic_lds;
  bool cooperative = false;
  std::vector<std::byte> kernargs;
  const void* function;       // the handle it was launched by
  std::vector<void*> places;  // of the arguments in kernargs, in order
  void run() const;
  /// As hipModuleLaunchKernel takes them; they live as long as this.
  void** parameters() const { return const_cast<void**>(places.data()); }
};

/// Throws ApiError for sizes that cannot be launched. Exactly one of params and extra may be given; both null
/// for a kernel without arguments.
std::shared_ptr<const KernelCall> make_call(const Function& function, Dim3 grid, Dim3 block,
                                            uint32_t dynamic_lds, void** params, void** extra);

/// Launches on the stream, whose device must be the function's. cooperative: all groups must fit on the
/// device at once.
void launch(const Function& function, Dim3 grid, Dim3 block, size_t dynamic_lds, Stream& stream,
            void** params, void** extra, const void* handle, bool cooperative = false);

}  // namespace emu::hip
