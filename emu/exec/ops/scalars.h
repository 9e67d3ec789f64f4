// SPDX-License-Identifier: Apache-2.0
// Scalar instructions from plain functions: salu<F>(). With<T> results set SCC, bool results set nothing
// else.
#pragma once
#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

struct SccBit {
  bool b;
};
template <>
inline constexpr Type kType<SccBit> = Type::Scc;

/// A denormal half as a zero of its sign, where MODE does not keep it.
EMU_FN uint32_t kept_half(uint32_t bits, uint32_t kept) {
  return kept || (bits & 0x7c00) != 0 ? bits : bits & 0x8000;
}
EMU_FN uint64_t scalar_bits(const Wave& w, const Source& s, bool wide) {
  if (s.place == Place::Constant) return s.value;
  return uint64_t(w.s[s.reg]) | (wide ? uint64_t(w.s[s.reg + 1]) << 32 : 0);
}
template <class T>
EMU_FN T scalar_value(const Wave& w, const Source& s) {
  const uint64_t bits = scalar_bits(w, s, sizeof(T) == 8);
  if constexpr (std::is_same_v<T, SccBit>)
    return {w.s[kScc] != 0};
  else if constexpr (std::is_same_v<T, Half>)
    return {half_value(kept_half(uint32_t(bits) & 0xffff, w.mode & 0x40))};
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(bits);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(uint32_t(bits));
  else
    return T(bits);
}
EMU_FN void write_scalar(Wave& w, unsigned dst, uint32_t value) { w.s[dst] = value; }
EMU_FN void write_scalar(Wave& w, unsigned dst, uint64_t value) {
  w.s[dst] = uint32_t(value);
  w.s[dst + 1] = uint32_t(value >> 32);
}

template <auto F, class Signature>
struct ScalarFunction;
template <auto F, class R, class... A>
struct ScalarFunction<F, R (*)(A...)> {
  using T = typename Unwrap<R>::type;
  template <size_t... I>
  EMU_FN const Op* call(Wave& w, const Op* op, std::index_sequence<I...>) {
    constexpr bool kFloating = kIsFloating<T> || (kIsFloating<A> || ...);
    // As with vectors: halves follow the fields of f64 and f16.
    constexpr bool kHalf =
        std::is_same_v<T, Half> || (std::is_same_v<T, bool> && (std::is_same_v<A, Half> || ...));
    const std::conditional_t<kFloating, FpScope<kHalf>, NoScope> scope(w);
    const R result = F(scalar_value<A>(w, op->src[I])...);
    if constexpr (std::is_same_v<R, bool>) {
      w.s[kScc] = result;
    } else {
      T value;
      if constexpr (Unwrap<R>::carries)
        value = result.value;
      else
        value = result;
      if constexpr (std::is_same_v<T, Half>)
        write_scalar(w, op->dst, kept_half(half_bits(value.f), w.mode & 0x80));
      else if constexpr (sizeof(T) == 8)
        write_scalar(w, op->dst, std::bit_cast<uint64_t>(value));
      else
        write_scalar(w, op->dst, std::bit_cast<uint32_t>(value));
      if constexpr (Unwrap<R>::carries) w.s[kScc] = result.bit;
    }
    return op + 1;
  }
  static const Op* run(Wave& w, const Op* op) { return call(w, op, std::index_sequence_for<A...>()); }
  static constexpr Row row(const char* name, unsigned flags) {
    Row r{};
    r.name = name;
    r.run = &run;
    r.form = Form::Scalar;
    r.cls = Class::Scalar;
    r.dst = std::is_same_v<R, bool> ? Type::None : kType<T>;
    constexpr Type kTypes[] = {kType<A>..., Type::None};
    unsigned n = 0;
    for (Type t : kTypes)
      if (t != Type::None && t != Type::Scc) r.src[n++] = t;
    r.flags = uint16_t(flags);
    return r;
  }
};
template <auto F>
constexpr Row salu(const char* name, unsigned flags = 0) {
  return ScalarFunction<F, decltype(+F)>::row(name, flags);
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
