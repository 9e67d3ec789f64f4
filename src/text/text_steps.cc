// SPDX-License-Identifier: Apache-2.0
#include "text/text_steps.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/fail.h"
#include "text/bpe.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

// Calls use(code, bytes) for each character.
template <class Use>
void each_character(std::string_view text, Use use) {
  while (!text.empty()) {
    const Utf8Char c = utf8_decode(text);
    use(c.code, text.substr(0, c.length));
    text.remove_prefix(c.length);
  }
}

bool in_set(uint32_t code, CategorySet set) { return (category_bit(category_of(code)) & set) != 0; }

// The blocks that BERT takes for Chinese.
bool is_ideograph(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kBlocks[] = {
      {0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
      {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  return std::ranges::any_of(kBlocks,
                             [&](auto block) { return code >= block.first && code <= block.second; });
}

struct Segment {
  Span span;
  bool found;
};

// The whole text: what was found and what lies between.
std::vector<Segment> segments_of(const std::vector<Span>& found, size_t size, bool invert) {
  std::vector<Segment> out;
  size_t done = 0;
  for (const Span& span : found) {
    if (done < span.from) out.push_back({{done, span.from}, invert});
    out.push_back({span, !invert});
    done = span.to;
  }
  if (done < size) out.push_back({{done, size}, invert});
  return out;
}

std::vector<Span> cut_as(Behavior behavior, const std::vector<Segment>& segments) {
  std::vector<Span> out;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    const Segment* before = i > 0 ? &segments[i - 1] : nullptr;
    bool joins = false;
    switch (behavior) {
      case Behavior::Removed:
        if (s.found) continue;
        break;
      case Behavior::Isolated:
        break;
      case Behavior::MergedWithPrevious:
        joins = s.found && before != nullptr && !before->found;
        break;
      case Behavior::MergedWithNext:
        joins = before != nullptr && before->found && !s.found;
        break;
      case Behavior::Contiguous:
        joins = before != nullptr && before->found == s.found;
        break;
    }
    if (joins) {
      out.back().to = s.span.to;
    } else {
      out.push_back(s.span);
    }
  }
  return out;
}

}  // namespace

Finder find_text(std::string text) {
  if (text.empty()) fail(ErrorKind::Format, "tokenizer", "an empty text is everywhere");
  return [text = std::move(text)](std::string_view in) {
    std::vector<Span> out;
    for (size_t at = in.find(text); at != std::string_view::npos; at = in.find(text, at + text.size()))
      out.push_back({at, at + text.size()});
    return out;
  };
}

Finder find_expression(std::string_view expression) {
  const auto shared = std::make_shared<const Expression>(expression);
  return [shared](std::string_view in) { return shared->matches(in); };
}

Finder find_characters(std::function<bool(uint32_t)> holds) {
  return [holds = std::move(holds)](std::string_view in) {
    std::vector<Span> out;
    size_t at = 0;
    each_character(in, [&](uint32_t code, std::string_view bytes) {
      if (holds(code)) out.push_back({at, at + bytes.size()});
      at += bytes.size();
    });
    return out;
  };
}

Finder find_words() {
  return [](std::string_view in) {
    std::vector<Span> out;
    size_t at = 0;
    enum Kind { None, Letters, Signs } last = None;
    each_character(in, [&](uint32_t code, std::string_view bytes) {
      const Kind kind = is_word(code) ? Letters : is_space(code) ? None : Signs;
      if (kind != None && kind == last) {
        out.back().to += bytes.size();
      } else if (kind != None) {
        out.push_back({at, at + bytes.size()});
      }
      last = kind;
      at += bytes.size();
    });
    return out;
  };
}

TextStep form_step(NormalForm form) {
  return [form](std::string_view text, bool&) { return normal_form(text, form); };
}

TextStep replace_step(Finder what, std::string with) {
  return [what = std::move(what), with = std::move(with)](std::string_view text, bool& beheaded) {
    std::string out;
    size_t done = 0;
    for (const Span& span : what(text)) {
      beheaded = beheaded || (with.empty() && span.from == 0 && span.to > 0);
      out.append(text.substr(done, span.from - done)).append(with);
      done = span.to;
    }
    return out.append(text.substr(done));
  };
}

TextStep prepend_step(std::string prefix) {
  return [prefix = std::move(prefix)](std::string_view text, bool&) {
    return text.empty() ? std::string() : prefix + std::string(text);
  };
}

TextStep strip_step(bool left, bool right) {
  return [=](std::string_view text, bool& beheaded) {
    size_t from = text.size(), to = 0, at = 0;
    each_character(text, [&](uint32_t code, std::string_view bytes) {
      if (!is_space(code)) {
        from = std::min(from, at);
        to = at + bytes.size();
      }
      at += bytes.size();
    });
    if (from == text.size()) return left || right ? std::string() : std::string(text);
    if (!left) from = 0;
    beheaded = beheaded || from > 0;
    if (!right) to = text.size();
    return std::string(text.substr(from, to - from));
  };
}

TextStep lower_step() {
  return [](std::string_view text, bool&) {
    std::string out;
    each_character(text, [&](uint32_t code, std::string_view) {
      if (code == 0x130) {  // the only one with two characters: i and a dot above
        out += "i\xcc\x87";
      } else {
        append_utf8(to_lower(code), out);
      }
    });
    return out;
  };
}

TextStep drop_marks_step(bool nonspacing_only) {
  const CategorySet marks = nonspacing_only ? category_bit(Category::Mn) : *categories_named("M");
  return [=](std::string_view text, bool& beheaded) {
    std::string out;
    each_character(text, [&](uint32_t code, std::string_view bytes) {
      if (!in_set(code, marks)) {
        out += bytes;
      } else if (out.empty()) {
        beheaded = true;
      }
    });
    return out;
  };
}

TextStep clean_step() {
  const CategorySet control = category_bit(Category::Cc) | category_bit(Category::Cf) |
                              category_bit(Category::Cs) | category_bit(Category::Co);
  return [=](std::string_view text, bool& beheaded) {
    std::string out;
    each_character(text, [&](uint32_t code, std::string_view bytes) {
      const bool line = code == '\t' || code == '\n' || code == '\r';
      if (code == 0 || code == 0xfffd || (!line && in_set(code, control))) {
        beheaded = beheaded || out.empty();
      } else {
        out += is_space(code) ? std::string_view(" ") : bytes;
      }
    });
    return out;
  };
}

TextStep space_ideographs_step() {
  return [](std::string_view text, bool&) {
    std::string out;
    each_character(text, [&](uint32_t code, std::string_view bytes) {
      if (is_ideograph(code)) {
        out.append(" ").append(bytes).append(" ");
      } else {
        out += bytes;
      }
    });
    return out;
  };
}

WordStep cut_step(Finder finder, Behavior behavior, bool invert) {
  return [finder = std::move(finder), behavior, invert](std::vector<Word>& words) {
    std::vector<Word> out;
    for (const Word& word : words)
      for (const Span& span : cut_as(behavior, segments_of(finder(word.text), word.text.size(), invert)))
        if (span.from < span.to)
          out.push_back({word.text.substr(span.from, span.to - span.from), word.begins && span.from == 0});
    words = std::move(out);
  };
}

WordStep byte_level_step(bool prefix_space, bool words_too) {
  const WordStep cut = cut_step(find_expression(gpt2_pattern()), Behavior::Isolated, false);
  return [=](std::vector<Word>& words) {
    if (prefix_space)
      for (Word& word : words)
        if (!word.text.starts_with(' ')) word.text.insert(0, 1, ' ');
    if (words_too) cut(words);
    for (Word& word : words) word.text = bytes_to_printable(word.text);
  };
}

WordStep metaspace_step(const std::string& replacement, PrependScheme scheme, bool split) {
  const TextStep replace = replace_step(find_text(" "), replacement);
  const WordStep cut = cut_step(find_text(replacement), Behavior::MergedWithNext, false);
  return [=](std::vector<Word>& words) {
    for (Word& word : words) {
      bool beheaded = false;
      word.text = replace(word.text, beheaded);
      const bool wanted = scheme == PrependScheme::Always || (scheme == PrependScheme::First && word.begins);
      if (wanted && !word.text.starts_with(replacement)) word.text.insert(0, replacement);
    }
    if (split) cut(words);
  };
}

}  // namespace beeswax::text
