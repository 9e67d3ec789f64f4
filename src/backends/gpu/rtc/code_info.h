// SPDX-License-Identifier: Apache-2.0
// What compiled code says of its kernels: the metadata of AMD's code objects (LLVM's "User Guide for AMDGPU
// Backend"), the entries of PTX (NVIDIA's "PTX ISA").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beeswax::gpu::rtc {

struct Parameter {
  enum class Kind : uint8_t { Unknown, Value, Pointer };
  uint32_t bytes = 0;
  Kind kind = Kind::Unknown;  ///< PTX does not tell
};

struct KernelInfo {
  std::string symbol;  ///< as the compiler mangled it
  std::string name;    ///< as the source has it: "blur" or "image::blur<float>"
  std::vector<Parameter> parameters;
  uint32_t most_threads = 1024;  ///< of a block
  uint32_t shared_bytes = 0;     ///< that the code declares; PTX does not tell, the driver does
};

/// The kernels of a code object or of PTX, in its order. Throws Format for bytes that are neither.
std::vector<KernelInfo> kernels_of(std::span<const std::byte> code);

/// The kernel that `name` names: a symbol, a source's name, or the end of one after "::". InvalidArgument,
/// naming what is there, unless exactly one is meant.
const KernelInfo& find_kernel(std::span<const KernelInfo> kernels, std::string_view name);

}  // namespace beeswax::gpu::rtc
