// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer_json.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "io/json_events.h"
#include "models/stop_tokens.h"
#include "models/tokenizer_json_steps.h"
#include "text/piece_models.h"

namespace beeswax::models {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;

/// Pieces by id while they are collected.
class PieceTable {
 public:
  /// `entries`: how many pieces the file lists in all. Ids far beyond would only cost memory.
  PieceTable(std::string file, size_t entries) : file_(std::move(file)), most_(2 * entries + 1024) {}

  /// The place for a piece; Format where the id cannot be one.
  text::Piece& at(std::optional<int64_t> id, const std::string& text) {
    if (!id || *id < 0 || static_cast<uint64_t>(*id) >= most_)
      fail(ErrorKind::Format, "load", file_, ": token '", io::shown_name(text), "' has the id ",
           id ? std::to_string(*id) : "of another kind", ", not a whole number below ", most_);
    const auto at = static_cast<size_t>(*id);
    if (at >= pieces_.size()) pieces_.resize(at + 1, kGap);
    return pieces_[at];
  }
  void add(std::string text, std::optional<int64_t> id) {
    text::Piece& piece = at(id, text);
    if (piece.kind != text::PieceKind::Unused)
      fail(ErrorKind::Format, "load", file_, ": tokens '", io::shown_name(piece.text), "' and '",
           io::shown_name(text), "' have the same id ", *id);
    piece.text = std::move(text);
    piece.kind = text::PieceKind::Normal;
  }
  std::vector<text::Piece>& pieces() { return pieces_; }

 private:
  static inline const text::Piece kGap = {{}, 0, text::PieceKind::Unused};  // an id that no piece has
  std::string file_;
  uint64_t most_;
  std::vector<text::Piece> pieces_;
};

/// What a file says while it is put together.
class Reader {
 public:
  Reader(const io::JsonValue& root, std::string_view name, const TokenRoles& roles)
      : file_(name), root_(root, name, "the file"), model_(root_.object("model")) {
    special_.bos = roles.bos;
    special_.eos = roles.eos;
    special_.pad = roles.pad;
    special_.stop = roles.stop;
    special_.add_space_prefix = false;
  }

  std::unique_ptr<text::Tokenizer> read() {
    if (const std::string version = root_.text("version", "1.0"); version != "1.0")
      root_.refuse(ErrorKind::Unsupported, "is of version '", version, "'; this version reads 1.0");
    // They are for batches: transformers neither cuts nor fills one text of its own accord.
    for (const char* name : {"truncation", "padding"}) root_.pass_over(name);
    std::vector<JsonObject> added;
    if (root_.find("added_tokens") != nullptr) added = root_.objects("added_tokens");
    type_ = model_type();
    const auto* listed = model_.get("vocab").as_list();
    const auto* named = model_.get("vocab").as_object();
    if (type_ == "Unigram" ? listed == nullptr : named == nullptr)
      model_.refuse(ErrorKind::Format, "has the vocabulary ", model_.get("vocab"));
    PieceTable table(file_, (listed != nullptr ? listed->size() : named->size()) + added.size());
    if (listed != nullptr) {
      read_scored(*listed, table);
    } else {
      for (const auto& [text, id] : *named) table.add(text, id.as_whole());
    }
    if (!added.empty()) {
      const std::unordered_map<std::string, size_t> ids = ids_of(table.pieces());
      for (JsonObject& token : added) read_added(token, ids, table);
    }
    read_unknown(table.pieces());
    text::Stages stages;
    read_steps(stages);
    if (root_.find("post_processor") != nullptr) read_post_processor(root_.object("post_processor"));
    root_.finish();
    add_stop_tokens(table.pieces(), special_);
    auto vocabulary = text::Vocabulary(std::move(table.pieces()), std::move(special_));
    stages.model = make_model(vocabulary);
    model_.finish();
    return std::make_unique<text::StagedTokenizer>(std::move(vocabulary), std::move(stages));
  }

 private:
  // Files from before types were written down are told apart by what they have.
  std::string model_type() {
    std::string type = model_.text("type", "");
    if (type.empty())
      type = model_.find("merges") != nullptr                      ? "BPE"
             : model_.find("continuing_subword_prefix") != nullptr ? "WordPiece"
             : model_.get("vocab").as_list() != nullptr            ? "Unigram"
                                                                   : "WordLevel";
    if (type != "BPE" && type != "WordPiece" && type != "Unigram" && type != "WordLevel")
      model_.refuse(ErrorKind::Unsupported, "is of type '", type,
                    "', which this version does not have; it has: BPE WordPiece Unigram WordLevel");
    return type;
  }

  // [["text", score], ...]
  void read_scored(const io::JsonValue::List& vocab, PieceTable& table) {
    for (const io::JsonValue& entry : vocab) {
      const auto* pair = entry.as_list();
      const std::string* text = pair != nullptr && pair->size() == 2 ? (*pair)[0].as_text() : nullptr;
      const auto score = text != nullptr ? (*pair)[1].as_number() : std::nullopt;
      if (!score)
        model_.refuse(ErrorKind::Format, "has ", entry, " in its vocabulary, not a text and a number");
      table.add(*text, static_cast<int64_t>(scores_.size()));
      table.pieces().back().score = static_cast<float>(*score);
      scores_.push_back(*score);
    }
  }

  static std::unordered_map<std::string, size_t> ids_of(const std::vector<text::Piece>& pieces) {
    std::unordered_map<std::string, size_t> ids;
    for (size_t i = 0; i < pieces.size(); ++i) ids.emplace(pieces[i].text, i);
    return ids;
  }

  void read_added(JsonObject& token, const std::unordered_map<std::string, size_t>& ids, PieceTable& table) {
    const std::string content = token.text("content");
    text::Piece& piece = table.at(token.get("id").as_whole(), content);
    if (content.empty()) token.refuse(ErrorKind::Format, "is a token without text");
    const auto same = ids.find(content);
    if (same != ids.end() && &table.pieces()[same->second] != &piece)
      token.refuse(ErrorKind::Format, "has the text of token ", same->second, ", '", io::shown_name(content),
                   "'");
    const bool known = piece.kind != text::PieceKind::Unused;
    if (known && piece.text != content)
      token.refuse(ErrorKind::Format, "has the id of the token '", io::shown_name(piece.text), "'");
    piece.text = content;
    piece.added = !known || piece.added;
    piece.kind = token.flag("special") ? text::PieceKind::Control : text::PieceKind::UserDefined;
    piece.single_word = token.flag("single_word", false);
    piece.strips_left = token.flag("lstrip", false);
    piece.strips_right = token.flag("rstrip", false);
    piece.normalized = token.flag("normalized", piece.kind == text::PieceKind::UserDefined);
    token.finish();
  }

  void read_unknown(const std::vector<text::Piece>& pieces) {
    if (type_ == "Unigram") {
      if (model_.find("unk_id") != nullptr)
        special_.unknown =
            static_cast<int32_t>(model_.whole("unk_id", 0, static_cast<int64_t>(scores_.size()) - 1));
      return;
    }
    if (model_.find("unk_token") == nullptr) return;
    const std::string text = model_.text("unk_token");
    const auto it = std::ranges::find_if(
        pieces, [&](const text::Piece& piece) { return piece.text == text && !piece.added; });
    if (it != pieces.end()) {
      special_.unknown = static_cast<int32_t>(it - pieces.begin());
    } else {
      missing_unknown_ = text;  // of no consequence to a vocabulary that has every byte
    }
  }

  void read_steps(text::Stages& stages) {
    if (root_.find("normalizer") != nullptr) read_normalizer(root_.object("normalizer"), stages.normalizers);
    if (root_.find("pre_tokenizer") != nullptr)
      read_pre_tokenizer(root_.object("pre_tokenizer"), stages.words);
    if (root_.find("decoder") != nullptr) {
      read_decoder(root_.object("decoder"), stages);
    } else {
      no_decoder(stages);
    }
  }

  // What goes around a text: one token in front, one behind.
  void read_post_processor(JsonObject object) {
    const std::string type = object.text("type");
    if (type == "Sequence") {
      for (JsonObject& part : object.objects("processors")) read_post_processor(std::move(part));
    } else if (type == "ByteLevel") {  // changes places in the text only
      for (const char* name : {"add_prefix_space", "trim_offsets", "use_regex"}) object.pass_over(name);
    } else if (type == "TemplateProcessing") {
      read_template(object);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      for (const char* name : {"trim_offsets", "add_prefix_space"})
        if (type == "RobertaProcessing") object.pass_over(name);
      put_around(object, true, named_id(object, "cls"));
      put_around(object, false, named_id(object, "sep"));
    } else {
      object.refuse(ErrorKind::Unsupported, "is of type '", type,
                    "', which this version does not have; it has: Sequence ByteLevel TemplateProcessing "
                    "BertProcessing RobertaProcessing");
    }
    object.finish();
  }

  void put_around(const JsonObject& object, bool in_front, int64_t id) {
    bool& adds = in_front ? special_.add_bos : special_.add_eos;
    if (adds)
      object.refuse(ErrorKind::Unsupported, "puts more than one token ", in_front ? "in front of" : "behind",
                    " a text; this version puts one");
    adds = true;
    (in_front ? special_.bos : special_.eos) = static_cast<int32_t>(id);
  }

  // ["text", id]
  static int64_t named_id(JsonObject& object, std::string_view name) {
    const auto& pair = object.list(name);
    const auto id = pair.size() == 2 ? pair[1].as_whole() : std::nullopt;
    if (!id || *id < 0 || *id > INT32_MAX)
      object.refuse(ErrorKind::Format, "has ", object.get(name), " for '", name, "', not a text and an id");
    return *id;
  }

  void read_template(JsonObject& object) {
    object.pass_over("pair");  // two texts are never encoded together
    JsonObject tokens = object.object("special_tokens");
    bool in_front = true;
    for (JsonObject& step : object.objects("single")) {
      const bool is_text = step.find("Sequence") != nullptr;
      JsonObject what = step.object(is_text ? "Sequence" : "SpecialToken");
      what.pass_over("type_id");
      const std::string id = what.text("id");
      what.finish();
      step.finish();
      if (is_text) {
        if (id != "A" || !in_front) step.refuse(ErrorKind::Unsupported, "names the text '", id, "' again");
        in_front = false;
        continue;
      }
      const auto& ids = tokens.object(id).list("ids");
      if (ids.size() != 1)
        step.refuse(ErrorKind::Unsupported, "names '", id, "', which is ", ids.size(), " tokens");
      const auto value = ids[0].as_whole();
      if (!value || *value < 0 || *value > INT32_MAX)
        step.refuse(ErrorKind::Format, "names '", id, "', whose id is ", ids[0]);
      put_around(step, in_front, *value);
    }
    if (in_front) object.refuse(ErrorKind::Format, "does not say where the text goes");
  }

  std::unique_ptr<text::WordModel> make_model(const text::Vocabulary& vocabulary) {
    if (type_ == "WordLevel") return std::make_unique<text::WordLevelModel>(missing_unknown_);
    if (type_ == "Unigram")
      return std::make_unique<text::UnigramModel>(vocabulary, scores_, model_.flag("byte_fallback", false));
    if (type_ == "WordPiece") {
      std::string prefix = model_.text("continuing_subword_prefix", "##");
      const int64_t most = model_.find("max_input_chars_per_word") == nullptr
                               ? 100
                               : model_.whole("max_input_chars_per_word", 0, INT32_MAX);
      return std::make_unique<text::WordPieceModel>(vocabulary, "", std::move(prefix),
                                                    static_cast<size_t>(most));
    }
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!model_.text(name, "").empty())
        model_.refuse(ErrorKind::Unsupported, "has a ", name, ", which this version does not know");
    if (const auto* dropout = model_.find("dropout"); dropout != nullptr && dropout->as_number() != 0)
      model_.refuse(ErrorKind::Unsupported, "has the dropout ", *dropout, "; this version has none");
    const text::BpeOptions options = {.whole_words = model_.flag("ignore_merges", false),
                                      .byte_fallback = model_.flag("byte_fallback", false),
                                      .fuse_unknown = model_.flag("fuse_unk", false)};
    return std::make_unique<text::BpeModel>(vocabulary, read_merges(), options, missing_unknown_);
  }

  // ["a b", ...], in newer files [["a", "b"], ...]
  std::vector<text::BpeMerge> read_merges() {
    std::vector<text::BpeMerge> out;
    for (const io::JsonValue& value : model_.list("merges")) {
      text::BpeMerge merge;
      if (const auto* pair = value.as_list(); pair != nullptr && pair->size() == 2) {
        if ((*pair)[0].as_text() != nullptr && (*pair)[1].as_text() != nullptr)
          merge = {*(*pair)[0].as_text(), *(*pair)[1].as_text()};
      } else if (const std::string* text = value.as_text()) {
        const size_t space = text->find(' ');
        if (space != std::string::npos && text->find(' ', space + 1) == std::string::npos)
          merge = {std::string_view(*text).substr(0, space), std::string_view(*text).substr(space + 1)};
      }
      if (merge.left.empty() || merge.right.empty())
        model_.refuse(ErrorKind::Format, "has the merge ", value, ", not two pieces");
      out.push_back(merge);
    }
    return out;
  }

  std::string file_, type_, missing_unknown_;
  JsonObject root_, model_;
  text::SpecialTokens special_;
  std::vector<double> scores_;  // of a Unigram model
};

std::unique_ptr<text::Tokenizer> read_root(const io::JsonValue& root, std::string_view name,
                                           const TokenRoles& roles) {
  try {
    return Reader(root, name, roles).read();
  } catch (Error& error) {
    // What the text ring says knows no file.
    if (error.operation() != "load") error.while_doing("loading " + std::string(name));
    throw;
  }
}

}  // namespace

std::unique_ptr<text::Tokenizer> parse_tokenizer_json(std::string_view json, std::string_view name,
                                                      const TokenRoles& roles) {
  return read_root(io::JsonValue::parse(json, name), name, roles);
}

std::unique_ptr<text::Tokenizer> load_tokenizer_json(const std::string& path, const TokenRoles& roles) {
  return read_root(io::JsonValue::read(path, kMostBytes), path, roles);
}

}  // namespace beeswax::models
