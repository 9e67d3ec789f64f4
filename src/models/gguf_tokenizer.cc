// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_tokenizer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/fail.h"
#include "models/stop_tokens.h"
#include "models/tokenizer_json.h"
#include "text/bpe.h"
#include "text/piece_models.h"
#include "text/spm.h"
#include "text/staged.h"
#include "text/unicode.h"

namespace beeswax::models {
namespace {

constexpr uint64_t kMostStopTokens = 1024;
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";

std::vector<text::Piece> read_pieces(const io::GgufFile& file) {
  const io::GgufValue* tokens = file.find("tokenizer.ggml.tokens");
  const auto* texts = tokens == nullptr ? nullptr : tokens->as_strings();
  if (texts == nullptr || texts->empty())
    fail(ErrorKind::Format, "load", file.name(), " has no vocabulary ('tokenizer.ggml.tokens')");
  const auto column = [&](std::string_view key) {
    const io::GgufValue* value = file.find(key);
    if (value == nullptr) return std::vector<double>();
    const io::GgufArray* array = value->as_array();
    auto list = array != nullptr && array->count == texts->size() ? value->as_floats() : std::nullopt;
    if (!list)
      fail(ErrorKind::Format, "load", file.name(), ": '", key, "' is ", *value, ", not ", texts->size(),
           " numbers");
    return *std::move(list);
  };
  const std::vector<double> scores = column("tokenizer.ggml.scores");
  const std::vector<double> kinds = column(kTypes);
  std::vector<text::Piece> pieces(texts->size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].text = (*texts)[i];
    if (!scores.empty()) pieces[i].score = static_cast<float>(scores[i]);
    if (kinds.empty()) continue;
    if (!(kinds[i] >= 0 && kinds[i] <= 6 && kinds[i] == std::floor(kinds[i])))
      fail(ErrorKind::Format, "load", file.name(), ": token ", i, " is of the unknown type ",
           io::gguf_element(*file.find(kTypes)->as_array(), i));
    const int kind =
        std::max(static_cast<int>(kinds[i]), 1);  // 0, which nothing defines, is an ordinary piece
    pieces[i].kind = static_cast<text::PieceKind>(kind);
  }
  return pieces;
}

std::string role_key(std::string_view role) { return join_text("tokenizer.ggml.", role, "_token_id"); }

int32_t token_id(const io::GgufFile& file, std::string_view role) {
  const int64_t id = file.get_int(role_key(role), -1);
  if (id == UINT32_MAX) return -1;  // none, as some write it
  if (id < -1 || id > INT32_MAX)
    fail(ErrorKind::Format, "load", file.name(), ": the ", role, " token is ", id);
  return static_cast<int32_t>(id);
}

// The ends of a turn and of a message end a generation too, whatever their texts are.
std::vector<int32_t> ends_by_role(const io::GgufFile& file) {
  std::vector<int32_t> out;
  for (const std::string_view role : {"eot", "eom"})
    if (const int32_t id = token_id(file, role); id >= 0) out.push_back(id);
  return out;
}

// Vocabularies of Llama 3, Falcon 3 and Mistral's Tekken begin with a bos token and take whole words as
// pieces, without files saying so.
bool takes_whole_words(std::string_view pre) {
  constexpr std::array<std::string_view, 5> kNames = {"llama-bpe", "llama-v3", "llama3", "falcon3", "tekken"};
  return std::ranges::find(kNames, pre) != kNames.end();
}
bool begins_with_bos(const io::GgufFile& file) {
  return takes_whole_words(file.get_string("tokenizer.ggml.pre", "default"));
}

// Vocabularies of BERT name their tokens by role or by the usual text.
int32_t bert_token(const io::GgufFile& file, const std::vector<text::Piece>& pieces, std::string_view role,
                   std::string_view usual) {
  if (const int32_t id = token_id(file, role); id >= 0) return id;
  const auto it = std::ranges::find(pieces, usual, &text::Piece::text);
  return it == pieces.end() ? -1 : static_cast<int32_t>(it - pieces.begin());
}

// WordPiece as GGUF files have it: pieces that begin a word have U+2581 in front, those that go on have
// nothing; text is lowered and loses its accents.
std::unique_ptr<text::Tokenizer> load_wordpiece(const io::GgufFile& file, std::vector<text::Piece> pieces) {
  constexpr std::string_view kBegins = "\xe2\x96\x81";
  constexpr size_t kMostCharacters = 100;
  text::SpecialTokens special;
  special.bos = bert_token(file, pieces, "cls", "[CLS]");
  if (special.bos < 0) special.bos = token_id(file, "bos");
  // Older files spell the key so.
  special.eos = token_id(file, "separator");
  if (special.eos < 0) special.eos = bert_token(file, pieces, "seperator", "[SEP]");
  special.unknown = bert_token(file, pieces, "unknown", "[UNK]");
  special.pad = bert_token(file, pieces, "padding", "[PAD]");
  special.add_bos = file.get_bool("tokenizer.ggml.add_bos_token", true);
  special.add_eos = file.get_bool("tokenizer.ggml.add_eos_token", true);
  special.add_space_prefix = false;
  for (const int32_t id : {special.bos, special.eos, special.pad})
    if (id >= 0 && static_cast<size_t>(id) < pieces.size())
      pieces[static_cast<size_t>(id)].kind = text::PieceKind::Control;
  add_stop_tokens(pieces, special);
  text::Vocabulary vocabulary(std::move(pieces), std::move(special));
  text::Stages stages;
  stages.normalizers = {text::clean_step(), text::space_ideographs_step(),
                        text::form_step(text::NormalForm::Nfd), text::drop_marks_step(true),
                        text::lower_step()};
  const auto cut = [&](bool (*holds)(uint32_t), text::Behavior behavior) {
    stages.words.push_back(text::cut_step(text::find_characters(holds), behavior, false));
  };
  cut(text::is_space, text::Behavior::Removed);
  cut(text::is_punctuation, text::Behavior::Isolated);
  stages.model =
      std::make_unique<text::WordPieceModel>(vocabulary, std::string(kBegins), "", kMostCharacters);
  stages.decoders = {text::replace_token_step(std::string(kBegins), " ")};
  stages.strips_first_space = true;
  return std::make_unique<text::StagedTokenizer>(std::move(vocabulary), std::move(stages));
}

// A role's token; the usual one of SentencePiece where the file says nothing and the vocabulary has it.
int32_t spm_token(const io::GgufFile& file, const std::vector<text::Piece>& pieces, std::string_view role,
                  int32_t usual, text::PieceKind kind) {
  if (file.find(role_key(role)) != nullptr) return token_id(file, role);
  const auto at = static_cast<size_t>(usual);
  return at < pieces.size() && pieces[at].kind == kind ? usual : -1;
}

// Whether texts get the token of a role.
bool adds_token(const io::GgufFile& file, std::string_view role, int32_t id, bool by_default) {
  const std::string key = join_text("tokenizer.ggml.add_", role, "_token");
  if (file.find(key) == nullptr) return by_default;
  const bool adds = file.get_bool(key);
  if (adds && id < 0)
    fail(ErrorKind::Format, "load", file.name(), ": '", key, "' is true, but there is no '", role_key(role),
         "'");
  return adds;
}

text::SpecialTokens read_special(const io::GgufFile& file, const std::vector<text::Piece>& pieces, bool spm) {
  using text::PieceKind;
  text::SpecialTokens special;
  special.bos = spm ? spm_token(file, pieces, "bos", 1, PieceKind::Control) : token_id(file, "bos");
  special.eos = spm ? spm_token(file, pieces, "eos", 2, PieceKind::Control) : token_id(file, "eos");
  special.unknown =
      spm ? spm_token(file, pieces, "unknown", 0, PieceKind::Unknown) : token_id(file, "unknown");
  special.pad = token_id(file, "padding");
  special.add_bos = adds_token(file, "bos", special.bos, spm || begins_with_bos(file));
  special.add_eos = adds_token(file, "eos", special.eos, false);
  special.add_space_prefix = file.get_bool("tokenizer.ggml.add_space_prefix", spm);
  add_stop_tokens(pieces, special);
  for (const int32_t id : ends_by_role(file)) add_stop_token(id, special.stop);
  return special;
}

// Phi 3's tokens take the spaces behind them, as its tokenizer.json says and GGUF files do not.
void strip_as_phi3(std::vector<text::Piece>& pieces) {
  constexpr std::array<std::string_view, 3> kKeep = {"<unk>", "<s>", "<|endoftext|>"};
  for (text::Piece& piece : pieces)
    piece.strips_right = (piece.kind == text::PieceKind::Control || piece.text == "</s>") &&
                         std::ranges::find(kKeep, piece.text) == kKeep.end();
}

std::vector<std::string_view> read_merges(const io::GgufFile& file) {
  const io::GgufValue* value = file.find("tokenizer.ggml.merges");
  const auto* merges = value == nullptr ? nullptr : value->as_strings();
  if (merges == nullptr)
    fail(ErrorKind::Format, "load", file.name(), " has no merges ('tokenizer.ggml.merges')");
  return *merges;
}

std::unique_ptr<text::Tokenizer> load_json(const io::GgufFile& file) {
  TokenRoles roles = {.bos = token_id(file, "bos"),
                      .eos = token_id(file, "eos"),
                      .pad = token_id(file, "padding"),
                      .stop = {}};
  add_stop_token(roles.eos, roles.stop);
  if (const io::GgufValue* value = file.find(kStopTokens); value != nullptr) {
    const io::GgufArray* array = value->as_array();
    const auto ids = array != nullptr && array->count <= kMostStopTokens ? value->as_ints() : std::nullopt;
    if (!ids || std::ranges::any_of(*ids, [](int64_t id) { return id < 0 || id > INT32_MAX; }))
      fail(ErrorKind::Format, "load", file.name(), ": '", kStopTokens, "' is ", *value,
           ", not ids of tokens");
    for (const int64_t id : *ids) add_stop_token(static_cast<int32_t>(id), roles.stop);
  }
  for (const int32_t id : ends_by_role(file)) add_stop_token(id, roles.stop);
  return parse_tokenizer_json(file.get_string(kTokenizerJson), file.name(), roles);
}

std::unique_ptr<text::Tokenizer> load_ggml(const io::GgufFile& file) {
  const std::string model = file.get_string("tokenizer.ggml.model");
  if (model != "llama" && model != "gpt2" && model != "bert")
    fail(ErrorKind::Unsupported, "load", file.name(), " has a tokenizer of kind '", model,
         "'; this version has: llama (SentencePiece), gpt2 (byte-level BPE), bert (WordPiece)");
  std::vector<text::Piece> pieces = read_pieces(file);
  if (model == "bert") return load_wordpiece(file, std::move(pieces));
  const bool spm = model == "llama";
  if (spm && file.get_string("general.architecture", "") == "phi3") strip_as_phi3(pieces);
  text::SpecialTokens special = read_special(file, pieces, spm);
  text::Vocabulary vocabulary(std::move(pieces), std::move(special));
  if (spm) return std::make_unique<text::SpmTokenizer>(std::move(vocabulary));
  const std::string pre = file.get_string("tokenizer.ggml.pre", "default");
  return std::make_unique<text::BpeTokenizer>(std::move(vocabulary), read_merges(file),
                                              text::PreTokenizer::named(pre), takes_whole_words(pre));
}

}  // namespace

void check_vocabulary(const io::GgufFile& file, const text::Vocabulary& vocabulary) {
  const io::GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr || embedding->shape.rank() == 0) return;
  for (int64_t id = embedding->shape[0]; id < vocabulary.size(); ++id) {
    const text::PieceKind kind = vocabulary.piece(static_cast<int32_t>(id)).kind;
    if (kind != text::PieceKind::Control && kind != text::PieceKind::Unused)
      fail(ErrorKind::Format, "load", file.name(), ": the vocabulary has ", vocabulary.size(),
           " tokens, but the model has ", embedding->shape[0]);
  }
}

std::unique_ptr<text::Tokenizer> load_tokenizer(const io::GgufFile& file) {
  const bool json = file.find("tokenizer.ggml.model") == nullptr && file.find(kTokenizerJson) != nullptr;
  try {
    auto tokenizer = json ? load_json(file) : load_ggml(file);
    check_vocabulary(file, tokenizer->vocabulary());
    return tokenizer;
  } catch (Error& error) {
    // The others come from parts that do not know of files.
    if (error.operation() != "load") error.while_doing("loading the tokenizer of " + file.name());
    throw;
  }
}

}  // namespace beeswax::models
