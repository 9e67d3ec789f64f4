// SPDX-License-Identifier: Apache-2.0
// Registers of integer keys that order numbers as maximum and minimum do (IEEE 754-2019: NaN propagates,
// -0 < +0): of a float its bits, shifted round the circle of integers so that every NaN lies beyond the end.
// One signed compare then does for all of them, in the dtype's own width. Integers are their own keys.
// Included by kernels only, after their namespace is chosen.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/chunk_registers.h"
#include "backends/cpu/kernels/extreme.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <bool kLargest, class T>
struct ExtremeKeys {
  using Key = T;
  BW_FN Register<Key> keys(const T* x) { return load_widened(x); }
  BW_FN T number(Key key) { return key; }
};

template <bool kLargest, class T>
  requires requires { SignedBits<T>::kInfinity; }
struct ExtremeKeys<kLargest, T> {
  using Key = typename SignedBits<T>::type;
  using Bits = std::make_unsigned_t<Key>;
  // Sends +infinity to the largest integer, or -infinity to the least one.
  static constexpr Bits kLeft = static_cast<Bits>(m::Int<Key>::kMax - SignedBits<T>::kInfinity);
  static constexpr Bits kShift = kLargest ? static_cast<Bits>(-kLeft) : kLeft;

  BW_FN Register<Key> keys(const T* x) {
    Register<Key> bits;
    __builtin_memcpy(&bits, x, sizeof(bits));
    return reinterpret_cast<Register<Key>>(reinterpret_cast<Register<Bits>>(ordered_bits(bits)) + kShift);
  }
  /// A NaN where the key lies beyond the infinities.
  BW_FN T number(Key key) { return bit_cast<T>(ordered(static_cast<Key>(static_cast<Bits>(key) - kShift))); }

 private:
  BW_FN Register<Key> ordered_bits(Register<Key> bits) {
    return bits ^ ((bits >> (8 * static_cast<int>(sizeof(Key)) - 1)) & m::Int<Key>::kMax);
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

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
