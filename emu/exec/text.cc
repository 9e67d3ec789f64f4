// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/text.h"

#include <charconv>

namespace emu::exec {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n'))
    text.remove_suffix(1);
  return text;
}

bool cut_suffix(std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.resize(name.size() - suffix.size());
  return true;
}

/// Parts at `separator` outside brackets, |x| counting as none.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.push_back(trim(text.substr(start)));
  return parts;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  bool negative = false;
  if (text.starts_with('-')) {
    negative = true;
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return negative ? -int64_t(value) : int64_t(value);
}

bool Text::has(std::string_view modifier) const {
  for (const std::string& m : modifiers)
    if (m == modifier) return true;
  return false;
}

std::optional<std::string_view> Text::value(std::string_view name) const {
  for (const std::string& m : modifiers)
    if (m.size() > name.size() && m.starts_with(name) && m[name.size()] == ':')
      return std::string_view(m).substr(name.size() + 1);
  return std::nullopt;
}

std::optional<int64_t> Text::number(std::string_view name) const {
  const auto text = value(name);
  return text ? parse_integer(*text) : std::nullopt;
}

std::vector<int> Text::list(std::string_view name) const {
  std::vector<int> numbers;
  const auto text = value(name);
  if (!text || !text->starts_with('[')) return numbers;
  for (std::string_view part : split(text->substr(1, text->size() - 2), ','))
    numbers.push_back(int(parse_integer(part).value_or(0)));
  return numbers;
}

Text parse_text(std::string_view line) {
  Text text;
  line = trim(line);
  const size_t gap = line.find_first_of(" \t");
  text.mnemonic = std::string(line.substr(0, gap));
  if (cut_suffix(text.mnemonic, "_dpp")) text.dpp = true;
  if (cut_suffix(text.mnemonic, "_sdwa")) text.sdwa = true;
  if (cut_suffix(text.mnemonic, "_e64")) text.e64 = true;
  if (cut_suffix(text.mnemonic, "_e32")) text.e32 = true;
  if (gap == std::string_view::npos) return text;
  const auto parts = split(trim(line.substr(gap)), ',');
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto words = split(parts[i], ' ');
    bool first = true;
    for (std::string_view word : words) {
      if (word.empty()) continue;
      if (first)
        text.operands.emplace_back(word);
      else
        text.modifiers.emplace_back(word);
      first = false;
    }
  }
  // Where DPP and SDWA are no names of their own (v_cmpx from gfx11 on), what stands behind the operands
  // tells.
  for (const std::string& m : text.modifiers) {
    const std::string_view name = std::string_view(m).substr(0, m.find(':'));
    text.dpp |=
        name == "quad_perm" || name == "dpp8" || name.starts_with("row_") || name.starts_with("wave_");
    text.sdwa |= name == "src0_sel" || name == "dst_sel";
  }
  return text;
}

}  // namespace emu::exec
