// SPDX-License-Identifier: Apache-2.0
// The steps that text takes before a model sees it, as `tokenizer.json` files name them: normalizers change
// the text, pre-tokenizers cut it into words. All text is valid UTF-8.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/expression.h"
#include "text/normal_form.h"

namespace beeswax::text {

/// Where something stands in a text: in order, without overlap, none empty.
using Finder = std::function<std::vector<Span>(std::string_view)>;
/// Format for an empty text, which is a file's.
BW_API Finder find_text(std::string text);
BW_API Finder find_expression(std::string_view expression);
/// Each character for which `holds` does.
BW_API Finder find_characters(std::function<bool(uint32_t)> holds);
/// Runs of word characters, and runs of what is neither word nor space.
BW_API Finder find_words();

/// A normalizer. It sets `beheaded` where it drops the characters that the text begins with.
using TextStep = std::function<std::string(std::string_view, bool& beheaded)>;
BW_API TextStep form_step(NormalForm form);
BW_API TextStep replace_step(Finder what, std::string with);
/// In front of a text that is not empty.
BW_API TextStep prepend_step(std::string text);
/// Spaces at the ends.
BW_API TextStep strip_step(bool left, bool right);
BW_API TextStep lower_step();
/// All marks (M), or those without a width of their own (Mn).
BW_API TextStep drop_marks_step(bool nonspacing_only);
/// BERT: control characters vanish, spaces become U+0020.
BW_API TextStep clean_step();
/// BERT: ideographs get spaces around them.
BW_API TextStep space_ideographs_step();

struct Word {
  std::string text;
  bool begins;  ///< the text that was given to the tokenizer begins with it
};

/// A pre-tokenizer; leaves no empty words.
using WordStep = std::function<void(std::vector<Word>&)>;

enum class Behavior : uint8_t { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
/// Cuts at what the finder finds; `invert`: at what lies between.
BW_API WordStep cut_step(Finder finder, Behavior behavior, bool invert);
/// Bytes as printable characters (text/bpe.h). `prefix_space`: words begin with a space; `words`: cut by
/// GPT-2's expression.
BW_API WordStep byte_level_step(bool prefix_space, bool words);
enum class PrependScheme : uint8_t { Always, First, Never };
/// Spaces become `replacement`, which also goes in front of words as the scheme says. `split`: every one
/// begins a word.
BW_API WordStep metaspace_step(const std::string& replacement, PrependScheme scheme, bool split);

}  // namespace beeswax::text
