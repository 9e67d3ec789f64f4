// SPDX-License-Identifier: Apache-2.0
// Programs that were compiled at run time and loaded on a GPU.
#pragma once

#include <string>
#include <vector>

#include "backends/gpu/gpu.h"
#include "backends/gpu/handles.h"
#include "backends/gpu/rtc/code_info.h"
#include "backends/gpu/rtc/compile.h"

namespace beeswax::gpu::rtc {

struct LoadedProgram {
  explicit LoadedProgram(const Driver& driver) : module(driver) {}
  Module module;
  std::vector<KernelInfo> kernels;
  std::vector<Kernel> functions;  ///< one for each of them
  std::string compiler;           ///< its title
  bool kept = false;              ///< the code came from the disk
};

/// The program on a GPU: compiled and loaded at the first call, by one thread while others wait for it. It
/// stays loaded until the process ends. Throws what compiling and loading throw; a later call tries again.
const LoadedProgram& program_on(Gpu& gpu, const Program& program, KernelCompiler which);

}  // namespace beeswax::gpu::rtc
