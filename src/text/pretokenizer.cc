// SPDX-License-Identifier: Apache-2.0
#include "text/pretokenizer.h"

#include "core/fail.h"
#include "text/utf8.h"

// The published patterns of GPT-2, Llama 3 and Qwen 2.
// clang-format off
#define BW_GPT2_PATTERN R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define BW_LLAMA3_PATTERN R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define BW_QWEN2_PATTERN R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
// clang-format on

namespace beeswax::text {
namespace {

// Text as characters, with the byte at which each begins (and one more for the end).
struct Characters {
  std::vector<uint32_t> codes;
  std::vector<size_t> starts;

  explicit Characters(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_decode(text.substr(at));
      codes.push_back(c.code);
      starts.push_back(at);
      at += c.length;
    }
    starts.push_back(text.size());
  }
};

void cut(const Pattern& pattern, std::string_view text, std::vector<std::string_view>& out) {
  const Characters characters(text);
  const size_t count = characters.codes.size();
  const auto piece = [&](size_t from, size_t to) {
    if (from < to)
      out.push_back(text.substr(characters.starts[from], characters.starts[to] - characters.starts[from]));
  };
  size_t done = 0;
  for (size_t at = 0; at < count;) {
    const auto end = pattern.match(characters.codes, at);
    if (!end || *end == at) {
      ++at;
      continue;
    }
    piece(done, at);
    piece(at, *end);
    done = at = *end;
  }
  piece(done, count);
}

}  // namespace

PreTokenizer::PreTokenizer(const std::vector<std::string_view>& patterns) {
  for (const std::string_view pattern : patterns) patterns_.emplace_back(pattern);
}

PreTokenizer PreTokenizer::named(std::string_view name) {
#define BW_PRETOKENIZER(row, ...) \
  if (name == row) return PreTokenizer({__VA_ARGS__});
#include "tables/pretokenizers.def"
  fail(ErrorKind::Unsupported, "tokenizer", "the pre-tokenizer '", name, "' is not known; known are:",
#define BW_PRETOKENIZER(row, ...) " " row
#include "tables/pretokenizers.def"
  );
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces = {text};
  for (const Pattern& pattern : patterns_) {
    std::vector<std::string_view> finer;
    for (const std::string_view piece : pieces) cut(pattern, piece, finer);
    pieces = std::move(finer);
  }
  return pieces;
}

}  // namespace beeswax::text
