// SPDX-License-Identifier: Apache-2.0
// Tokenizers against the Python packages tokenizers and sentencepiece (tests/text/*.json, written by
// tools/make_tokenizer_cases.py): the words of every pre-tokenizer, the ids of byte-level BPE and
// SentencePiece.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "text/bpe.h"
#include "text/pretokenizer.h"
#include "text/spm.h"

namespace beeswax::text {
namespace {

nlohmann::json read(const std::string& name) {
  std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/text/" + name);
  return nlohmann::json::parse(in);
}

TEST(PreTokenizers, WordsOfEveryRow) {
  const nlohmann::json file = read("words.json");
  const auto texts = file["texts"].get<std::vector<std::string>>();
  ASSERT_GE(file["words"].size(), 7u);
  for (const auto& [name, words] : file["words"].items()) {
    const PreTokenizer pre = PreTokenizer::named(name);
    for (size_t i = 0; i < texts.size(); ++i) {
      std::vector<std::string> got;
      for (const std::string_view word : pre.split(texts[i])) got.emplace_back(word);
      if (texts[i].empty()) got.clear();
      EXPECT_EQ(got, words[i].get<std::vector<std::string>>()) << name << " text " << i << ": " << texts[i];
    }
  }
}

TEST(PreTokenizers, UnknownNamesListTheKnownOnes) {
  EXPECT_ERROR(PreTokenizer::named("nonesuch"), Unsupported, "'nonesuch' is not known; known are: gpt-2");
}

TEST(Bpe, IdsOfEveryCase) {
  const nlohmann::json file = read("bpe.json");
  const auto texts = file["texts"].get<std::vector<std::string>>();
  EXPECT_GE(file["cases"].size(), 10u);
  for (const auto& one : file["cases"]) {
    std::vector<Piece> pieces;
    for (const auto& text : one["pieces"]) pieces.push_back({text.get<std::string>(), 0, PieceKind::Normal});
    pieces[0].kind = PieceKind::Control;
    const auto merges = one["merges"].get<std::vector<std::string>>();
    const std::string pre = one["pre"];
    const BpeTokenizer tokenizer(Vocabulary(std::move(pieces), {}), {merges.begin(), merges.end()},
                                 PreTokenizer::named(pre), one["whole_words"].get<bool>());
    ASSERT_GE(one["ids"].size(), 80u);
    for (size_t i = 0; i < one["ids"].size(); ++i) {
      const std::vector<int32_t> ids = tokenizer.encode(texts[i]);
      EXPECT_EQ(ids, one["ids"][i].get<std::vector<int32_t>>()) << pre << " text " << i << ": " << texts[i];
      EXPECT_EQ(tokenizer.decode(ids), texts[i]);
    }
    EXPECT_EQ(tokenizer.encode("a<|end|>b", {.parse_special = true})[1], 0);
    EXPECT_NE(tokenizer.encode("a<|end|>b")[1], 0);
  }
}

TEST(Spm, IdsOfEveryText) {
  const nlohmann::json file = read("spm.json");
  const auto texts = file["texts"].get<std::vector<std::string>>();
  std::vector<Piece> pieces;
  for (size_t i = 0; i < file["pieces"].size(); ++i)
    pieces.push_back(
        {file["pieces"][i], file["scores"][i], static_cast<PieceKind>(file["kinds"][i].get<int>())});
  SpecialTokens special;
  special.unknown = 0;
  const SpmTokenizer tokenizer(Vocabulary(std::move(pieces), special));
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<int32_t> ids = tokenizer.encode(texts[i]);
    EXPECT_EQ(ids, file["ids"][i].get<std::vector<int32_t>>()) << "text " << i << ": " << texts[i];
    const std::string decoded = tokenizer.decode(ids);
    EXPECT_EQ(decoded, file["decoded"][i].get<std::string>()) << "text " << i;
    // A continuation is what follows, spaces included, wherever no character is cut.
    for (size_t cut = 1;
         cut < std::min<size_t>(ids.size(), 300) && decoded.find("\ufffd") == std::string::npos; ++cut) {
      const std::vector<int32_t> before(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(cut));
      StreamDecoder rest(tokenizer, before);
      std::string text = tokenizer.decode(before);
      if (text.find("\ufffd") != std::string::npos) continue;
      for (size_t k = cut; k < ids.size(); ++k) text += rest.push(ids[k]);
      EXPECT_EQ(text + rest.finish(), decoded) << "text " << i << " cut at " << cut;
    }
  }
  // Bytes that are not UTF-8 become the ids that SentencePiece gives them.
  ASSERT_GE(file["bytes"].size(), 14u);
  for (size_t i = 0; i < file["bytes"].size(); ++i) {
    const std::string hex = file["bytes"][i];
    std::string raw;
    for (size_t at = 0; at < hex.size(); at += 2)
      raw += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    EXPECT_EQ(tokenizer.encode(raw), file["ids_of_bytes"][i].get<std::vector<int32_t>>()) << hex;
  }
}

TEST(ByteTable, EveryByteThereAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string printable = bytes_to_printable(all);
  EXPECT_EQ(printable_to_bytes(printable), all);
  EXPECT_EQ(bytes_to_printable(" \n"), "\xc4\xa0\xc4\x8a");  // GPT-2 writes them U+0120 and U+010A
}

TEST(Pattern, WhatIsNotUnderstoodIsRefused) {
  EXPECT_ERROR(Pattern("(?<name>a)"), Unsupported, "the group (?");
  EXPECT_ERROR(Pattern("\\bword"), Unsupported, "the escape \\b");
  EXPECT_ERROR(Pattern("\\p{Greek}"), Unsupported, "\\p{Greek}");
  EXPECT_ERROR(Pattern("(a"), InvalidArgument, "a group without )");
  EXPECT_ERROR(Pattern("a)"), InvalidArgument, "an unmatched )");
  EXPECT_ERROR(Pattern("[a"), InvalidArgument, "a [ without ]");
  EXPECT_ERROR(Pattern("*a"), InvalidArgument, "a repetition of nothing");
  EXPECT_ERROR(Pattern("a{3,2}"), InvalidArgument, "counts nothing");
}

TEST(Pattern, QuantifiersGroupsAndLookahead) {
  const auto match = [](std::string_view expression, std::string_view text) -> int {
    const std::vector<uint32_t> codes(text.begin(), text.end());
    const auto end = Pattern(expression).match(codes, 0);
    return end ? static_cast<int>(*end) : -1;
  };
  EXPECT_EQ(match("a|ab", "ab"), 1);  // the first alternative wins
  EXPECT_EQ(match("(?:ab)+", "ababa"), 4);
  EXPECT_EQ(match("(?:ab){1,2}", "ababab"), 4);
  EXPECT_EQ(match("(a*)*b", "aaab"), 4);
  EXPECT_EQ(match("(a*)*b", "aaac"), -1);
  EXPECT_EQ(match("a+?b", "aab"), 3);
  EXPECT_EQ(match("a*?", "aa"), 0);
  EXPECT_EQ(match("a++a", "aaa"), -1);
  EXPECT_EQ(match("a?+ab", "ab"), -1);
  EXPECT_EQ(match("\\s+(?!\\S)", "   x"), 2);
  EXPECT_EQ(match("a(?=b)", "ab"), 1);
  EXPECT_EQ(match("(?i:it's)", "IT'S"), 4);
  EXPECT_EQ(match("^a$", "a"), 1);
  EXPECT_EQ(match("[^a-c]x", "dx"), 2);
  EXPECT_EQ(match("[]a]+", "]a"), 2);
  EXPECT_EQ(match("\\d{2,}", "1234x"), 4);
}

}  // namespace
}  // namespace beeswax::text
