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
  EXPECT_ERROR(load(writer), Format, "needs an unknown token");
}

TEST(GgufWordPiece, KindsAreWholeNumbersUpToSix) {
  for (const float kind : {-1.0f, 0.5f, 1.5f, 6.5f, 7.0f, -1e30f, NAN, INFINITY}) {
    io::GgufWriter writer;
    writer.set_string("tokenizer.ggml.model", "bert");
    writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"[UNK]", "\u2581a"});
    writer.set_f32s("tokenizer.ggml.token_type", std::vector<float>{1, kind});
    EXPECT_ERROR(load(writer), Format, "token 1 is of the unknown type");
  }
}

TEST(GgufSentencePiece, PiecesOfNoKindAreOrdinary) {
  io::GgufWriter writer;
  writer.set_string("tokenizer.ggml.model", "llama");
  writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "a", "\u2581"});
  writer.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 0, 1});
  const auto tokenizer = load(writer);
  EXPECT_EQ(tokenizer->vocabulary().piece(1).kind, text::PieceKind::Normal);
  EXPECT_EQ(tokenizer->encode("a"), (std::vector<int32_t>{2, 1}));
}

/// A small SentencePiece vocabulary: 256 bytes from id 3 on, then what `kWords` lists.
struct Word {
  const char* text;
  float score;
  int32_t kind;
};
constexpr Word kWords[] = {{"\u2581", -9, 1}, {"a", -8, 1},     {"b", -7, 1},       {"\u2581a", -2, 1},
                           {"ab", -1, 1},     {"<tool>", 0, 4}, {"<|stop|>", 0, 3}, {"<|message|>", 0, 1}};
enum : int32_t {
  kUnknown,
  kBegin,
  kEnd,
  kBytes,
  kSpace = kBytes + 256,
  kA,
  kB,
  kSpaceA,
  kAb,
  kTool,
  kStop,
  kMessage
};

io::GgufWriter without_roles(std::optional<Word> more = {}) {
  std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
  std::vector<float> scores(kSpace);
  std::vector<int32_t> kinds = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kHex[] = "0123456789ABCDEF";
    texts.push_back(std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">");
    kinds.push_back(6);
  }
  const auto add = [&](const Word& word) {
    texts.emplace_back(word.text);
    scores.push_back(word.score);
    kinds.push_back(word.kind);
  };
  std::ranges::for_each(kWords, add);
  if (more) add(*more);
  io::GgufWriter out;
  out.set_string("tokenizer.ggml.model", "llama");
  out.set_strings("tokenizer.ggml.tokens", texts);
  out.set_f32s("tokenizer.ggml.scores", scores);
  out.set_i32s("tokenizer.ggml.token_type", kinds);
  return out;
}

io::GgufWriter small_vocabulary(std::optional<Word> more = {}) {
  io::GgufWriter out = without_roles(more);
  out.set_u32("tokenizer.ggml.unknown_token_id", kUnknown);
  out.set_u32("tokenizer.ggml.bos_token_id", kBegin);
  out.set_u32("tokenizer.ggml.eos_token_id", kEnd);
  return out;
}

using Ids = std::vector<int32_t>;

TEST(GgufSentencePiece, TextBeginsWithASpaceUnlessTheFileSaysOtherwise) {
  const auto with = load(small_vocabulary());
  EXPECT_EQ(with->encode("ab"), (Ids{kBegin, kSpace, kAb}));
  EXPECT_EQ(with->encode("a"), (Ids{kBegin, kSpaceA}));
  EXPECT_EQ(with->decode({kBegin, kSpace, kAb}), "ab");
  io::GgufWriter writer = small_vocabulary();
  writer.set_bool("tokenizer.ggml.add_space_prefix", false);
  writer.set_bool("tokenizer.ggml.add_bos_token", false);
  writer.set_bool("tokenizer.ggml.add_eos_token", true);
  const auto without = load(writer);
  EXPECT_EQ(without->encode("ab"), (Ids{kAb, kEnd}));
  EXPECT_EQ(without->encode("a a"), (Ids{kA, kSpaceA, kEnd}));
  EXPECT_EQ(without->encode(" a", {.add_special = false}), (Ids{kSpaceA}));
  EXPECT_EQ(without->decode({kSpaceA, kB}), " ab");
}

// Ids that older files leave out: as llama.cpp has them.
TEST(GgufSentencePiece, RolesWithoutAnIdAreTheUsualTokens) {
  io::GgufWriter writer = without_roles();
  writer.set_bool("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = load(writer);
  EXPECT_EQ(tokenizer->encode("a"), (Ids{kBegin, kSpaceA, kEnd}));
  EXPECT_EQ(tokenizer->vocabulary().special().unknown, kUnknown);
  EXPECT_EQ(tokenizer->vocabulary().special().stop, (Ids{kEnd}));
  writer.set_u32("tokenizer.ggml.eos_token_id", kStop);
  EXPECT_EQ(load(writer)->encode("a"), (Ids{kBegin, kSpaceA, kStop}));
}

TEST(GgufSentencePiece, ATokenThatTextsGetHasAnId) {
  io::GgufWriter writer;
  writer.set_string("tokenizer.ggml.model", "llama");
  writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "a", "\u2581"});
  writer.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 1, 1});
  EXPECT_EQ(load(writer)->encode("a"), (Ids{2, 1}));  // token 1 is no control token
  for (const std::string role : {"bos", "eos"}) {
    io::GgufWriter adds = writer;
    adds.set_bool("tokenizer.ggml.add_" + role + "_token", true);
    EXPECT_ERROR(load(adds), Format,
                 "'tokenizer.ggml.add_" + role + "_token' is true, but there is no 'tokenizer.ggml." + role +
                     "_token_id'");
    adds.set_u32("tokenizer.ggml." + role + "_token_id", UINT32_MAX);
    EXPECT_ERROR(load(adds), Format, "_token' is true, but there is no");
    io::GgufWriter adds_none = writer;
    adds_none.set_bool("tokenizer.ggml.add_" + role + "_token", false);
    EXPECT_EQ(load(adds_none)->encode("a"), (Ids{2, 1}));
  }
}

TEST(GgufSentencePiece, UserDefinedPiecesCutTextAndControlTokensOnlyWhereAsked) {
  io::GgufWriter writer = small_vocabulary();
  writer.set_bool("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = load(writer);
  EXPECT_EQ(tokenizer->encode("a<tool>b"), (Ids{kBegin, kA, kTool, kB}));
  EXPECT_EQ(tokenizer->encode("a<|stop|>b", {.parse_special = true}), (Ids{kBegin, kA, kStop, kB}));
  const Ids plain = tokenizer->encode("a<|stop|>b");
  EXPECT_EQ(std::ranges::find(plain, kStop), plain.end());
  EXPECT_EQ(plain.size(), 1 + std::string("a<|stop|>b").size());  // byte by byte, but for a and b
  EXPECT_EQ(tokenizer->decode(plain), "a<|stop|>b");
  EXPECT_EQ(tokenizer->decode({kA, kTool, kStop, kB}), "a<tool>b") << "control tokens have no text";
}

// Phi 3's tokenizer.json has "rstrip" for all of them but <unk>, <s> and <|endoftext|>.
TEST(GgufSentencePiece, ControlTokensOfPhi3TakeTheSpacesBehindThem) {
  constexpr int32_t kEndOfText = kMessage + 1;
  const auto encode = [](const char* architecture, const std::string& text) {
    io::GgufWriter writer = small_vocabulary(Word{"<|endoftext|>", 0, 3});
    writer.set_string("general.architecture", architecture);
    writer.set_bool("tokenizer.ggml.add_space_prefix", false);
    return load(writer)->encode(text, {.add_special = false, .parse_special = true});
  };
  struct Token {
    const char* text;
    int32_t id;
  };
  for (const auto& [text, id] : {Token{"<|stop|>", kStop}, Token{"</s>", kEnd}}) {
    EXPECT_EQ(encode("phi3", std::string(text) + " \n a"), (Ids{id, kA})) << text;
    EXPECT_EQ(encode("llama", std::string(text) + " a"), (Ids{id, kSpaceA})) << text;
  }
  for (const auto& [text, id] :
       {Token{"<|endoftext|>", kEndOfText}, Token{"<s>", kBegin}, Token{"<tool>", kTool}})
    EXPECT_EQ(encode("phi3", std::string(text) + " a"), (Ids{id, kSpaceA})) << text;
}

// As in Gemma's vocabularies.
TEST(GgufSentencePiece, UserDefinedPiecesMayBeSpaces) {
  constexpr int32_t kSpaces = kMessage + 1;
  io::GgufWriter writer = small_vocabulary(Word{"\u2581\u2581", 0, 4});
  writer.set_bool("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(load(writer)->encode("a  ab   a"), (Ids{kBegin, kA, kSpaces, kAb, kSpaces, kSpaceA}));
  EXPECT_EQ(load(writer)->decode({kA, kSpaces, kB}), "a  b");
  EXPECT_EQ(load(small_vocabulary(Word{"\u2581\u2581", 0, 4}))->encode(" a"), (Ids{kBegin, kSpaces, kA}));
}

TEST(GgufSentencePiece, UnknownCharactersInOnePlaceAreOneToken) {
  io::GgufWriter writer;
  writer.set_string("tokenizer.ggml.model", "llama");
  writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "a", "\u2581"});
  writer.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 1, 1});
  writer.set_u32("tokenizer.ggml.unknown_token_id", 0);
  EXPECT_EQ(load(writer)->encode("xy\u4e2da z zx"), (Ids{2, 0, 1, 2, 0, 2, 0}));
}

TEST(GgufSentencePiece, EndsOfTurnsAndMessagesEndAGeneration) {
  const auto stops = [](const io::GgufWriter& writer) { return load(writer)->vocabulary().special().stop; };
  EXPECT_EQ(stops(small_vocabulary()), (Ids{kEnd}));
  io::GgufWriter writer = small_vocabulary();
  writer.set_u32("tokenizer.ggml.eot_token_id", kStop);
  writer.set_u32("tokenizer.ggml.eom_token_id", kMessage);
  EXPECT_EQ(stops(writer), (Ids{kEnd, kStop, kMessage}));
  io::GgufWriter twice = small_vocabulary();
  twice.set_u32("tokenizer.ggml.eot_token_id", kEnd);
  EXPECT_EQ(stops(twice), (Ids{kEnd}));
  io::GgufWriter json;
  json.set_string("tokenizer.huggingface.json", read("json/qwen2.json").dump());
  json.set_u32("tokenizer.ggml.eos_token_id", 5);
  json.set_u32("tokenizer.ggml.eot_token_id", 9);
  const Ids of_json = stops(json);
  EXPECT_NE(std::ranges::find(of_json, 9), of_json.end());
}

// Files name one eos, and models end with others: <|end_of_text|> where it is <|eot_id|>, and the reverse.
TEST(GgufSentencePiece, TextsOfTheFieldEndAGeneration) {
  constexpr int32_t kControl = 3, kUserDefined = 4, kNormal = 1;
  const auto stops = [](const char* text, int32_t kind) {
    io::GgufWriter writer = small_vocabulary(Word{text, 0, kind});
    return load(writer)->vocabulary().special().stop;
  };
  for (const char* text :
       {"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|end|>", "<end_of_turn>",
        "<|endoftext|>", "<EOT>", "_<EOT>", "<\uff5cend\u2581of\u2581sentence\uff5c>"}) {
    EXPECT_EQ(stops(text, kControl), (Ids{kEnd, kMessage + 1})) << text;
    EXPECT_EQ(stops(text, kUserDefined), (Ids{kEnd, kMessage + 1})) << text;
    EXPECT_EQ(stops(text, kNormal), (Ids{kEnd})) << text;
  }
  EXPECT_EQ(stops("<|start|>", kControl), (Ids{kEnd}));
}

// Beside a list of ids the roles count too, and each id once.
TEST(GgufTokenizerJson, EndsByListAndByRole) {
  io::GgufWriter writer;
  writer.set_string("tokenizer.huggingface.json", read("json/qwen2.json").dump());
  writer.set_u32("tokenizer.ggml.eos_token_id", 5);
  writer.set_u32("tokenizer.ggml.eot_token_id", 9);
  writer.set_u32("tokenizer.ggml.eom_token_id", 7);
  writer.set_i32s("tokenizer.huggingface.stop_token_ids", std::vector<int32_t>{7, 5, 8, 7});
  Ids stop = load(writer)->vocabulary().special().stop;
  ASSERT_GE(stop.size(), 4u);
  EXPECT_EQ(Ids(stop.begin(), stop.begin() + 4), (Ids{5, 7, 8, 9}));
  std::ranges::sort(stop);
  EXPECT_EQ(std::ranges::adjacent_find(stop), stop.end());
}

// As files have them whose model has more rows than the vocabulary has tokens.
TEST(GgufSentencePiece, RolesOfNoTokenAreLeftOut) {
  for (const uint32_t none : {UINT32_MAX, static_cast<uint32_t>(kMessage) + 1}) {
    io::GgufWriter writer = small_vocabulary();
    writer.set_u32("tokenizer.ggml.padding_token_id", none);
    writer.set_u32("tokenizer.ggml.eot_token_id", none);
    writer.set_u32("tokenizer.ggml.eom_token_id", kStop);
    const text::SpecialTokens special = load(writer)->vocabulary().special();
    EXPECT_EQ(special.pad, -1);
    EXPECT_EQ(special.stop, (Ids{kEnd, kStop}));
  }
  const auto with = [](text::SpecialTokens special) {
    return text::Vocabulary(std::vector<text::Piece>(2), std::move(special)).special();
  };
  text::SpecialTokens wrong;
  wrong.bos = 2;
  wrong.eos = 9;
  wrong.stop = {9, 1};
  EXPECT_EQ(with(wrong).bos, -1);
  EXPECT_EQ(with(wrong).eos, -1);
  EXPECT_EQ(with(wrong).stop, (Ids{1}));
  wrong.add_eos = true;
  EXPECT_ERROR(with(wrong), Format, "the eos token is 9, but there are 2 tokens");
}

// Merges lead to no "abc": words that are pieces are taken whole where the vocabulary's kind says so.
TEST(GgufBpe, SomeKindsTakeWholeWordsAndBeginWithABosToken) {
  const auto encode = [](const std::string& pre) {
    io::GgufWriter writer;
    writer.set_string("tokenizer.ggml.model", "gpt2");
    writer.set_string("tokenizer.ggml.pre", pre);
    writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"<s>", "a", "b", "c", "bc", "abc"});
    writer.set_strings("tokenizer.ggml.merges", std::vector<std::string>{"b c"});
    writer.set_u32("tokenizer.ggml.bos_token_id", 0);
    return load(writer)->encode("abc");
  };
  for (const char* pre : {"llama-bpe", "llama3", "falcon3", "tekken"})
    EXPECT_EQ(encode(pre), (Ids{0, 5})) << pre;
  for (const char* pre : {"gpt-4o", "gpt-2", "qwen2", "falcon"}) EXPECT_EQ(encode(pre), (Ids{1, 4})) << pre;
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
