// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer_json_steps.h"

#include "io/base64.h"
#include "text/charsmap.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace beeswax::models {
namespace {

using text::Behavior;
using text::PrependScheme;

[[noreturn]] void unknown_type(const JsonObject& object, std::string_view type, std::string_view known) {
  object.refuse(ErrorKind::Unsupported, "is of type '", type,
                "', which this version does not have; it has: ", known);
}

/// {"String": "."} or {"Regex": "."}; the text of a String.
std::string pattern_text(JsonObject pattern, bool& is_expression) {
  is_expression = pattern.find("Regex") != nullptr;
  std::string out = pattern.text(is_expression ? "Regex" : "String");
  pattern.finish();
  return out;
}

text::Finder read_pattern(JsonObject pattern) {
  bool is_expression = false;
  const std::string what = pattern_text(std::move(pattern), is_expression);
  return is_expression ? text::find_expression(what) : text::find_text(what);
}

Behavior read_behavior(JsonObject& object, std::string_view fallback) {
  const std::string name = object.text("behavior", fallback);
  if (name == "Removed") return Behavior::Removed;
  if (name == "Isolated") return Behavior::Isolated;
  if (name == "MergedWithPrevious") return Behavior::MergedWithPrevious;
  if (name == "MergedWithNext") return Behavior::MergedWithNext;
  if (name == "Contiguous") return Behavior::Contiguous;
  object.refuse(ErrorKind::Unsupported, "has the unknown behavior '", name, "'");
}

/// One character
std::string read_character(JsonObject& object, std::string_view name) {
  std::string out = object.text(name);
  if (out.empty() || text::utf8_decode(out).length != out.size())
    object.refuse(ErrorKind::Format, "has '", out, "' for '", name, "', not one character");
  return out;
}

// Older files say only whether there is a prefix.
PrependScheme read_scheme(JsonObject& object) {
  const bool prefix = object.flag("add_prefix_space", true);
  const std::string name = object.text("prepend_scheme", prefix ? "always" : "never");
  if (name == "always") return PrependScheme::Always;
  if (name == "first") return PrependScheme::First;
  if (name == "never") return PrependScheme::Never;
  object.refuse(ErrorKind::Unsupported, "has the unknown prepend_scheme '", name, "'");
}

void read_bert_normalizer(JsonObject& object, std::vector<text::TextStep>& steps) {
  const bool lower = object.flag("lowercase", true);
  if (object.flag("clean_text", true)) steps.push_back(text::clean_step());
  if (object.flag("handle_chinese_chars", true)) steps.push_back(text::space_ideographs_step());
  if (object.flag("strip_accents", lower)) {
    steps.push_back(text::form_step(text::NormalForm::Nfd));
    steps.push_back(text::drop_marks_step(true));
  }
  if (lower) steps.push_back(text::lower_step());
}

}  // namespace

void read_normalizer(JsonObject object, std::vector<text::TextStep>& steps) {
  const std::string type = object.text("type");
  if (type == "Sequence") {
    for (JsonObject& part : object.objects("normalizers")) read_normalizer(std::move(part), steps);
  } else if (type == "NFC") {
    steps.push_back(text::form_step(text::NormalForm::Nfc));
  } else if (type == "NFD") {
    steps.push_back(text::form_step(text::NormalForm::Nfd));
  } else if (type == "NFKC") {
    steps.push_back(text::form_step(text::NormalForm::Nfkc));
  } else if (type == "NFKD") {
    steps.push_back(text::form_step(text::NormalForm::Nfkd));
  } else if (type == "Lowercase") {
    steps.push_back(text::lower_step());
  } else if (type == "StripAccents") {
    steps.push_back(text::drop_marks_step(false));
  } else if (type == "Strip") {
    const bool left = object.flag("strip_left");
    steps.push_back(text::strip_step(left, object.flag("strip_right")));
  } else if (type == "Prepend") {
    steps.push_back(text::prepend_step(object.text("prepend")));
  } else if (type == "Replace") {
    text::Finder what = read_pattern(object.object("pattern"));
    steps.push_back(text::replace_step(std::move(what), object.text("content")));
  } else if (type == "BertNormalizer") {
    read_bert_normalizer(object, steps);
  } else if (type == "Precompiled") {
    const auto bytes = io::base64_decode(object.text("precompiled_charsmap"));
    if (!bytes) object.refuse(ErrorKind::Format, "has a precompiled_charsmap that is not base64");
    steps.push_back(text::charsmap_step(*bytes));
  } else {
    unknown_type(object, type,
                 "Sequence NFC NFD NFKC NFKD Lowercase StripAccents Strip Prepend Replace BertNormalizer "
                 "Precompiled");
  }
  object.finish();
}

void read_pre_tokenizer(JsonObject object, std::vector<text::WordStep>& steps) {
  const auto cut_characters = [&](bool (*holds)(uint32_t), Behavior behavior) {
    steps.push_back(text::cut_step(text::find_characters(holds), behavior, false));
  };
  const std::string type = object.text("type");
  if (type == "Sequence") {
    for (JsonObject& part : object.objects("pretokenizers")) read_pre_tokenizer(std::move(part), steps);
  } else if (type == "Split") {
    text::Finder what = read_pattern(object.object("pattern"));
    const Behavior behavior = read_behavior(object, "");
    steps.push_back(text::cut_step(std::move(what), behavior, object.flag("invert")));
  } else if (type == "ByteLevel") {
    object.pass_over("trim_offsets");
    const bool prefix = object.flag("add_prefix_space", true);
    steps.push_back(text::byte_level_step(prefix, object.flag("use_regex", true)));
  } else if (type == "Metaspace") {
    object.pass_over("str_rep");  // older files say the replacement twice
    const PrependScheme scheme = read_scheme(object);
    const std::string replacement = read_character(object, "replacement");
    steps.push_back(text::metaspace_step(replacement, scheme, object.flag("split", true)));
  } else if (type == "Whitespace") {
    steps.push_back(text::cut_step(text::find_words(), Behavior::Removed, true));
  } else if (type == "WhitespaceSplit") {
    cut_characters(text::is_space, Behavior::Removed);
  } else if (type == "BertPreTokenizer") {
    cut_characters(text::is_space, Behavior::Removed);
    cut_characters(text::is_punctuation, Behavior::Isolated);
  } else if (type == "Punctuation") {
    cut_characters(text::is_punctuation, read_behavior(object, "Isolated"));
  } else if (type == "Digits") {
    const bool single = object.flag("individual_digits");
    cut_characters(text::is_numeric, single ? Behavior::Isolated : Behavior::Contiguous);
  } else if (type == "CharDelimiterSplit") {
    steps.push_back(
        text::cut_step(text::find_text(read_character(object, "delimiter")), Behavior::Removed, false));
  } else {
    unknown_type(object, type,
                 "Sequence Split ByteLevel Metaspace Whitespace WhitespaceSplit BertPreTokenizer Punctuation "
                 "Digits CharDelimiterSplit");
  }
  object.finish();
}

namespace {

void decode_step(JsonObject object, text::Stages& stages, bool& fused) {
  const std::string type = object.text("type");
  const auto before_fuse = [&] {
    if (fused) object.refuse(ErrorKind::Unsupported, "stands behind Fuse, where tokens have no ends");
  };
  if (type == "Sequence") {
    for (JsonObject& part : object.objects("decoders")) decode_step(std::move(part), stages, fused);
  } else if (type == "ByteLevel") {
    before_fuse();
    for (const char* name : {"add_prefix_space", "trim_offsets", "use_regex"}) object.pass_over(name);
    stages.decoders.push_back(text::bytes_step());
  } else if (type == "Metaspace") {
    before_fuse();
    object.pass_over("str_rep");
    object.pass_over("split");
    stages.strips_first_space = read_scheme(object) != PrependScheme::Never;
    stages.decoders.push_back(text::replace_token_step(read_character(object, "replacement"), " "));
  } else if (type == "Replace") {
    bool is_expression = false;
    std::string what = pattern_text(object.object("pattern"), is_expression);
    // A longer text could lie across tokens, which come one by one.
    if (is_expression || (fused && (what.empty() || text::utf8_decode(what).length != what.size())))
      object.refuse(ErrorKind::Unsupported, "replaces '", what, "', which is not one character");
    stages.decoders.push_back(text::replace_token_step(std::move(what), object.text("content")));
  } else if (type == "ByteFallback") {
    before_fuse();
    stages.decoders.push_back(text::byte_fallback_step());
  } else if (type == "Fuse") {
    fused = true;
  } else if (type == "Strip") {
    const std::string what = object.text("content");
    const int64_t start = object.whole("start", 0, INT32_MAX), stop = object.whole("stop", 0, INT32_MAX);
    if (start + stop != 0 && (!fused || what != " " || start != 1 || stop != 0))
      object.refuse(ErrorKind::Unsupported, "takes ", start, " of '", what, "' from the start and ", stop,
                    " from the end; this version takes one space from the start of a whole text");
    stages.strips_first_space = stages.strips_first_space || start == 1;
  } else if (type == "WordPiece") {
    before_fuse();
    std::string prefix = object.text("prefix");
    stages.decoders.push_back(text::wordpiece_step(std::move(prefix), object.flag("cleanup")));
    stages.strips_first_space = true;
  } else {
    unknown_type(object, type, "Sequence ByteLevel Metaspace Replace ByteFallback Fuse Strip WordPiece");
  }
  object.finish();
}

}  // namespace

void read_decoder(JsonObject object, text::Stages& stages) {
  bool fused = false;
  decode_step(std::move(object), stages, fused);
}

void no_decoder(text::Stages& stages) {
  stages.decoders.push_back(text::spaced_step());
  stages.strips_first_space = true;
}

}  // namespace beeswax::models
