// SPDX-License-Identifier: Apache-2.0
// Text from files as a terminal may have it: names of tensors can hold what moves a cursor or hides a line.
#pragma once

#include <string>
#include <string_view>

namespace beeswax {

/// Control characters become '?', line ends too unless `lines`.
inline std::string shown(std::string_view text, bool lines = false) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 && byte < 0xa0 && out.ends_with('\xc2')) {  // U+0080 to U+009F are controls too
      out.back() = '?';
    } else {
      out += (byte < 0x20 || byte == 0x7f) && !(lines && c == '\n') ? '?' : c;
    }
  }
  return out;
}

}  // namespace beeswax
