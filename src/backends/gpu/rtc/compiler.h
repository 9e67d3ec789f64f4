// SPDX-License-Identifier: Apache-2.0
// Compilers of kernels that are found at run time: NVIDIA's and AMD's libraries, and an installed clang.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/rtc/sources.h"

namespace beeswax::gpu::rtc {

/// A source as a user gives it. It finds the library's headers and `headers`, and no others.
struct Program {
  std::string name;  ///< what messages call the source, in front of line numbers
  std::string text;
  std::vector<NamedText> headers;
  std::vector<std::string> defines;  ///< "TILE=16" or "FAST"
};

/// A target is a chip as drivers name it: "gfx1100", "sm_90".
inline bool is_amd(std::string_view target) { return target.starts_with("gfx"); }

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// For people: "NVRTC 13.0", "clang 19.1.7".
  virtual std::string title() const = 0;
  /// Everything about the compiler that decides what it makes: version, file, date.
  virtual std::string identity() const = 0;
  /// Why it cannot compile for a target; empty where it can.
  virtual std::string refusal(std::string_view target) const = 0;
  /// What it is told beside the program.
  virtual std::vector<std::string> flags(std::string_view target) const = 0;
  /// A code object for AMD, PTX that ends with a zero byte for NVIDIA. InvalidArgument with the compiler's
  /// log where the program is wrong; Unsupported where the compiler is, so that another one may do.
  virtual std::vector<std::byte> compile(const Program& program, std::string_view target) const = 0;
};

/// The vendor's library for a target (NVRTC or hiprtc), and clang++; each is looked for at the first call.
const Compiler& vendor_compiler(std::string_view target);
const Compiler& clang_compiler();

/// Throws what a compiler's log means.
[[noreturn]] void fail_to_compile(const Compiler& compiler, const Program& program, std::string_view target,
                                  const std::string& log);

}  // namespace beeswax::gpu::rtc
