// SPDX-License-Identifier: Apache-2.0
// Argument reduction for sin, cos, tan: x = quadrant pi/2 + r + low, |r| <= pi/4, `low` beyond r's last
// place, so that the pair is good to more digits than the result has, for every finite x. Small arguments
// subtract multiples of a three-part pi/2. Large ones multiply the integer significand by the window of
// 2/pi's binary digits that decides the quadrant and the fraction; digits of more weight give whole turns. A
// GPU branches; a CPU loop computes both and chooses, which vectorizes. Where a caller knows that all
// arguments are small, reduce_small alone gives the same bits.
#pragma once

#include "core/math/polynomials.h"

namespace beeswax::m {

/// Only the low two bits of the quadrant count.
template <Floating T>
struct Reduced {
  T r, low;
  Bits<T> quadrant;
};

/// The largest |x| that reduce_small takes.
template <Floating T>
BW_FN constexpr T reduce_limit() {
  return pick<T>(0x1p16f, 0x1p20);
}

template <Floating T>
BW_FN Reduced<T> reduce_small(T x) {
  const auto q = round_product<0>(x, pick<T>(0x1.45f306p-1f, 0x1.45f306dc9c883p-1));
  const T high = fma(q.value, pick<T>(-0x1.921fb6p0f, -0x1.921fb54442d18p0), x);  // exact
  const Pair<T> second = two_product(q.value, pick<T>(0x1.777a5cp-25f, -0x1.1a62633145c07p-54));
  const T r = high + second.high;
  // Exact: `high` is a multiple of the last place of second.high.
  const T error = (second.high - (r - high)) + second.low;
  const T low = fma(q.value, pick<T>(0x1.ee59dap-50f, 0x1.f1976b7ed8fbcp-110), error);
  return {r, low, q.raw};
}

/// A fraction of a quadrant as a pair, times pi/2, with the sign of x.
template <Floating T>
BW_FN Reduced<T> from_fraction(T x, Pair<T> f, Bits<T> quadrant) {
  const T half_pi = pick<T>(0x1.921fb6p0f, 0x1.921fb54442d18p0);
  const T half_pi_low = pick<T>(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);
  const Pair<T> product = two_product(f.high, half_pi);
  const Pair<T> r = fast_two_sum(product.high, product.low + fma(f.high, half_pi_low, f.low * half_pi));
  const bool negative = x < T(0);
  const Bits<T> sign = negative ? Fp<T>::kSign : Bits<T>(0);
  return {from_bits<T>(bits(r.high) ^ sign), from_bits<T>(bits(r.low) ^ sign),
          negative ? 0 - quadrant : quadrant};
}

/// For finite |x| >= 2^16.
BW_FN Reduced<float> reduce_large(float x) {
  // 2/pi after nine zeros, which stand for the digits of weight 2^8 to 2^0. Constants rather than an array:
  // the choice below is cheaper than loads from computed addresses.
  const uint32_t d0 = 0x00517cc1u, d1 = 0xb727220au, d2 = 0x94fe13abu, d3 = 0xe8fa9a6eu;
  const uint32_t d4 = 0xe06db14au, d5 = 0xcc9e21c8u, d6 = 0x20ff28b1u;
  const uint32_t raw = bits(x) & 0x7fffffffu;
  const uint32_t significand = (raw & 0x7fffffu) | 0x800000u;
  const uint32_t position = (raw >> 23) - 143;  // where the window of 96 digits begins
  const bool odd = (position & 32) != 0;
  const bool upper = (position & 64) != 0;
  const uint32_t e0 = odd ? d1 : d0, e1 = odd ? d2 : d1, e2 = odd ? d3 : d2;
  const uint32_t e3 = odd ? d4 : d3, e4 = odd ? d5 : d4, e5 = odd ? d6 : d5;
  const uint32_t w0 = upper ? e2 : e0, w1 = upper ? e3 : e1, w2 = upper ? e4 : e2, w3 = upper ? e5 : e3;
  const uint32_t shift = position & 31;
  const uint32_t back = shift ^ 31;
  const uint32_t first = (w0 << shift) | ((w1 >> 1) >> back);
  const uint32_t second = (w1 << shift) | ((w2 >> 1) >> back);
  const uint32_t third = (w2 << shift) | ((w3 >> 1) >> back);
  // The product's digits of weight 2 down to 2^-62 quadrants.
  const uint32_t carry = static_cast<uint32_t>((static_cast<uint64_t>(significand) * third) >> 32);
  const uint32_t lower = significand * second + carry;
  const uint32_t upper_part = static_cast<uint32_t>((static_cast<uint64_t>(significand) * second) >> 32);
  const uint32_t high = significand * first + upper_part + (lower < carry ? 1u : 0u);
  // To the nearest quadrant; the fraction in three exact pieces.
  const uint32_t rounded = high + 0x20000000u;
  const int32_t fraction = static_cast<int32_t>(high - (rounded & 0xc0000000u));
  const float top = static_cast<float>(fraction & ~0x7f) * 0x1p-30f;
  const float middle =
      static_cast<float>(static_cast<int32_t>(((high & 0x7fu) << 17) | (lower >> 15))) * 0x1p-47f;
  const float bottom = static_cast<float>(static_cast<int32_t>(lower & 0x7fffu)) * 0x1p-62f;
  const Pair<float> sum = fast_two_sum(top, middle);
  return from_fraction(x, Pair<float>{sum.high, sum.low + bottom}, rounded >> 30);
}

/// For finite |x| >= 2^20.
BW_FN Reduced<double> reduce_large(double x) {
  // 2/pi after 53 zeros, which stand for the digits of weight 2^52 to 2^0.
  static constexpr uint64_t kDigits[19] = {
      0x0000000000000517u, 0xcc1b727220a94fe1u, 0x3abe8fa9a6ee06dbu, 0x14acc9e21c820ff2u, 0x8b1d5ef5de2b0db9u,
      0x2371d2126e970032u, 0x4977504e8c90e7f0u, 0xef58e5894d39f744u, 0x11afa975da24274cu, 0xe38135a2fbf209ccu,
      0x8eb1cc1a99cfa4e4u, 0x22fc5defc941d8ffu, 0xc4bffef02cc07f79u, 0x788c5ad05368fb69u, 0xb3f6793e584dba7au,
      0x31fb34f2ff516ba9u, 0x3dd63f5f2f8bd9e8u, 0x39cfbc529497535fu, 0xdafd88fc6ae842b0u};
  const uint64_t raw = bits(x) & 0x7fffffffffffffffu;
  const uint64_t significand = (raw & 0xfffffffffffffu) | 0x10000000000000u;
  const uint64_t position = (raw >> 52) - 1024;  // where the window of 192 digits begins
  const uint64_t word = (position >> 6) & 15;
  const uint64_t w0 = kDigits[word], w1 = kDigits[word + 1], w2 = kDigits[word + 2], w3 = kDigits[word + 3];
  const uint64_t shift = position & 63;
  const uint64_t back = shift ^ 63;
  const uint64_t first = (w0 << shift) | ((w1 >> 1) >> back);
  const uint64_t second = (w1 << shift) | ((w2 >> 1) >> back);
  const uint64_t third = (w2 << shift) | ((w3 >> 1) >> back);
  // The product in columns of 32 digits; those above column 5 are whole turns.
  const uint64_t mask = 0xffffffffu;
  const uint64_t a = significand & mask, b = significand >> 32;
  const uint64_t a0 = a * (third & mask), a1 = a * (third >> 32), a2 = a * (second & mask);
  const uint64_t a3 = a * (second >> 32), a4 = a * (first & mask), a5 = a * (first >> 32);
  const uint64_t b0 = b * (third & mask), b1 = b * (third >> 32), b2 = b * (second & mask);
  const uint64_t b3 = b * (second >> 32), b4 = b * (first & mask);
  const uint64_t c1 = (a0 >> 32) + (a1 & mask) + b0;
  const uint64_t c2 = (a1 >> 32) + (a2 & mask) + b1 + (c1 >> 32);
  const uint64_t c3 = (a2 >> 32) + (a3 & mask) + b2 + (c2 >> 32);
  const uint64_t c4 = (a3 >> 32) + (a4 & mask) + b3 + (c3 >> 32);
  const uint64_t c5 = (a4 >> 32) + (a5 & mask) + b4 + (c4 >> 32);
  const uint64_t high = (c5 << 32) | (c4 & mask);
  const uint64_t lower = (c3 << 32) | (c2 & mask);
  // To the nearest quadrant; the fraction, plus a half, in three exact pieces. Numbers below 2^52 become
  // doubles as the last digits of 2^52.
  const uint64_t rounded = high + 0x2000000000000000u;
  const uint64_t fraction = rounded & 0x3fffffffffffffffu;
  const uint64_t unit = 0x4330000000000000u;
  const double top = from_bits<double>((fraction >> 11) | unit) - (0x1p52 + 0x1p50);
  const double middle = from_bits<double>(((fraction & 0x7ff) << 40) | (lower >> 24) | unit) - 0x1p52;
  const double bottom = from_bits<double>((lower & 0xffffff) | unit) - 0x1p52;
  const Pair<double> sum = fast_two_sum(top * 0x1p-51, middle * 0x1p-102);
  return from_fraction(x, Pair<double>{sum.high, fma(bottom, 0x1p-126, sum.low)}, rounded >> 62);
}

/// For every x; infinities and NaN give NaN.
template <Floating T>
BW_FN Reduced<T> reduce(T x) {
  const Reduced<T> small = reduce_small(x);
  // reduce_small gives NaN for infinities and NaN.
  const bool large = abs(x) > reduce_limit<T>() && abs(x) < infinity<T>();
#if defined(__CUDA_ARCH__) || defined(__NVPTX__) || defined(__AMDGCN__)
  if (!large) return small;
  return reduce_large(x);
#else
  const Reduced<T> other = reduce_large(x);
  return {large ? other.r : small.r, large ? other.low : small.low, large ? other.quadrant : small.quadrant};
#endif
}

}  // namespace beeswax::m
