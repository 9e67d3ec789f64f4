// SPDX-License-Identifier: Apache-2.0
#include "core/random_bounds.h"

#include "core/math/convert.h"

namespace beeswax {
namespace {

template <class T>
struct BitsOf {
  using U = decltype(T::bits);
};
template <>
struct BitsOf<float> {
  using U = uint32_t;
};
template <>
struct BitsOf<double> {
  using U = uint64_t;
};

// The value after x, upward or downward; x is not NaN.
template <class T>
T neighbour(T x, bool upward) {
  using U = typename BitsOf<T>::U;
  constexpr U kSign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  const auto raw = bit_cast<U>(x);
  if (static_cast<U>(raw & ~kSign) == 0) return bit_cast<T>(static_cast<U>(upward ? 1 : kSign | 1));
  const bool away = ((raw & kSign) == 0) == upward;
  return bit_cast<T>(static_cast<U>(away ? raw + 1 : raw - 1));
}

template <class T>
RandomBounds bounds(double lo, double hi) {
  T first = m::convert<T>(lo);
  T last = m::convert<T>(hi);
  if (m::convert<double>(first) < lo) first = neighbour(first, true);
  if (m::convert<double>(last) >= hi) last = neighbour(last, false);
  return {m::convert<double>(first), m::convert<double>(last)};
}

}  // namespace

RandomBounds random_bounds(DType dtype, double lo, double hi) {
  switch (dtype) {
    case DType::F16:
      return bounds<f16>(lo, hi);
    case DType::BF16:
      return bounds<bf16>(lo, hi);
    case DType::F8E4M3:
      return bounds<f8e4m3>(lo, hi);
    case DType::F32:
      return bounds<float>(lo, hi);
    default:
      return bounds<double>(lo, hi);
  }
}

}  // namespace beeswax
