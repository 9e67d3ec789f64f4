// SPDX-License-Identifier: Apache-2.0
// Registers of integer keys that order numbers as maximum and minimum do (IEEE 754-2019: NaN propagates,
// -0 < +0): of a float its bits, shifted round the circle of integers so that every NaN lies beyond the end.
// One signed compare then does for all of them, in the dtype's own width. Integers are their own keys.
// Included by kernels only, after their namespace is chosen.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/kernels/chunk_registers.h"
#include "backends/cpu/kernels/extreme.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <bool kLargest, class T>
struct ExtremeKeys {
  using Key = T;
  BW_FN Register<Key> keys(const T* x) { return load_widened(x); }
  /// Equal where the numbers are: -0 and +0 alike, and every NaN.
  BW_FN Register<Key> place_keys(const T* x) { return load_widened(x); }
  BW_FN T number(Key key) { return key; }
};

template <bool kLargest, class T>
  requires requires { SignedBits<T>::kInfinity; }
struct ExtremeKeys<kLargest, T> {
  using Key = typename SignedBits<T>::type;
  using Bits = std::make_unsigned_t<Key>;

  BW_FN Register<Key> keys(const T* x) {
    const Register<Key> bits = bits_of(x);
    return reinterpret_cast<Register<Key>>(
        reinterpret_cast<Register<Bits>>(bits ^ ((bits >> kSign) & kMost)) + kShift);
  }
  BW_FN Register<Key> place_keys(const T* x) {
    Register<Key> bits = bits_of(x);
#if defined(__AVX512F__)
    __asm__("" : "+v"(bits));  // GCC loads it again for each use
#endif
    const auto raw = reinterpret_cast<Register<Bits>>(bits);
    // Negative numbers are as far below the zeros as others are above.
    const auto key = reinterpret_cast<Register<Key>>(bits < 0 ? kBelowZeros - raw : raw + kOfZeros);
    auto beyond = static_cast<std::conditional_t<sizeof(Key) == 8, int64_t, int32_t>>(kBeyond);
    // GCC 12 rewrites comparisons with constants, and then knows no minimum in them.
    __asm__("" : "+r"(beyond));
    const Register<Key> nan = Register<Key>{} + static_cast<Key>(beyond);
    return kLargest ? (key < nan ? key : nan) : (key > nan ? key : nan);
  }
  /// Of `keys`: a NaN where the key lies beyond the infinities.
  BW_FN T number(Key key) { return bit_cast<T>(ordered(static_cast<Key>(static_cast<Bits>(key) - kShift))); }

 private:
  static constexpr int kSign = 8 * static_cast<int>(sizeof(Key)) - 1;
  static constexpr Key kMost = static_cast<Key>(static_cast<Bits>(~Bits(0)) >> 1);
  // Sends +infinity to the largest integer, or -infinity to the least one.
  static constexpr Bits kLeft = static_cast<Bits>(kMost - SignedBits<T>::kInfinity);
  static constexpr Bits kShift = kLargest ? static_cast<Bits>(-kLeft) : kLeft;
  // The place key of both zeros; and the same, of which a negative number's bits are taken.
  static constexpr Bits kOfZeros = static_cast<Bits>(kLargest ? kShift - 1 : kShift);
  static constexpr Bits kBelowZeros = static_cast<Bits>(kOfZeros + kMost + 1);
  // The place key next to that of the infinity in question.
  static constexpr Bits kInfinity = static_cast<Bits>(SignedBits<T>::kInfinity);
  static constexpr Bits kBeyond =
      kLargest ? static_cast<Bits>(kInfinity + kShift) : static_cast<Bits>(kShift - kInfinity - 1);

  BW_FN Register<Key> bits_of(const T* x) {
    Register<Key> bits;
    __builtin_memcpy(&bits, x, sizeof(bits));
    return bits;
  }
};

template <bool kLargest, class R>
BW_FN R better_keys(R a, R b) {
  if constexpr (kLargest) {
    return a > b ? a : b;
  } else {
    return a < b ? a : b;
  }
}

/// The key that no other is worse than.
template <bool kLargest, class Key>
constexpr Key kWorstKey = kLargest ? std::numeric_limits<Key>::min() : std::numeric_limits<Key>::max();

/// The lanes of a register turned by `By` places.
template <int By, class R, int... I>
BW_FN R turned(R v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I + By) % static_cast<int>(sizeof...(I))...);
}
/// The best of a register's lanes, in every lane.
template <bool kLargest, int kHalf, class Key>
BW_FN Register<Key> best_lane(Register<Key> v) {
  constexpr auto lanes = std::make_integer_sequence<int, kRegister / static_cast<int>(sizeof(Key))>{};
  v = better_keys<kLargest>(v, turned<kHalf>(v, lanes));
  if constexpr (kHalf > 1) return best_lane<kLargest, kHalf / 2, Key>(v);
  return v;
}

/// The largest (or least) of count >= 1 elements.
template <bool kLargest, class T>
BW_FN T extreme(const T* x, int64_t count) {
  using Keys = ExtremeKeys<kLargest, T>;
  using Key = typename Keys::Key;
  constexpr int n = kRegister / static_cast<int>(sizeof(Key));
  T few[n];
  if (count < n) {  // some of them twice
    for (int i = 0; i < n; ++i) few[i] = x[i < count ? i : 0];
    x = few;
    count = n;
  }
  // One load that walks through all of memory: another one, for the first elements of each chunk, would make
  // steps as long as chunks, which keep the processor from foreseeing the others.
  Register<Key> best[4];
  for (int u = 0; u < 4; ++u) best[u] = Register<Key>{} + kWorstKey<kLargest, Key>;
  int64_t i = 0;
  const int64_t ahead = sizeof(T) == 2 ? busy_read_ahead() : kBytesAhead;
#pragma GCC unroll 1
  for (; i + 4 * n <= count; i += 4 * n) {
    if (ahead != 0) request_lines<4 * n>(x + i, ahead);
    for (int u = 0; u < 4; ++u) best[u] = better_keys<kLargest>(best[u], Keys::keys(x + i + u * n));
  }
  if (i < count) {
    for (; i + n <= count; i += n) best[0] = better_keys<kLargest>(best[0], Keys::keys(x + i));
    best[1] = better_keys<kLargest>(best[1], Keys::keys(x + count - n));  // the rest, and some again
  }
  best[0] =
      better_keys<kLargest>(better_keys<kLargest>(best[0], best[1]), better_keys<kLargest>(best[2], best[3]));
  return Keys::number(best_lane<kLargest, n / 2, Key>(best[0])[0]);
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
