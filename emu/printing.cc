// SPDX-License-Identifier: Apache-2.0
#include "emu/printing.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

namespace emu {
namespace {

// Longer fields would only fill memory: the arguments come from a kernel that may be wrong.
constexpr int kWidest = 1 << 16;

class Arguments {
 public:
  explicit Arguments(std::span<const std::byte> data) : rest_(data) {}

  std::optional<uint64_t> number() {
    if (rest_.size() < sizeof(uint64_t)) return {};
    uint64_t value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::optional<std::string> text() {
    const auto* start = reinterpret_cast<const char*>(rest_.data());
    const auto* end = rest_.empty() ? nullptr : static_cast<const char*>(std::memchr(start, 0, rest_.size()));
    if (end == nullptr) return {};
    const size_t room = (static_cast<size_t>(end - start) + 8) / 8 * 8;
    rest_ = rest_.subspan(std::min(room, rest_.size()));
    return std::string(start, end);
  }

 private:
  std::span<const std::byte> rest_;
};

enum class Length { Char, Short, Int, Long };

/// One conversion of a format string: what stands between % and its letter.
struct Conversion {
  std::string flags;
  int width = 0, precision = -1;
  Length length = Length::Int;
  char letter = 0;
};

template <class Value>
void append(std::string& text, const Conversion& c, const char* type, Value value) {
  std::string pattern = "%" + c.flags;
  if (c.width > 0) pattern += std::to_string(c.width);
  if (c.precision >= 0) pattern += "." + std::to_string(c.precision);
  pattern += type;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int size = std::snprintf(nullptr, 0, pattern.c_str(), value);
  if (size <= 0) return;
  const size_t before = text.size();
  text.resize(before + static_cast<size_t>(size) + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  std::snprintf(text.data() + before, static_cast<size_t>(size) + 1, pattern.c_str(), value);
  text.pop_back();
}

class Printer {
 public:
  Printer(std::string_view format, std::span<const std::byte> data) : format_(format), arguments_(data) {}

  std::string run() {
    while (at_ < format_.size()) {
      const size_t percent = std::min(format_.find('%', at_), format_.size());
      text_ += format_.substr(at_, percent - at_);
      at_ = percent;
      if (at_ < format_.size() && !convert()) break;
    }
    return std::move(text_);
  }

 private:
  char next() { return at_ < format_.size() ? format_[at_++] : '\0'; }
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  /// A number or a star, whose argument comes first. False where the argument is missing.
  bool read_number(int& value) {
    if (peek() == '*') {
      ++at_;
      const auto argument = arguments_.number();
      if (!argument) return false;
      value = static_cast<int>(*argument);
    } else {
      value = 0;
      while (peek() >= '0' && peek() <= '9') value = std::min(value * 10 + (next() - '0'), kWidest);
    }
    value = std::clamp(value, -kWidest, kWidest);
    return true;
  }
  Length read_length() {
    Length length = Length::Int;
    for (;; ++at_) {
      switch (peek()) {
        case 'h':
          length = length == Length::Short ? Length::Char : Length::Short;
          break;
        case 'l':
        case 'j':
        case 'z':
        case 't':
          length = Length::Long;
          break;
        case 'L':  // long double is double on a GPU
          break;
        default:
          return length;
      }
    }
  }

  bool convert() {
    const size_t start = at_++;
    Conversion c;
    while (peek() != '\0' && std::strchr("-+ #0'", peek()) != nullptr) c.flags += next();
    if (!read_number(c.width)) return false;
    if (c.width < 0) {
      c.width = -c.width;
      c.flags += '-';
    }
    if (peek() == '.') {
      ++at_;
      if (!read_number(c.precision)) return false;
    }
    c.length = read_length();
    c.letter = next();
    switch (c.letter) {
      case '%':
        text_ += '%';
        return true;
      case 's':
        return string(c);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
      case 'c':
      case 'p':
      case 'n':
        return integer(c);
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return real(c);
      default:  // no conversion: it stands for itself
        text_ += format_.substr(start, at_ - start);
        return true;
    }
  }

  bool string(const Conversion& c) {
    const auto value = arguments_.text();
    if (value) append(text_, c, "s", value->c_str());
    return value.has_value();
  }
  bool real(const Conversion& c) {
    const auto bits = arguments_.number();
    if (!bits) return false;
    double value;
    std::memcpy(&value, &*bits, sizeof value);
    const char type[] = {c.letter, '\0'};
    append(text_, c, type, value);
    return true;
  }
  bool integer(const Conversion& c) {
    const auto argument = arguments_.number();
    if (!argument) return false;
    const uint64_t bits = *argument;
    if (c.letter == 'n') return true;
    if (c.letter == 'c') {
      append(text_, c, "c", static_cast<int>(bits));
    } else if (c.letter == 'p') {
      append(text_, c, "p", reinterpret_cast<const void*>(bits));
    } else {
      const bool is_signed = c.letter == 'd' || c.letter == 'i';
      const int spare = c.length == Length::Char ? 56 : c.length == Length::Short ? 48 : 32;
      uint64_t value = bits;
      if (c.length != Length::Long) {
        value <<= spare;
        value = is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> spare) : value >> spare;
      }
      const char type[] = {'l', 'l', c.letter, '\0'};
      append(text_, c, type, static_cast<unsigned long long>(value));
    }
    return true;
  }

  std::string_view format_;
  Arguments arguments_;
  std::string text_;
  size_t at_ = 0;
};

// The first word of an entry of a buffer: whether it goes to standard error, whether a hash stands for the
// format, and its bytes, this word included.
constexpr uint32_t kToStderr = 1, kFormatByHash = 2;

}  // namespace

std::string print_text(std::string_view format, std::span<const std::byte> data) {
  return Printer(format, data).run();
}

std::vector<Printed> buffered_texts(std::span<const std::byte> entries,
                                    const std::map<uint64_t, std::string>& formats) {
  std::vector<Printed> texts;
  for (;;) {
    uint32_t head;
    if (entries.size() < sizeof head) return texts;
    std::memcpy(&head, entries.data(), sizeof head);
    const size_t bytes = head >> 2;
    if (bytes < sizeof head || bytes > entries.size()) return texts;
    const auto entry = entries.subspan(sizeof head, bytes - sizeof head);
    if (head & kFormatByHash) {
      uint64_t hash = 0;
      if (entry.size() < sizeof hash) return texts;
      std::memcpy(&hash, entry.data(), sizeof hash);
      const auto format = formats.find(hash);
      if (format == formats.end()) return texts;
      texts.push_back({(head & kToStderr) != 0, print_text(format->second, entry.subspan(sizeof hash))});
    } else {
      // The format stands before the arguments, as strings among them do.
      texts.push_back({(head & kToStderr) != 0, ""});
      const auto* start = reinterpret_cast<const char*>(entry.data());
      const size_t length = strnlen(start, entry.size());
      const size_t room = std::min(entry.size(), (length + 8) / 8 * 8);
      texts.back().text = print_text({start, length}, entry.subspan(room));
    }
    entries = entries.subspan(bytes);
  }
}

void print(const Printed& printed) {
  std::FILE* file = printed.to_stderr ? stderr : stdout;
  std::fwrite(printed.text.data(), 1, printed.text.size(), file);
  if (printed.to_stderr) std::fflush(file);
}

}  // namespace emu
