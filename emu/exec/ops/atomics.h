// SPDX-License-Identifier: Apache-2.0
// Read-modify-write functions that memory and LDS share; each is one host atomic, or a loop around one.
#pragma once
#include <cmath>

#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// new = f(old, data, compare): the functions of a pair of values, which the CAS loop of `rmw` makes atomic.
template <class T>
EMU_FN T a_add(T old, T data, T) {
  return old + data;
}
template <class T>
EMU_FN T a_sub(T old, T data, T) {
  return old - data;
}
template <class T>
EMU_FN T a_rsub(T old, T data, T) {
  return data - old;
}
template <class T>
EMU_FN T a_min(T old, T data, T) {
  return data < old ? data : old;
}
template <class T>
EMU_FN T a_max(T old, T data, T) {
  return data > old ? data : old;
}
template <class T>
EMU_FN T a_and(T old, T data, T) {
  return old & data;
}
template <class T>
EMU_FN T a_or(T old, T data, T) {
  return old | data;
}
template <class T>
EMU_FN T a_xor(T old, T data, T) {
  return old ^ data;
}
template <class T>
EMU_FN T a_swap(T, T data, T) {
  return data;
}
template <class T>
EMU_FN T a_inc(T old, T data, T) {
  return old >= data ? T(0) : old + 1;
}
template <class T>
EMU_FN T a_dec(T old, T data, T) {
  return old == 0 || old > data ? data : old - 1;
}
template <class T>
EMU_FN T a_csub(T old, T data, T) {
  return old < data ? T(0) : old - data;
}
template <class T>
EMU_FN T a_cond_sub(T old, T data, T) {
  return old < data ? old : old - data;
}
template <class T>
EMU_FN T a_cmpswap(T old, T data, T compare) {
  return old == compare ? data : old;
}
template <class T>
EMU_FN T a_mskor(T old, T data, T more) {
  return (old & ~data) | more;
}
template <class T>
EMU_FN T a_wrap(T old, T data, T more) {
  return old >= data ? old - data : old + more;
}
// Floating minimum and maximum: a number wins over a NaN, -0 < +0.
template <class T>
EMU_FN T a_fmin(T old, T data, T) {
  if (old != old) return data;
  if (data != data) return old;
  return data < old || (data == old && std::signbit(data)) ? data : old;
}
template <class T>
EMU_FN T a_fmax(T old, T data, T) {
  if (old != old) return data;
  if (data != data) return old;
  return data > old || (data == old && !std::signbit(data)) ? data : old;
}
// gfx12's names: of two NaNs the new one is written, made quiet.
template <class T, T (*Other)(T, T, T)>
EMU_FN T of_numbers(T old, T data) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Bits kQuiet = Bits(1) << (sizeof(T) == 8 ? 51 : 22);
  if (old != old && data != data) return std::bit_cast<T>(Bits(std::bit_cast<Bits>(data) | kQuiet));
  return Other(old, data, T());
}
template <class T>
EMU_FN T a_min_num(T old, T data, T) {
  return of_numbers<T, a_fmin<T>>(old, data);
}
template <class T>
EMU_FN T a_max_num(T old, T data, T) {
  return of_numbers<T, a_fmax<T>>(old, data);
}
EMU_FN uint32_t two_halves(uint32_t a, uint32_t b) {
  const auto one = [](uint32_t x, uint32_t y) {
    return half_bits(half_value(x & 0xffff) + half_value(y & 0xffff));
  };
  return one(a, b) | one(a >> 16, b >> 16) << 16;
}
EMU_FN uint32_t bf16_bits(float f) {
  const uint32_t x = std::bit_cast<uint32_t>(f);
  if ((x & 0x7fffffff) > 0x7f800000) return x >> 16 | 0x40;
  return (x + 0x7fff + (x >> 16 & 1)) >> 16;
}
EMU_FN uint32_t two_bf16(uint32_t a, uint32_t b) {
  const auto one = [](uint32_t x, uint32_t y) {
    return bf16_bits(std::bit_cast<float>(x << 16) + std::bit_cast<float>(y << 16));
  };
  return one(a, b) | one(a >> 16, b >> 16) << 16;
}
EMU_FN uint32_t a_pk_add_f16(uint32_t old, uint32_t data, uint32_t) { return two_halves(old, data); }
EMU_FN uint32_t a_pk_add_bf16(uint32_t old, uint32_t data, uint32_t) { return two_bf16(old, data); }

/// Replaces *p by f(*p, data, compare); the old value.
template <class T, T (*F)(T, T, T)>
EMU_FN T rmw(void* p, T data, T compare) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  Bits* word = static_cast<Bits*>(p);
  Bits old = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    const Bits now = std::bit_cast<Bits>(F(std::bit_cast<T>(old), data, compare));
    if (__atomic_compare_exchange_n(word, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return std::bit_cast<T>(old);
  }
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
