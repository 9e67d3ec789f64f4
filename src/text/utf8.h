// SPDX-License-Identifier: Apache-2.0
// UTF-8: decoding of one character, and a stream that never hands out half of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "beeswax/export.h"

namespace beeswax::text {

inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

struct Utf8Char {
  uint32_t code;    ///< U+FFFD where the bytes are not UTF-8
  uint32_t length;  ///< bytes taken, at least 1
  bool valid;
};

/// The character at the beginning of `text`, which is not empty. Overlong forms, surrogates, codes above
/// U+10FFFF and cut sequences are not valid; then one byte is taken.
BW_API Utf8Char utf8_decode(std::string_view text);

/// Bytes the sequence that begins with this byte takes; 1 for a byte that begins none.
BW_API uint32_t utf8_length(unsigned char first);

/// The text with U+FFFD for every byte that is not part of a character, as all tokenizers of the field read
/// it.
BW_API std::string valid_utf8(std::string_view text);
BW_API void append_utf8(uint32_t code, std::string& out);

/// Takes bytes as they come and gives back whole characters.
class BW_API Utf8Stream {
 public:
  /// The text that is complete now. Bytes that can never become a character come out as U+FFFD.
  std::string push(std::string_view bytes);
  /// What is left at the end: nothing, or U+FFFD for a cut character.
  std::string finish();

 private:
  std::string pending_;
};

}  // namespace beeswax::text
