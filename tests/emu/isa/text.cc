// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/text.h"

#include <cctype>
#include <map>
#include <set>

namespace emu::isa {
namespace {

struct Token {
  enum class Kind { Name, Number, Prefix, Mark, End } kind = Kind::End;
  std::string text;
  Value value;
  bool hexadecimal = false;
};

/// "f32" -> Float, 32. False where the word is no type.
bool type_of(const std::string& word, Base& base, int& width) {
  static const std::pair<const char*, Base> kNames[] = {{"bf", Base::Bfloat}, {"fp", Base::Fp8},
                                                        {"f", Base::Float},   {"u", Base::Unsigned},
                                                        {"i", Base::Signed},  {"b", Base::Bits}};
  for (const auto& [name, kind] : kNames) {
    const std::string prefix = name;
    if (!word.starts_with(prefix) || word.size() == prefix.size()) continue;
    if (word.find_first_not_of("0123456789", prefix.size()) != std::string::npos) continue;
    width = std::stoi(word.substr(prefix.size()));
    base = kind == Base::Bfloat && width == 8 ? Base::Bf8 : kind;
    return true;
  }
  return false;
}
Base base_of(const std::string& letters) {
  if (letters == "F") return Base::Float;
  if (letters == "BF") return Base::Bfloat;
  if (letters == "U") return Base::Unsigned;
  if (letters == "I") return Base::Signed;
  if (letters == "B") return Base::Bits;
  throw TextError("type letter " + letters);
}

class Lexer {
 public:
  explicit Lexer(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text_ += line.substr(0, line.find("//")) + "\n";
  }
  std::vector<Token> all() {
    std::vector<Token> tokens;
    for (;;) {
      tokens.push_back(next());
      if (tokens.back().kind == Token::Kind::End) return tokens;
    }
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  static bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool digit(char c) { return c >= '0' && c <= '9'; }

  Token next() {
    while (std::isspace(static_cast<unsigned char>(peek())) != 0) ++at_;
    Token t;
    if (peek() == '\0') return t;
    if (digit(peek())) return number();
    if (word(peek())) {
      t.kind = Token::Kind::Name;
      while (word(peek())) t.text += text_[at_++];
      return t;
    }
    t.kind = Token::Kind::Mark;
    for (const char* mark :
         {"**", "<<", ">>", "<=", ">=", "==", "!=", "<>", "&&", "||", "+=", "-=", "|=", "+:"})
      if (text_.compare(at_, 2, mark) == 0) {
        t.text = mark;
        at_ += 2;
        return t;
      }
    t.text = text_[at_++];
    if (std::string("+-*/&|^~!<>?:;,.=(){}[]").find(t.text) == std::string::npos)
      throw TextError("character " + t.text);
    return t;
  }
  Token number() {
    // A width before an apostrophe belongs to the number, the type or the cast after it.
    size_t digits = 0;
    while (digit(peek(digits))) ++digits;
    int width = 0;
    if (peek(digits) == '\'') {
      width = std::stoi(text_.substr(at_, digits));
      at_ += digits + 1;
      if (!digit(peek())) {
        Token t;
        t.kind = Token::Kind::Prefix;
        while (word(peek())) t.text += text_[at_++];
        t.value = make(base_of(t.text), width, 0);
        t.value.width = width;
        return t;
      }
    }
    Token t;
    t.kind = Token::Kind::Number;
    u128 value = 0;
    if (peek() == '0' && peek(1) == 'x') {
      t.hexadecimal = true;
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek())) != 0)
        value = value * 16 + u128(unsigned(std::stoi(std::string(1, text_[at_++]), nullptr, 16)));
    } else {
      while (digit(peek())) value = value * 10 + u128(unsigned(text_[at_++] - '0'));
    }
    if (!t.hexadecimal && peek() == '.' && digit(peek(1))) {
      ++at_;
      u128 scale = 1;
      while (digit(peek())) {
        value = value * 10 + u128(unsigned(text_[at_++] - '0'));
        scale *= 10;
      }
      int bits = width != 0 ? width : 64;
      if (peek() == 'F') {
        ++at_;
        bits = 32;
      }
      const Number n = divide(integer(false, value), integer(false, scale));
      t.value = from_number(n, Base::Float, bits, Rounding::NearestEven);
      return t;
    }
    bool is_unsigned = false;
    int bits = width != 0 ? width : 32;
    while (peek() == 'U' || peek() == 'L') {
      if (peek() == 'U') is_unsigned = true;
      if (peek() == 'L') bits = 64;
      ++at_;
    }
    if (t.hexadecimal && bits == 32 && width == 0 && value > ones(32)) bits = 64;
    t.value = make(is_unsigned                   ? Base::Unsigned
                   : width != 0 && t.hexadecimal ? Base::Bits
                                                 : Base::Signed,
                   bits, value);
    return t;
  }

  std::string text_;
  size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Tree program() {
    Tree block = statements();
    if (now().kind != Token::Kind::End) fail("a statement");
    return block;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& after(size_t n = 1) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  bool is(const char* text) const {
    return (now().kind == Token::Kind::Mark || now().kind == Token::Kind::Name) && now().text == text;
  }
  bool take(const char* text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    std::string around;
    for (size_t i = at_ < 4 ? 0 : at_ - 4; i < std::min(at_ + 4, tokens_.size()); ++i)
      around += (i == at_ ? " >>" : " ") + tokens_[i].text;
    throw TextError("expected " + wanted + " at" + around);
  }
  void need(const char* text) {
    if (!take(text)) fail(text);
  }
  std::string name() {
    if (now().kind != Token::Kind::Name) fail("a name");
    return tokens_[at_++].text;
  }
  static Tree node(Kind kind, std::string name = "") {
    Tree n = std::make_unique<Node>();
    n->kind = kind;
    n->name = std::move(name);
    if (!n->name.empty()) n->symbol = symbol_of(n->name);
    return n;
  }

  bool ends() const {
    static const std::set<std::string> kEnds = {"endif", "endfor", "else", "elsif"};
    return now().kind == Token::Kind::End || is(")") ||
           (now().kind == Token::Kind::Name && kEnds.contains(now().text));
  }
  Tree statements() {
    Tree block = node(Kind::Block);
    for (;;) {
      while (take(";")) {
      }
      if (ends()) return block;
      block->kids.push_back(statement());
      if (!is(";") && !ends()) fail("; or the end of a block");
    }
  }
  Tree statement() {
    if (take("if")) {
      Tree n = node(Kind::If);
      do {
        n->kids.push_back(expression());
        need("then");
        n->kids.push_back(statements());
      } while (take("elsif"));
      if (take("else")) n->kids.push_back(statements());
      need("endif");
      return n;
    }
    if (take("for")) {
      Tree n = node(Kind::For, name());
      need("in");
      n->kids.push_back(binary(0));
      need(":");
      n->kids.push_back(expression());
      need("do");
      n->kids.push_back(statements());
      need("endfor");
      return n;
    }
    if (take("declare")) {
      Tree n = node(Kind::Declare, name());
      need(":");
      if (now().kind != Token::Kind::Prefix) fail("a type");
      n->base = now().value.base;
      n->width = now().value.width;
      ++at_;
      if (take("[")) {
        if (now().kind != Token::Kind::Number) fail("a count");
        n->count = int(tokens_[at_++].value.bits);
        need("]");
      }
      return n;
    }
    if (take("return")) {
      Tree n = node(Kind::Return);
      n->kids.push_back(expression());
      return n;
    }
    if (take("break")) return node(Kind::Break);
    Tree target = expression();
    for (const char* mark : {"=", "+=", "-=", "|="}) {
      if (!is(mark)) continue;
      ++at_;
      if (std::string(mark) == "=" && take("lambda")) return lambda(target->name);
      Tree n = node(Kind::Assign, mark);
      n->kids.push_back(std::move(target));
      n->kids.push_back(statement());  // an assignment is a value too
      return n;
    }
    return target;
  }
  Tree lambda(const std::string& its_name) {
    Tree n = node(Kind::Lambda, its_name);
    need("(");
    do n->parameters.push_back(symbol_of(name()));
    while (take(","));
    need(")");
    need("(");
    n->kids.push_back(statements());
    need(")");
    return n;
  }

  Tree expression() {
    Tree first = binary(0);
    if (!take("?")) return first;
    Tree n = node(Kind::Choice);
    n->kids.push_back(std::move(first));
    n->kids.push_back(expression());
    need(":");
    n->kids.push_back(expression());
    return n;
  }
  Tree binary(size_t level) {
    static const std::vector<std::vector<const char*>> kLevels = {
        {"||"},       {"&&"},     {"|"},      {"^"}, {"&"}, {"==", "!=", "<>"}, {"<", "<=", ">", ">="},
        {"<<", ">>"}, {"+", "-"}, {"*", "/"}, {"**"}};
    if (level == kLevels.size()) return unary();
    Tree left = binary(level + 1);
    for (bool more = true; more;) {
      more = false;
      for (const char* mark : kLevels[level]) {
        if (!is(mark)) continue;
        ++at_;
        Tree n = node(Kind::Binary, mark);
        n->kids.push_back(std::move(left));
        n->kids.push_back(binary(level + 1));
        left = std::move(n);
        more = true;
        break;
      }
    }
    return left;
  }
  Tree unary() {
    for (const char* mark : {"-", "!", "~", "+"})
      if (take(mark)) {
        Tree n = node(Kind::Unary, mark);
        n->kids.push_back(unary());
        return n;
      }
    return postfix(primary());
  }
  Tree primary() {
    const Token& t = now();
    if (t.kind == Token::Kind::Number) {
      Tree n = node(Kind::Literal);
      n->value = t.value;
      n->hexadecimal = t.hexadecimal;
      ++at_;
      return n;
    }
    if (t.kind == Token::Kind::Prefix) {
      Tree n = node(Kind::Cast);
      n->base = t.value.base;
      n->width = t.value.width;
      ++at_;
      need("(");
      n->kids.push_back(expression());
      need(")");
      return n;
    }
    if (take("(")) {
      Tree n = expression();
      need(")");
      return n;
    }
    if (take("{")) {
      Tree n = node(Kind::Join);
      do n->kids.push_back(expression());
      while (take(","));
      need("}");
      return n;
    }
    std::string word = name();
    if (take("(")) {
      Tree n = node(Kind::Call, word);
      if (!is(")")) {
        do n->kids.push_back(expression());
        while (take(","));
      }
      need(")");
      return n;
    }
    // Fields of registers (WAVE_MODE.IEEE) are part of the name; types are views.
    Base base;
    int width;
    while (is(".") && after().kind == Token::Kind::Name && !type_of(after().text, base, width)) {
      word += "." + after().text;
      at_ += 2;
    }
    return node(Kind::Name, word);
  }
  Tree postfix(Tree n) {
    for (;;) {
      if (take(".")) {
        Tree view = node(Kind::View);
        const std::string type = name();
        if (!type_of(type, view->base, view->width)) fail("a type");
        view->kids.push_back(std::move(n));
        n = std::move(view);
      } else if (take("[")) {
        Tree first = expression();
        Tree index = node(Kind::Index);
        index->kids.push_back(std::move(n));
        index->kids.push_back(std::move(first));
        if (is(":") || is("+:")) {
          index->kind = is(":") ? Kind::Slice : Kind::Part;
          ++at_;
          index->kids.push_back(expression());
        }
        need("]");
        n = std::move(index);
      } else {
        return n;
      }
    }
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

int symbol_of(const std::string& name) {
  static std::map<std::string, int> known;
  return known.emplace(name, int(known.size())).first->second;
}

Tree parse(const std::vector<std::string>& lines) { return Parser(Lexer(lines).all()).program(); }

}  // namespace emu::isa
