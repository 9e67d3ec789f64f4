// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/operand.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "emu/exec/text.h"

namespace emu::exec {
namespace {

struct Named {
  std::string_view name;
  uint16_t reg;
  uint8_t words;
};
constexpr Named kNamed[] = {
    {"vcc", kVcc, 2},
    {"vcc_lo", kVcc, 1},
    {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},
    {"exec_lo", kExec, 1},
    {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},
    {"src_scc", kScc, 1},
    {"scc", kScc, 1},
    {"src_shared_base", kSharedBase, 2},
    {"src_shared_limit", kSharedLimit, 2},
    {"src_private_base", kPrivateBase, 2},
    {"src_private_limit", kPrivateLimit, 2},
    {"flat_scratch", kFlatScratch, 2},
    {"flat_scratch_lo", kFlatScratch, 1},
    {"flat_scratch_hi", kFlatScratch + 1, 1},
    {"xnack_mask", kXnackMask, 2},
    {"xnack_mask_lo", kXnackMask, 1},
    {"xnack_mask_hi", kXnackMask + 1, 1},
    {"null", kNull, 2},
};

/// v5, v[2:3], s[0:1], ttmp9, a4, v3.h
bool parse_register(std::string_view text, Operand& operand) {
  for (const Named& named : kNamed)
    if (text == named.name) {
      operand.place = Place::Scalar;
      operand.reg = named.reg;
      operand.words = named.words;
      return true;
    }
  uint16_t base = 0;
  std::string_view rest;
  if (text.starts_with("ttmp")) {
    operand.place = Place::Scalar;
    base = kTtmp;
    rest = text.substr(4);
  } else if (text.starts_with('v') || text.starts_with('a')) {
    operand.place = Place::Vector;
    base = text[0] == 'a' ? 256 : 0;
    rest = text.substr(1);
  } else if (text.starts_with('s')) {
    operand.place = Place::Scalar;
    rest = text.substr(1);
  } else {
    return false;
  }
  if (rest.ends_with(".h")) operand.mods |= kHigh;
  if (rest.ends_with(".h") || rest.ends_with(".l")) rest.remove_suffix(2);
  unsigned first = 0, last = 0;
  if (rest.starts_with('[') && rest.ends_with(']')) {
    rest = rest.substr(1, rest.size() - 2);
    const size_t colon = rest.find(':');
    const std::string_view low = rest.substr(0, colon),
                           high = colon == std::string_view::npos ? low : rest.substr(colon + 1);
    const auto a = parse_integer(low), b = parse_integer(high);
    if (!a || !b || *a < 0 || *b < *a) return false;
    first = unsigned(*a);
    last = unsigned(*b);
  } else {
    const auto number = parse_integer(rest);
    if (!number || *number < 0) return false;
    first = last = unsigned(*number);
  }
  if (last >= (operand.place == Place::Vector ? 256u : base ? 16u : 106u)) return false;
  operand.reg = uint16_t(base + first);
  operand.words = uint8_t(last - first + 1);
  return true;
}

uint16_t half_of(double x) {
  // Inline constants are exact halves, but for 1/(2 pi).
  int e = 0;
  const double m = std::frexp(std::fabs(x), &e);
  if (x == 0) return 0;
  return uint16_t((x < 0 ? 0x8000 : 0) | (e + 14) << 10 | (int(std::nearbyint(m * 2048)) - 1024));
}

}  // namespace

bool parse_operand(std::string_view text, Operand& operand) {
  const auto inside = [&](size_t prefix) { text = text.substr(prefix, text.size() - prefix - 1); };
  if (text.starts_with("sext(") && text.ends_with(')')) {
    operand.mods |= kSext;
    inside(5);
  }
  if (text.starts_with("neg(") && text.ends_with(')')) {
    operand.mods |= kNeg;
    inside(4);
  }
  if (text.size() > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9')) {
    operand.mods |= kNeg;
    text.remove_prefix(1);
  }
  if (text.size() > 2 && text[0] == '|' && text.back() == '|') {
    operand.mods |= kAbs;
    inside(1);
  }
  if (text.starts_with("abs(") && text.ends_with(')')) {
    operand.mods |= kAbs;
    inside(4);
  }
  if (text.empty()) return false;
  if (text == "off") return true;
  const char c = text[0];
  if ((c >= '0' && c <= '9') || c == '-') {
    operand.place = Place::Constant;
    operand.constant = text;
    return true;
  }
  return parse_register(text, operand);
}

bool constant_bits(std::string_view text, Type type, uint64_t& bits) {
  const bool wide = type == Type::F64 || type == Type::U64 || type == Type::I64 || type == Type::B64;
  if (const auto integer = parse_integer(text)) {
    bits = uint64_t(*integer);
    // A hexadecimal literal has 32 bits: the upper ones of a double, sign-extended for a signed integer.
    if (text.starts_with("0x") && wide) {
      if (type == Type::F64 && *integer <= 0xffffffff) bits <<= 32;
      if (type == Type::I64) bits = uint64_t(int64_t(int32_t(bits)));
    }
    if (!wide && type != Type::Wide && type != Type::Mask && type != Type::PackF32) bits = uint32_t(bits);
    return true;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (type == Type::F64 || type == Type::B64 || type == Type::U64 || type == Type::I64)
    bits = std::bit_cast<uint64_t>(value);
  else if (type == Type::F16 || type == Type::PackF16 || type == Type::U16 || type == Type::I16)
    bits = half_of(value);
  else if (type == Type::PackBf16)
    bits = std::bit_cast<uint32_t>(float(value)) >> 16;
  else
    bits = std::bit_cast<uint32_t>(float(value));
  return true;
}

}  // namespace emu::exec
