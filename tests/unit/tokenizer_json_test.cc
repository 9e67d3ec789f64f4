// SPDX-License-Identifier: Apache-2.0
// `tokenizer.json` files against the Python package tokenizers (tests/text/json and json_cases.json, written
// by tools/make_tokenizer_json_cases.py), and what is refused.
#include "models/tokenizer_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "text/utf8.h"

namespace beeswax::models {
namespace {

using Ids = std::vector<int32_t>;

std::string folder() { return std::string(BW_SOURCE_DIR) + "/tests/text/"; }

nlohmann::json read(const std::string& name) {
  std::ifstream in(folder() + name);
  return nlohmann::json::parse(in);
}

TEST(TokenizerJson, IdsAndTextOfEveryCase) {
  const nlohmann::json file = read("json_cases.json");
  const auto texts = file["texts"].get<std::vector<std::string>>();
  ASSERT_GE(file["cases"].size(), 17u);
  const std::set<std::string> foreign = {"gpt4o", "digits", "unigram", "unigram_bytes"};  // their expressions
  for (const auto& [name, want] : file["cases"].items()) {
    if (!BW_HAS_PCRE2 && foreign.contains(name)) continue;
    const auto tokenizer = load_tokenizer_json(folder() + "json/" + name + ".json");
    for (size_t i = 0; i < texts.size(); ++i) {
      const Ids ids = tokenizer->encode(texts[i], {.parse_special = true});
      EXPECT_EQ(ids, want["ids"][i].get<Ids>()) << name << " text " << i << ": " << texts[i];
      EXPECT_EQ(tokenizer->encode(texts[i], {.add_special = false}), want["plain"][i].get<Ids>())
          << name << " plain text " << i << ": " << texts[i];
      if (want["decoded"][i].is_null()) continue;
      EXPECT_EQ(tokenizer->decode(ids), want["decoded"][i].get<std::string>()) << name << " text " << i;
    }
  }
}

// A whole file, with other members in place of its own.
std::string with(const nlohmann::json& changes) {
  nlohmann::json file = nlohmann::json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
    "pre_tokenizer": null, "post_processor": null, "decoder": null,
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
  file.merge_patch(changes);
  return file.dump();
}

std::unique_ptr<text::Tokenizer> parse(const char* changes) {
  return parse_tokenizer_json(with(nlohmann::json::parse(changes)), "t.json");
}

TEST(TokenizerJson, SmallestFile) {
  const auto tokenizer = parse("{}");
  EXPECT_EQ(tokenizer->encode("abba"), (Ids{2, 1, 0}));
  EXPECT_EQ(tokenizer->encode("axb"), (Ids{2}));  // what is no piece is left out where nothing is unknown
  EXPECT_EQ(tokenizer->decode({2, 1, 0}), "ab b a");
  EXPECT_EQ(tokenizer->vocabulary().special().bos, -1);
}

TEST(TokenizerJson, AnUnknownTokenThatIsNoneIsMissedByUnknownTextOnly) {
  const char* bpe = R"({"model": {"unk_token": "?"}})";
  const char* words = R"({"model": {"type": "WordLevel", "merges": null, "unk_token": "?"}})";
  EXPECT_EQ(parse(bpe)->encode("abba"), (Ids{2, 1, 0}));
  EXPECT_EQ(parse(words)->encode("ab"), (Ids{2}));
  for (const char* file : {bpe, words})
    EXPECT_ERROR(parse(file)->encode("x"), Unsupported,
                 "'x' is no piece of the vocabulary, and neither is its unknown token '?'");
}

TEST(TokenizerJson, OneTextIsNeitherCutNorFilled) {
  const auto tokenizer =
      parse(R"({"truncation": {"max_length": 1, "strategy": "LongestFirst"}, "padding": {"pad_id": 0}})");
  EXPECT_EQ(tokenizer->encode("abba"), (Ids{2, 1, 0}));
}

// Expressions that match nothing cut there, and put something there.
TEST(TokenizerJson, EmptyMatches) {
  if (!BW_HAS_PCRE2) GTEST_SKIP() << "built without PCRE2";
  const auto words = [](const std::string& steps, std::string_view text) {
    const std::string file =
        R"({"normalizer": {"type": "Replace", "pattern": {"Regex": "^|$"}, "content": "_"},
      "pre_tokenizer": {"type": "Sequence", "pretokenizers": [)" +
        steps + R"(]},
      "model": {"type": "WordLevel", "vocab": {"_1": 3, "234": 4, "567": 5, "_hello": 6, "World": 7, "_": 8,
                "\u2581_hello": 9, "\u2581World": 10, "\u2581_": 11, "[U]": 12}, "unk_token": "[U]", "merges": null}})";
    return parse(file.c_str())->encode(text);
  };
  const auto split = [](const std::string& regex) {
    return R"({"type": "Split", "pattern": {"Regex": ")" + regex +
           R"("}, "behavior": "Isolated", "invert": false})";
  };
  EXPECT_EQ(words(split("(?=(\\\\d{3})+(?!\\\\d))") + "," + split("(?=_$)"), "1234567"), (Ids{3, 4, 5, 8}));
  EXPECT_EQ(words(split("(?=[A-Z])|(?=_$)"), "helloWorld"), (Ids{6, 7, 8}));
  // What is empty is no word that a later step puts something into.
  const std::string metaspace =
      R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": false})";
  EXPECT_EQ(words(split("(?=[A-Z])|(?=_$)") + "," + metaspace, "helloWorld"), (Ids{9, 10, 11}));
}

TEST(TokenizerJson, InvalidBytesCountAsReplacements) {
  const auto tokenizer = load_tokenizer_json(folder() + "json/llama3.json");
  const std::string bad = "a\xff\xc3(b\xe2\x82";
  EXPECT_EQ(tokenizer->encode(bad), tokenizer->encode("a\ufffd\ufffd(b\ufffd\ufffd"));
}

// Token by token, text comes in whole characters, and is the decoded text.
TEST(TokenizerJson, StreamsGiveWholeCharacters) {
  for (const char* name : {"llama3", "llama2", "mistral", "gemma", "bert"}) {
    const auto tokenizer = load_tokenizer_json(folder() + "json/" + name + ".json");
    const Ids ids = tokenizer->encode("na\u00efve \U0001f600\U0001f468\u200d\U0001f469 \u65e5\u672c");
    text::StreamDecoder decoder(*tokenizer);
    std::string out;
    for (const int32_t id : ids) {
      const std::string part = decoder.push(id);
      EXPECT_EQ(text::valid_utf8(part), part) << name;
      EXPECT_EQ(part.find("\ufffd"), std::string::npos) << name;
      out += part;
    }
    EXPECT_EQ(out + decoder.finish(), tokenizer->decode(ids)) << name;
  }
}

TEST(TokenizerJson, RolesFromElsewhere) {
  const nlohmann::json changes = {{"added_tokens",
                                   {{{"id", 3}, {"content", "<|im_end|>"}, {"special", true}},
                                    {{"id", 4}, {"content", "</s>"}, {"special", true}}}}};
  const auto tokenizer = parse_tokenizer_json(with(changes), "t.json", {.bos = 0, .eos = 4, .stop = {1}});
  const text::SpecialTokens& special = tokenizer->vocabulary().special();
  EXPECT_EQ(special.bos, 0);
  EXPECT_FALSE(special.add_bos);
  EXPECT_EQ(special.stop, (Ids{1, 4, 3}));
  EXPECT_EQ(tokenizer->encode("ab</s>", {.parse_special = true}), (Ids{2, 4}));
}

struct Refused {
  const char* changes;
  ErrorKind kind;
  const char* message;
};

TEST(TokenizerJson, WhatIsNotDoneIsRefusedByName) {
  const Refused all[] = {
      {R"({"news": 1})", ErrorKind::Unsupported, "the file has a member 'news'"},
      {R"({"version": "2.0"})", ErrorKind::Unsupported, "version '2.0'"},
      {R"({"normalizer": {"type": "Precompiled"}})", ErrorKind::Format, "'precompiled_charsmap'"},
      {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA*"}})", ErrorKind::Format,
       "not base64"},
      {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "CAAAAAAA"}})", ErrorKind::Format,
       "claims a trie of 8 bytes in 6"},
      {R"({"normalizer": {"type": "Nfkc"}})", ErrorKind::Unsupported,
       "the file, 'normalizer' is of type 'Nfkc'"},
      {R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Nmt"}]}})",
       ErrorKind::Unsupported, "the file, 'normalizer', 'normalizers' 1 is of type 'Nmt'"},
      {R"({"normalizer": {"type": "NFC", "how": 1}})", ErrorKind::Unsupported, "a member 'how'"},
      {R"({"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "a"}})", ErrorKind::Format,
       "an empty text is everywhere"},
      {R"({"pre_tokenizer": {"type": "UnicodeScripts"}})", ErrorKind::Unsupported, "'UnicodeScripts'"},
      {R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated",
          "invert": false}})",
       BW_HAS_PCRE2 ? ErrorKind::Format : ErrorKind::Unsupported,
       BW_HAS_PCRE2 ? "missing closing parenthesis at byte 2 of (a" : "(a"},
      {R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[a&&b]"}, "behavior": "Isolated",
          "invert": false}})",
       ErrorKind::Unsupported, "a class inside a class at byte 2"},
      {R"({"pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}, "behavior": "Often",
          "invert": false}})",
       ErrorKind::Unsupported, "the unknown behavior 'Often'"},
      {R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "ab"}})", ErrorKind::Format,
       "not one character"},
      {R"({"decoder": {"type": "CTC"}})", ErrorKind::Unsupported, "'CTC'"},
      {R"({"decoder": {"type": "Strip", "content": " ", "start": 1, "stop": 0}})", ErrorKind::Unsupported,
       "takes 1 of ' ' from the start"},
      {R"({"decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]}})",
       ErrorKind::Unsupported, "stands behind Fuse"},
      {R"({"post_processor": {"type": "Other"}})", ErrorKind::Unsupported, "'Other'"},
      {R"({"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "a"}},
          {"SpecialToken": {"id": "a"}}, {"Sequence": {"id": "A"}}],
          "special_tokens": {"a": {"id": "a", "ids": [0], "tokens": ["a"]}}}})",
       ErrorKind::Unsupported, "more than one token in front of"},
      {R"({"post_processor": {"type": "TemplateProcessing", "single": [], "special_tokens": {}}})",
       ErrorKind::Format, "does not say where the text goes"},
      {R"({"post_processor": {"type": "BertProcessing", "sep": ["a", 0], "cls": ["b", 9]}})",
       ErrorKind::Format, "the bos token is 9, but there are 3 tokens"},
      {R"({"model": {"type": "Other"}})", ErrorKind::Unsupported, "'Other'"},
      {R"({"model": {"dropout": 0.1}})", ErrorKind::Unsupported, "dropout 0.1"},
      {R"({"model": {"end_of_word_suffix": "</w>"}})", ErrorKind::Unsupported, "end_of_word_suffix"},
      {R"({"model": {"type": "WordPiece", "merges": null, "unk_token": "?"}})", ErrorKind::Format,
       "needs an unknown token"},
      {R"({"model": {"merges": ["a c"]}})", ErrorKind::Format, "'ac' is no piece"},
      {R"({"model": {"merges": ["a"]}})", ErrorKind::Format, "the merge \"a\", not two pieces"},
      {R"({"model": {"merges": ["a b c"]}})", ErrorKind::Format, "not two pieces"},
      {R"({"model": {"vocab": {"b": 0}}})", ErrorKind::Format, "have the same id 0"},
      {R"({"model": {"vocab": {"b": -1}}})", ErrorKind::Format, "'b' has the id -1"},
      {R"({"model": {"vocab": {"b": 2000000000}}})", ErrorKind::Format, "a whole number below 1030"},
      {R"({"model": {"vocab": [["a", 1]]}})", ErrorKind::Format, "has the vocabulary"},
      {R"({"model": {"type": "Unigram"}})", ErrorKind::Format, "has the vocabulary"},
      {R"({"model": {"type": "Unigram", "vocab": [["a", 1]], "unk_id": 1}})", ErrorKind::Format,
       "for 'unk_id', not a whole number from 0 to 0"},
      {R"({"model": {"type": "WordPiece", "merges": null}})", ErrorKind::Format, "needs an unknown token"},
      {R"({"added_tokens": [{"id": 0, "content": "z", "special": true}]})", ErrorKind::Format,
       "has the id of the token 'a'"},
      {R"({"added_tokens": [{"id": 9999, "content": "z", "special": true}]})", ErrorKind::Format,
       "a whole number below 1032"},
      {R"({"added_tokens": 5})", ErrorKind::Format, "not a list"},
  };
  for (const Refused& one : all) {
    try {
      static_cast<void>(parse(one.changes));
      ADD_FAILURE() << one.changes << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), one.kind) << one.changes << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(one.message), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("t.json"), std::string::npos) << error.what();
    }
  }
  EXPECT_ERROR(parse_tokenizer_json("{", "t.json"), Format, "t.json is not JSON");
  EXPECT_ERROR(load_tokenizer_json("/nonexistent/tokenizer.json"), Io, "/nonexistent/tokenizer.json");
}

// An added token with a text that the model has under another id would never be found.
TEST(TokenizerJson, TextsAreTokensOnce) {
  EXPECT_ERROR(parse(R"({"added_tokens": [{"id": 3, "content": "a", "special": true}]})"), Format,
               "has the text of token 0");
}

}  // namespace
}  // namespace beeswax::models
