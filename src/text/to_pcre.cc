// SPDX-License-Identifier: Apache-2.0
// Expressions for Oniguruma as PCRE2 reads them.
#include <algorithm>
#include <iterator>

#include "core/fail.h"
#include "text/pcre.h"

namespace beeswax::text {
namespace {

[[noreturn]] void refuse(std::string_view what, size_t at, std::string_view expression) {
  fail(ErrorKind::Unsupported, "pattern", what, " at byte ", at, " of ", expression, " is not understood");
}

// What may stand behind (?, in both languages the same.
bool is_known_group(std::string_view rest) {
  for (const std::string_view known : {":", "=", "!", "<=", "<!", ">", "i:", "i)", "-i:", "-i)"})
    if (rest.starts_with(known)) return true;
  return false;
}

// Oniguruma's sets of characters, as they stand in a class of PCRE2, which takes others for \w, \s and these
// names. They begin and end with an escape, so that a hyphen beside them is refused in both.
constexpr std::string_view kWord =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}"
    "\\x{1f170}-\\x{1f189}\\p{Pc}";
constexpr std::string_view kSpace = "\\p{Z}\\t-\\r\\x{85}\\p{Z}";
// Powers and fractions of Latin-1 are letters too to \w and \b outside of a class.
constexpr std::string_view kLoneOnly = "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";

struct NamedSet {
  std::string_view name, set;
};
constexpr NamedSet kNamedSets[] = {{"alnum", "\\p{Alphabetic}\\p{Nd}"},
                                   {"alpha", "\\p{Alphabetic}"},
                                   {"ascii", "[:ascii:]"},
                                   {"blank", "\\p{Zs}\\t\\p{Zs}"},
                                   {"cntrl", "\\p{Cc}"},
                                   {"digit", "\\p{Nd}"},
                                   {"graph", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}"},
                                   {"lower", "\\p{Lowercase}"},
                                   {"print", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}\\p{Cf}\\p{Co}"},
                                   {"punct", "\\p{P}\\p{S}"},
                                   {"space", kSpace},
                                   {"upper", "\\p{Uppercase}"},
                                   {"word", kWord},
                                   {"xdigit", "[:xdigit:]"}};

class Translator {
 public:
  explicit Translator(std::string_view expression) : expression_(expression) {}

  std::string run() {
    for (; at_ < expression_.size(); ++at_) {
      const char c = expression_[at_];
      const std::string_view rest = expression_.substr(at_);
      if (rest.starts_with("(*") || (rest.starts_with("(?") && !is_known_group(rest.substr(2))))
        refuse("the group " + std::string(rest.substr(0, 4)), at_, expression_);
      if (c == '{') check_repetition(rest);
      if (c == '[') {
        read_class();
      } else if (c == '\\') {
        out_ += lone_escape();
      } else {
        out_ += c;
      }
    }
    return out_;
  }

 private:
  // {,n} is text to PCRE2 before version 10.43, + behind } takes nothing back there, and {n}? is {n}.
  void check_repetition(std::string_view rest) const {
    const size_t end = rest.find('}');
    if (end == std::string_view::npos || end == 1 || rest.find_first_not_of("0123456789,", 1) != end) return;
    const bool exact = rest.substr(0, end).find(',') == std::string_view::npos;
    const char behind = rest.size() > end + 1 ? rest[end + 1] : '\0';
    if (rest[1] == ',' || behind == '+' || (behind == '?' && exact))
      refuse("the repetition " + std::string(rest.substr(0, end + 2)), at_, expression_);
  }

  char next() const { return at_ + 1 < expression_.size() ? expression_[at_ + 1] : '\0'; }

  std::string lone_escape() {
    const std::string set = std::string(kLoneOnly).append(kWord), word = "[" + set + "]";
    const std::string behind = "(?<=" + word + ")", not_behind = "(?<!" + word + ")";
    const std::string before = "(?=" + word + ")", not_before = "(?!" + word + ")";
    std::string out;
    switch (next()) {
      case 'w':
        out = word;
        break;
      case 'W':
        out = "[^" + set + "]";
        break;
      case 's':
        out.append("[").append(kSpace).append("]");
        break;
      case 'S':
        out.append("[^").append(kSpace).append("]");
        break;
      case 'b':
        out = "(?:" + behind + not_before + "|" + not_behind + before + ")";
        break;
      case 'B':
        out = "(?:" + behind + before + "|" + not_behind + not_before + ")";
        break;
      case 'D':
        out = "[^\\p{Nd}]";
        break;
      default: {
        // Version 10.42 takes the rest of one property for disjoint with the rest of another one, but for
        // those in classes.
        out = escape();
        const bool rest_of_it = out.starts_with("\\P{");
        return rest_of_it ? "[^\\p" + out.substr(2) + "]" : out;
      }
    }
    ++at_;
    return out;
  }

  // An escape that is the same in both, or another for it; at_ comes to stand on its last byte.
  std::string escape() {
    const std::string_view rest = expression_.substr(at_);
    const char letter = next();
    if (letter == 'u') {
      if (rest.size() < 6) refuse("a short \\u", at_, expression_);
      at_ += 5;
      return "\\x{" + std::string(rest.substr(2, 4)) + "}";
    }
    if (letter == 'p' || letter == 'P') return property();
    // \h is a hexadecimal digit there and a space here.
    constexpr std::string_view kSame = "dDrntfxbAzZ";
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if ((is_letter && kSame.find(letter) == std::string_view::npos) || (letter >= '0' && letter <= '9'))
      refuse("the escape \\" + std::string(1, letter), at_, expression_);
    if (letter == '\0') return "\\";  // PCRE2 complains
    ++at_;
    return std::string(rest.substr(0, 2));
  }

  std::string property() {
    const std::string_view rest = expression_.substr(at_);
    const size_t end = rest.find('}');
    if (rest.substr(2, 1) != "{" || end == std::string_view::npos)
      refuse("a " + std::string(rest.substr(0, 2)) + " without {name}", at_, expression_);
    std::string_view name = rest.substr(3, end - 3);
    const bool turned = name.starts_with('^');
    if (turned) name.remove_prefix(1);
    at_ += end;
    return ((rest[1] == 'P') != turned ? "\\P{" : "\\p{") +
           std::string(pcre_has_script(name) ? "sc:" : "").append(name).append("}");
  }

  // A class cannot hold the rest of a set of several parts: such rests stand beside it.
  void add_set(std::string_view set, bool rest_of_it) {
    if (rest_of_it) {
      beside_.append(beside_.empty() ? "[^" : "|[^").append(set).append("]");
    } else {
      inside_ += set;
    }
  }

  void read_class() {
    inside_.clear();
    beside_.clear();
    const size_t start = at_;
    const bool negated = next() == '^';
    at_ += negated ? 2 : 1;
    for (bool first = true;; ++at_, first = false) {
      if (at_ >= expression_.size())
        fail(ErrorKind::Format, "pattern", "the class at byte ", start, " of ", expression_, " has no end");
      const std::string_view rest = expression_.substr(at_);
      const char c = rest[0];
      if (c == ']' && !first) break;
      if (c == '\\') {
        add_escape();
      } else if (rest.starts_with("[:")) {
        add_named_set(rest);
      } else if (c == '[' || rest.starts_with("&&")) {
        refuse("a class inside a class", at_, expression_);
      } else {
        if (c == ']' || c == '^') inside_ += '\\';  // they stand for themselves
        inside_ += c;
      }
    }
    const std::string head = negated && beside_.empty() ? "[^" : "[";
    if (!inside_.empty()) inside_ = head + inside_ + "]";
    if (beside_.empty()) {
      out_ += inside_;
      return;
    }
    if (!inside_.empty()) inside_ += "|";
    out_.append(negated ? "(?:(?!" : "(?:").append(inside_).append(beside_);
    out_ += negated ? ")\\p{Any})" : ")";
  }

  void add_escape() {
    const char letter = next();
    if (letter == 'w' || letter == 'W' || letter == 's' || letter == 'S') {
      ++at_;
      add_set(letter == 'w' || letter == 'W' ? kWord : kSpace, letter == 'W' || letter == 'S');
    } else {
      inside_ += escape();
    }
  }

  // [:name:] or [:^name:]
  void add_named_set(std::string_view rest) {
    const size_t end = rest.find(":]");
    if (end == std::string_view::npos) refuse("a [: without :]", at_, expression_);
    std::string_view name = rest.substr(2, end - 2);
    const bool turned = name.starts_with('^');
    if (turned) name.remove_prefix(1);
    const NamedSet* found = std::ranges::find(kNamedSets, name, &NamedSet::name);
    // Only there do they take both cases where case does not count.
    const bool cased = (name == "upper" || name == "lower") && expression_.find("(?i") != std::string::npos;
    if (found == std::end(kNamedSets) || cased)
      refuse("the class " + std::string(rest.substr(0, end + 2)), at_, expression_);
    add_set(found->set, turned);
    at_ += end + 1;
  }

  std::string_view expression_;
  size_t at_ = 0;
  std::string out_, inside_, beside_;
};

}  // namespace

std::string to_pcre(std::string_view expression) { return Translator(expression).run(); }

}  // namespace beeswax::text
