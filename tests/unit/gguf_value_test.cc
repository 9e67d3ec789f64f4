// SPDX-License-Identifier: Apache-2.0
// Metadata values as people read them.
#include "io/gguf_value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beeswax::io {
namespace {

template <class T>
std::string shown(GgufType type, const std::vector<T>& numbers) {
  GgufArray array;
  array.type = type;
  array.count = numbers.size();
  array.bytes = std::as_bytes(std::span(numbers));
  return GgufValue(GgufType::Array, array).to_string();
}

TEST(GgufValue, ArraysShowTheirNumbers) {
  EXPECT_EQ(shown<uint32_t>(GgufType::U32, {1234567, 128009}), "[1234567, 128009] (2 u32)");
  EXPECT_EQ(shown<int64_t>(GgufType::I64, {9007199254740993}), "[9007199254740993] (1 i64)");
  EXPECT_EQ(shown<uint64_t>(GgufType::U64, {UINT64_MAX}), "[18446744073709551615] (1 u64)");
  EXPECT_EQ(shown<uint8_t>(GgufType::Bool, {1, 0}), "[true, false] (2 bool)");
  EXPECT_EQ(shown<float>(GgufType::F32, {0.5f}), "[0.5] (1 f32)");
}

TEST(GgufValue, LongTextsAreCutBetweenCharacters) {
  std::string text(58, 'x');
  const std::string first = text;
  for (int i = 0; i < 3; ++i) text += "\u20ac";
  EXPECT_EQ(GgufValue(GgufType::String, std::string_view(text)).to_string(),
            "\"" + first + "...\" (67 bytes)");
  EXPECT_EQ(GgufValue(GgufType::String, std::string_view(first)).to_string(), "\"" + first + "\"");
}

}  // namespace
}  // namespace beeswax::io
