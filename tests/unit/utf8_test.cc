// SPDX-License-Identifier: Apache-2.0
// UTF-8 decoding against the ranges of the Unicode standard (table 3-7), and the stream against whole
// decoding.
#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace beeswax::text {
namespace {

std::string encode(uint32_t code) {
  const auto byte = [](uint32_t x) { return static_cast<char>(static_cast<unsigned char>(x)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  if (code < 0x10000)
    return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)), byte(0x80 | (code >> 6 & 0x3f)),
          byte(0x80 | (code & 0x3f))};
}

TEST(Utf8, EveryCharacter) {
  for (uint32_t code = 0; code < 0x110000; ++code) {
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const std::string text = encode(code);
    const Utf8Char c = utf8_decode(text + "x");
    ASSERT_EQ(c.valid, !surrogate) << code;
    if (surrogate) continue;
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.length, text.size());
    ASSERT_EQ(utf8_length(static_cast<unsigned char>(text[0])), text.size());
    for (size_t cut = 1; cut < text.size(); ++cut)
      ASSERT_FALSE(utf8_decode(text.substr(0, cut)).valid) << code;
  }
}

TEST(Utf8, BadSequencesTakeOneByte) {
  for (const std::string text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x28\xa1"}) {
    const Utf8Char c = utf8_decode(text);
    EXPECT_FALSE(c.valid);
    EXPECT_EQ(c.length, 1u);
    EXPECT_EQ(c.code, 0xfffdu);
  }
}

// However the bytes are cut into pushes, the text is the same, and no push gives half a character.
TEST(Utf8, StreamGivesWholeCharacters) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  for (size_t size = 1; size <= 5; ++size) {
    Utf8Stream stream;
    std::string out;
    for (size_t at = 0; at < text.size(); at += size) {
      const std::string part = stream.push(text.substr(at, size));
      for (std::string_view rest = part; !rest.empty(); rest.remove_prefix(utf8_decode(rest).length))
        ASSERT_TRUE(utf8_decode(rest).valid);
      out += part;
    }
    EXPECT_EQ(out + stream.finish(), text) << size;
  }
}

TEST(Utf8, StreamReplacesWhatCannotBecomeText) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("\xe2\x82"), "");
  EXPECT_EQ(stream.push("a"),
            "\xef\xbf\xbd\xef\xbf\xbd"
            "a");
  EXPECT_EQ(stream.push("\xed"), "");
  EXPECT_EQ(stream.push("\xa0"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(stream.push("\xf0\x9f"), "");
  EXPECT_EQ(stream.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(stream.finish(), "");
}

}  // namespace
}  // namespace beeswax::text
