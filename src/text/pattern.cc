// SPDX-License-Identifier: Apache-2.0
// Compiled to a graph of nodes, each of which knows what follows it; matching walks the graph. Repetition of
// one character, which is nearly all of what these expressions do, is a loop and not a walk.
#include "text/pattern.h"

#include <algorithm>

#include "core/fail.h"
#include "text/pattern_class.h"
#include "text/utf8.h"

namespace beeswax::text {

enum class PatternKind : uint8_t { End, Class, Either, Repeat, Ahead, Begin, Finish, Join };

/// Repeat: `body` min to max times, ended by a Join that leads back here. Ahead: `body` up to an End.
struct Pattern::Node {
  PatternKind kind = PatternKind::End;
  int32_t next = -1;
  PatternClass set;
  std::vector<int32_t> options;  // Either
  int32_t body = -1;
  uint32_t min = 0, max = 0;
  enum Mode : uint8_t { Greedy, Lazy, Possessive } mode = Greedy;
  bool negative = false;  // Ahead
};

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

namespace {
constexpr uint32_t kNoLimit = UINT32_MAX;
constexpr uint32_t kMostRepeats = 1000;
constexpr int kDeepest = 200;
}  // namespace

/// Recursive descent; builds the graph from the end, so that every node knows its follower.
class PatternParser {
 public:
  PatternParser(Pattern& pattern, std::string_view text) : out_(pattern), text_(text) {}

  void parse() {
    const int32_t end = add({});
    out_.root_ = alternation(end);
    if (at_ != text_.size()) broken("an unmatched )");
  }

 private:
  using Node = Pattern::Node;

  // An element waits for its follower until the rest of its sequence has been read.
  struct Element {
    enum { Single, Group, Look, Begin, Finish } what;
    PatternClass set;
    size_t from = 0;  // of a group: where its text begins
    bool ignore_case = false, negative = false;
    uint32_t min = 1, max = 1;
    Node::Mode mode = Node::Greedy;
  };

  int32_t add(Node node) {
    out_.nodes_.push_back(std::move(node));
    return static_cast<int32_t>(out_.nodes_.size() - 1);
  }
  Node& node(int32_t i) { return out_.nodes_[static_cast<size_t>(i)]; }

  int32_t alternation(int32_t next) {
    if (++depth_ > kDeepest) broken("groups nested deeper than " + std::to_string(kDeepest));
    std::vector<int32_t> options = {sequence(next)};
    while (peek('|')) {
      ++at_;
      options.push_back(sequence(next));
    }
    --depth_;
    if (options.size() == 1) return options[0];
    Node either;
    either.kind = PatternKind::Either;
    either.options = std::move(options);
    return add(std::move(either));
  }

  int32_t sequence(int32_t next) {
    std::vector<Element> elements;
    while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') elements.push_back(element());
    const size_t after = at_;
    for (size_t i = elements.size(); i-- > 0;) next = build(elements[i], next);
    at_ = after;
    return next;
  }

  Element element() {
    Element e{};
    e.ignore_case = ignore_case_;
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      e.what = Element::Group;
      if (text_.substr(at_).starts_with("?:")) {
        at_ += 2;
      } else if (text_.substr(at_).starts_with("?i:")) {
        at_ += 3;
        e.ignore_case = true;
      } else if (text_.substr(at_).starts_with("?=") || text_.substr(at_).starts_with("?!")) {
        e.what = Element::Look;
        e.negative = text_[at_ + 1] == '!';
        at_ += 2;
      } else if (peek('?')) {
        refuse("the group (?" + std::string(text_.substr(at_ + 1, 2)));
      }
      e.from = at_;
      skip_group();
    } else if (c == '^' || c == '$') {
      ++at_;
      e.what = c == '^' ? Element::Begin : Element::Finish;
    } else {
      e.what = Element::Single;
      e.set = PatternClass::parse(text_, at_, ignore_case_);
    }
    quantifier(e);
    return e;
  }

  // Moves behind the ) that ends the group, whose inside is read again when its follower is known.
  void skip_group() {
    for (int open = 1; open > 0;) {
      if (at_ >= text_.size()) broken("a group without )");
      if (text_[at_] == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (text_[at_] == '[') {
        static_cast<void>(PatternClass::parse(text_, at_, false));
      } else {
        open += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
        ++at_;
      }
    }
  }

  void quantifier(Element& e) {
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '?' || c == '*' || c == '+') {
      ++at_;
      e.min = c == '+' ? 1 : 0;
      e.max = c == '?' ? 1 : kNoLimit;
    } else if (c == '{') {
      ++at_;
      e.min = e.max = count();
      if (peek(',')) {
        ++at_;
        e.max = peek('}') ? kNoLimit : count();
      }
      if (!peek('}') || e.max < e.min) broken("a {} that counts nothing");
      ++at_;
    } else {
      return;
    }
    if (peek('?')) {
      ++at_;
      e.mode = Node::Lazy;
    } else if (peek('+')) {
      ++at_;
      e.mode = Node::Possessive;
    }
  }

  uint32_t count() {
    uint32_t value = 0;
    const size_t from = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<uint32_t>(text_[at_] - '0');
      if (value > kMostRepeats) broken("more than " + std::to_string(kMostRepeats) + " repetitions");
    }
    if (at_ == from) broken("a {} without a number");
    return value;
  }

  int32_t build(const Element& e, int32_t next) {
    const bool once = e.min == 1 && e.max == 1;
    if (e.what == Element::Begin || e.what == Element::Finish) {
      Node anchor;
      anchor.kind = e.what == Element::Begin ? PatternKind::Begin : PatternKind::Finish;
      anchor.next = next;
      return add(std::move(anchor));
    }
    if (e.what == Element::Look) {
      Node look;
      look.kind = PatternKind::Ahead;
      look.negative = e.negative;
      look.next = next;
      look.body = inside(e, add({}));
      return add(std::move(look));
    }
    if (once && e.what == Element::Group) return inside(e, next);
    Node one;
    one.kind = PatternKind::Class;
    one.set = e.set;
    one.next = next;
    if (once) return add(std::move(one));
    Node repeat;
    repeat.kind = PatternKind::Repeat;
    repeat.min = e.min;
    repeat.max = e.max;
    repeat.mode = e.mode;
    repeat.next = next;
    const int32_t at = add(std::move(repeat));
    Node join;
    join.kind = PatternKind::Join;
    join.next = at;
    const int32_t back = add(std::move(join));
    if (e.what == Element::Group) {
      const int32_t body = inside(e, back);
      node(at).body = body;
    } else {
      one.next = back;
      const int32_t body = add(std::move(one));
      node(at).body = body;
    }
    return at;
  }

  int32_t inside(const Element& e, int32_t next) {
    const size_t saved = at_;
    const bool saved_case = ignore_case_;
    at_ = e.from;
    ignore_case_ = e.ignore_case;
    const int32_t first = alternation(next);
    at_ = saved;
    ignore_case_ = saved_case;
    return first;
  }

  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::Unsupported, "pattern", what, " at byte ", at_, " of ", text_, " is not understood");
  }
  [[noreturn]] void broken(const std::string& what) const {
    fail(ErrorKind::InvalidArgument, "pattern", what, " at byte ", at_, " of ", text_);
  }

  Pattern& out_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool ignore_case_ = false;
};

/// Walks the graph; nullopt where nothing matches.
class PatternMatcher {
 public:
  PatternMatcher(const Pattern& pattern, const std::vector<uint32_t>& text)
      : pattern_(pattern), text_(text) {}

  using End = std::optional<size_t>;

  // Repetitions under way: how often their body has matched, and where it last began.
  struct Round {
    int32_t repeat;
    uint32_t count;
    size_t began;
    const Round* outer;
  };

  End walk(int32_t index, size_t at, const Round* rounds) const {
    for (;;) {
      const Pattern::Node& n = pattern_.nodes_[static_cast<size_t>(index)];
      switch (n.kind) {
        case PatternKind::End:
          return at;
        case PatternKind::Class:
          if (at >= text_.size() || !n.set.holds(text_[at])) return std::nullopt;
          ++at;
          break;
        case PatternKind::Begin:
          if (at != 0) return std::nullopt;
          break;
        case PatternKind::Finish:
          if (at != text_.size()) return std::nullopt;
          break;
        case PatternKind::Ahead:
          if (walk(n.body, at, nullptr).has_value() == n.negative) return std::nullopt;
          break;
        case PatternKind::Either:
          for (const int32_t option : n.options)
            if (const End end = walk(option, at, rounds)) return end;
          return std::nullopt;
        case PatternKind::Repeat:
          return is_single(n) ? repeat_single(n, at, rounds) : again(index, n, at, 0, rounds);
        case PatternKind::Join:
          return joined(n, at, rounds);
      }
      index = n.next;
    }
  }

 private:
  bool is_single(const Pattern::Node& n) const {
    return pattern_.nodes_[static_cast<size_t>(n.body)].kind == PatternKind::Class &&
           pattern_.nodes_[static_cast<size_t>(pattern_.nodes_[static_cast<size_t>(n.body)].next)].kind ==
               PatternKind::Join;
  }

  End repeat_single(const Pattern::Node& n, size_t at, const Round* rounds) const {
    const PatternClass& set = pattern_.nodes_[static_cast<size_t>(n.body)].set;
    const size_t room = std::min<size_t>(n.max, text_.size() - at);
    size_t count = 0;
    const auto one_more = [&] { return count < room && set.holds(text_[at + count]); };
    if (n.mode == Pattern::Node::Lazy) {
      for (;; ++count) {
        if (count >= n.min)
          if (const End end = walk(n.next, at + count, rounds)) return end;
        if (!one_more()) return std::nullopt;
      }
    }
    while (one_more()) ++count;
    if (count < n.min) return std::nullopt;
    if (n.mode == Pattern::Node::Possessive) return walk(n.next, at + count, rounds);
    for (;; --count) {
      if (const End end = walk(n.next, at + count, rounds)) return end;
      if (count == n.min) return std::nullopt;
    }
  }

  // The body of a repetition once more, or what follows it.
  End again(int32_t index, const Pattern::Node& n, size_t at, uint32_t count, const Round* outer) const {
    if (n.mode == Pattern::Node::Possessive)
      fail(ErrorKind::Unsupported, "pattern", "possessive repetition of a group");
    const auto body = [&]() -> End {
      if (count >= n.max) return std::nullopt;
      const Round round{index, count, at, outer};
      return walk(n.body, at, &round);
    };
    if (count < n.min) return body();
    if (n.mode == Pattern::Node::Lazy) {
      if (const End end = walk(n.next, at, outer)) return end;
      return body();
    }
    if (const End end = body()) return end;
    return walk(n.next, at, outer);
  }

  End joined(const Pattern::Node& join, size_t at, const Round* rounds) const {
    const Round& round = *rounds;
    const Pattern::Node& repeat = pattern_.nodes_[static_cast<size_t>(join.next)];
    // A body that took nothing would go on for ever.
    if (at == round.began && round.count >= repeat.min) return walk(repeat.next, at, round.outer);
    return again(join.next, repeat, at, round.count + 1, round.outer);
  }

  const Pattern& pattern_;
  const std::vector<uint32_t>& text_;
};

Pattern::Pattern(std::string_view expression) { PatternParser(*this, expression).parse(); }

std::optional<size_t> Pattern::match(const std::vector<uint32_t>& text, size_t at) const {
  return PatternMatcher(*this, text).walk(root_, at, nullptr);
}

}  // namespace beeswax::text
