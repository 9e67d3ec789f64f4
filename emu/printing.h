// SPDX-License-Identifier: Apache-2.0
// printf of kernels, on the host: a format string and arguments as they arrive from a kernel become text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emu {

/// The text of one printf. data: the arguments one behind the other, 8 bytes each (a 32-bit integer in the
/// lower half, floats as doubles), strings in place with their zero, padded to a multiple of 8. A conversion
/// without an argument ends the text. %n stores nothing; wide characters are printed as plain ones.
std::string print_text(std::string_view format, std::span<const std::byte> data);

struct Printed {
  bool to_stderr;
  std::string text;
};
/// The texts that a kernel left in a buffer (`-mprintf-kind=buffered`), in their order. formats: the module's
/// format strings by their hash. Ends where the entries make no sense.
std::vector<Printed> buffered_texts(std::span<const std::byte> entries,
                                    const std::map<uint64_t, std::string>& formats);

/// Writes the text whole, to standard output or standard error.
void print(const Printed& printed);

}  // namespace emu
