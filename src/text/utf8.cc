// SPDX-License-Identifier: Apache-2.0
#include "text/utf8.h"

namespace beeswax::text {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Whether more bytes could make `text`, which is shorter than its first byte says, a valid character.
bool may_become_valid(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (utf8_length(first) == 1 || text.size() >= utf8_length(first)) return false;
  for (size_t i = 1; i < text.size(); ++i)
    if (!continues(text[i])) return false;
  if (text.size() < 2) return true;
  const auto second = static_cast<unsigned char>(text[1]);
  if (first == 0xe0) return second >= 0xa0;  // overlong
  if (first == 0xed) return second < 0xa0;   // surrogates
  if (first == 0xf0) return second >= 0x90;  // overlong
  if (first == 0xf4) return second < 0x90;   // above U+10FFFF
  return true;
}

}  // namespace

uint32_t utf8_length(unsigned char first) {
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 1;
}

Utf8Char utf8_decode(std::string_view text) {
  constexpr Utf8Char kBad = {0xfffd, 1, false};
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true};
  const uint32_t length = utf8_length(first);
  if (length == 1 || text.size() < length) return kBad;
  uint32_t code = first & (0x7fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return kBad;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return kBad;
  return {code, length, true};
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = utf8_decode(text);
    out += c.valid ? text.substr(0, c.length) : kReplacement;
    text.remove_prefix(c.length);
  }
  return out;
}

void append_utf8(uint32_t code, std::string& out) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string out;
  size_t at = 0;
  while (at < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(at);
    const Utf8Char c = utf8_decode(rest);
    if (!c.valid && may_become_valid(rest)) break;
    out += c.valid ? rest.substr(0, c.length) : kReplacement;
    at += c.length;
  }
  pending_.erase(0, at);
  return out;
}

std::string Utf8Stream::finish() {
  std::string out(pending_.empty() ? std::string_view() : kReplacement);
  pending_.clear();
  return out;
}

}  // namespace beeswax::text
