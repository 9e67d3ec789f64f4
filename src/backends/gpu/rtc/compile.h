// SPDX-License-Identifier: Apache-2.0
// From a program to code: which compiler, and what is kept between runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/rtc/compiler.h"
#include "backends/gpu/rtc/disk_cache.h"
#include "beeswax/kernel.h"

namespace beeswax::gpu::rtc {

struct CompiledCode {
  std::vector<std::byte> image;
  bool kept = false;  ///< it came from the disk
};

/// The compilers that can be used for a target, in the order to try them. Unsupported, saying what to
/// install, where there is none.
std::vector<const Compiler*> compilers_for(std::string_view target, KernelCompiler which);

/// Whether all that the program includes is known by its text: our headers, and those that came with it.
/// Where it is not, files may change that no key knows.
bool is_whole(const Program& program);
/// The code of a program, from the disk where it was made before; one that is not whole is compiled each
/// time. Throws what the compiler throws.
CompiledCode code_of(const Program& program, std::string_view target, const Compiler& compiler,
                     const DiskCache& cache);

/// Whether our kernels are written for a chip of AMD's, whoever compiles them.
bool written_for(std::string_view target);
/// The compiler that makes our own kernels for a chip that the library carries no code for; null where there
/// is none, where our kernels are not written for the chip, or where the library has no index of kernels.
const Compiler* compiler_of_ours(std::string_view target);
/// The code of one of our modules, by a name of the bundle's.
CompiledCode code_of_module(std::string_view module, std::string_view target);

/// What decides the code: the program, our headers, flags, target, compiler, and our version.
Sha256Digest key_of(const Program& program, std::string_view target, const Compiler& compiler);

}  // namespace beeswax::gpu::rtc
