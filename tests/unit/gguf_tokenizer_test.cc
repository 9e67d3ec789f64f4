// SPDX-License-Identifier: Apache-2.0
// WordPiece and tokenizer.json from the metadata of GGUF files: the ids of the Python package tokenizers
// (tests/text).
#include "models/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "io/gguf_writer.h"
#include "support/expect_error.h"

namespace beeswax::models {
namespace {

nlohmann::json read(const std::string& name) {
  std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/text/" + name);
  return nlohmann::json::parse(in);
}

/// The vocabulary as GGUF files hold it: U+2581 in front of words, nothing in front of what goes on.
std::vector<std::string> bert_pieces() {
  std::vector<std::string> pieces;
  const nlohmann::json vocab = read("json/bert.json")["model"]["vocab"];
  pieces.resize(vocab.size());
  for (const auto& [text, id] : vocab.items()) {
    const bool role = text.starts_with('[') && text.ends_with(']');
    pieces[id.get<size_t>()] = role ? text : text.starts_with("##") ? text.substr(2) : "\u2581" + text;
  }
  return pieces;
}

std::unique_ptr<text::Tokenizer> load(const io::GgufWriter& writer) {
  const std::vector<std::byte> bytes = writer.to_bytes();
  return load_tokenizer(*io::GgufFile::from_bytes(bytes, "bert.gguf"));
}

TEST(GgufWordPiece, IdsOfEveryText) {
  const nlohmann::json file = read("json_cases.json");
  const auto texts = file["texts"].get<std::vector<std::string>>();
  const nlohmann::json& want = file["cases"]["bert"];
  const std::vector<std::string> pieces = bert_pieces();
  std::vector<int32_t> kinds(pieces.size(), 1);
  for (size_t i = 0; i < 4; ++i) kinds[i] = 3;
  io::GgufWriter by_text, by_id;
  for (io::GgufWriter* writer : {&by_text, &by_id}) {
    writer->set_string("tokenizer.ggml.model", "bert");
    writer->set_strings("tokenizer.ggml.tokens", pieces);
    writer->set_i32s("tokenizer.ggml.token_type", kinds);
  }
  by_id.set_u32("tokenizer.ggml.bos_token_id", 1);
  by_id.set_u32("tokenizer.ggml.seperator_token_id", 2);
  by_id.set_u32("tokenizer.ggml.unknown_token_id", 0);
  for (const io::GgufWriter* writer : {&by_text, &by_id}) {
    const auto tokenizer = load(*writer);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(tokenizer->encode(texts[i], {.parse_special = true}),
                want["ids"][i].get<std::vector<int32_t>>())
          << "text " << i << ": " << texts[i];
      EXPECT_EQ(tokenizer->encode(texts[i], {.add_special = false}),
                want["plain"][i].get<std::vector<int32_t>>())
          << "plain text " << i;
    }
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("The Quick brown FOX")), "the quick brown fox");
  }
}

TEST(GgufWordPiece, NeedsAnUnknownToken) {
  io::GgufWriter writer;
  writer.set_string("tokenizer.ggml.model", "bert");
  writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"[CLS]", "[SEP]", "\u2581a"});
  EXPECT_ERROR(load(writer), InvalidArgument, "needs an unknown token");
}

// A whole tokenizer.json in the metadata, with roles of tokens beside it.
TEST(GgufTokenizerJson, IdsAndRoles) {
  const nlohmann::json file = read("json_cases.json");
  const auto writer = [&] {
    io::GgufWriter out;
    out.set_string("tokenizer.huggingface.json", read("json/qwen2.json").dump());
    out.set_u32("tokenizer.ggml.eos_token_id", 5);
    return out;
  };
  const auto tokenizer = load(writer());
  EXPECT_EQ(tokenizer->encode(file["texts"][0].get<std::string>(), {.parse_special = true}),
            file["cases"]["qwen2"]["ids"][0].get<std::vector<int32_t>>());
  EXPECT_EQ(tokenizer->vocabulary().special().eos, 5);
  EXPECT_EQ(tokenizer->vocabulary().special().stop.front(), 5);
  io::GgufWriter several = writer();
  several.set_i32s("tokenizer.huggingface.stop_token_ids", std::vector<int32_t>{5, 7});
  const auto stop = load(several)->vocabulary().special().stop;
  EXPECT_NE(std::ranges::find(stop, 7), stop.end());
  io::GgufWriter negative = writer();
  negative.set_i32s("tokenizer.huggingface.stop_token_ids", std::vector<int32_t>{5, -7});
  EXPECT_ERROR(load(negative), Format, "not ids of tokens");
  io::GgufWriter small = writer();
  const std::vector<float> rows(2);
  small.add_tensor("token_embd.weight", 0, {2, 1}, std::as_bytes(std::span(rows)));
  EXPECT_ERROR(load(small), Format, "but the model has 2");
  // Tokens of tokenizer.ggml.* need rows as well.
  io::GgufWriter ggml;
  ggml.set_string("tokenizer.ggml.model", "llama");
  ggml.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "b", "c"});
  ggml.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 1, 1});
  ggml.set_u32("tokenizer.ggml.unknown_token_id", 0);
  ggml.add_tensor("token_embd.weight", 0, {2, 1}, std::as_bytes(std::span(rows)));
  EXPECT_ERROR(load(ggml), Format, "the vocabulary has 3 tokens, but the model has 2");
  io::GgufWriter bad;
  bad.set_string("tokenizer.huggingface.json", "{");
  EXPECT_ERROR(load(bad), Format, "bert.gguf is not JSON");
}

}  // namespace
}  // namespace beeswax::models
