// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/pool_rows.h"

#include <type_traits>

#include "backends/cpu/kernels/extreme.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// An integer in the order of the elements, every NaN the largest; integers are their own.
template <class T>
BW_FN auto key_of(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    using I = typename SignedBits<T>::type;
    const I bits = SignedBits<T>::of(x);
    const bool nan = static_cast<I>(bits & m::Int<I>::kMax) > SignedBits<T>::kInfinity;
    return nan ? m::Int<I>::kMax : ordered(bits);
  }
}
template <class T, class K>
BW_FN T of_key(K key) {
  if constexpr (std::is_integral_v<T>) {
    return key;
  } else {
    return bit_cast<T>(ordered(key));
  }
}

// out[c] = combine of v[c * step + t] over t < taps, in increasing t.
template <int64_t kStep, class V, class Combine>
BW_FN void across(const V* __restrict v, int64_t taps, int64_t any_step, int64_t columns, V* __restrict out,
                  Combine combine) {
  const int64_t step = kStep > 0 ? kStep : any_step;
  if (taps == 1) {
    for (int64_t c = 0; c < columns; ++c) out[c] = v[c * step];
    return;
  }
  for (int64_t c = 0; c < columns; ++c) out[c] = combine(v[c * step], v[c * step + 1]);
  for (int64_t t = 2; t < taps; ++t)
    for (int64_t c = 0; c < columns; ++c) out[c] = combine(out[c], v[c * step + t]);
}
template <class V, class Combine>
BW_FN void across_steps(const PoolRow& p, const V* v, int64_t taps, V* out, Combine combine) {
  switch (p.step) {
    case 1:
      return across<1>(v, taps, p.step, p.columns, out, combine);
    case 2:
      return across<2>(v, taps, p.step, p.columns, out, combine);
    default:
      return across<0>(v, taps, p.step, p.columns, out, combine);
  }
}

template <class T>
void max(const PoolRow& p) {
  using K = decltype(key_of(T{}));
  const int64_t width = (p.columns - 1) * p.step + p.taps;
  const T* x = static_cast<const T*>(p.from);
  K* __restrict v = static_cast<K*>(p.work);
  K* __restrict out = v + width;
  const auto larger = [](K a, K b) __attribute__((always_inline)) { return a > b ? a : b; };
  // Row after row: one stream at a time is what processors foresee best.
  for (int64_t i = 0; i < width; ++i) v[i] = key_of(x[i]);
  for (int64_t r = 1; r < p.rows; ++r) {
    const T* y = x + r * p.row_step;
    for (int64_t i = 0; i < width; ++i) v[i] = larger(v[i], key_of(y[i]));
  }
  across_steps(p, v, p.taps, out, larger);
  T* to = static_cast<T*>(p.to);
  for (int64_t c = 0; c < p.columns; ++c) to[c] = of_key<T>(out[c]);
}

template <class T>
void average(const PoolRow& p) {
  const int64_t width = (p.columns - 1) * p.step + p.taps;
  const T* a = static_cast<const T*>(p.from);
  const T *b = a + p.row_step, *c = b + p.row_step, *d = c + p.row_step;
  T* __restrict v = static_cast<T*>(p.work);
  T* __restrict out = v + width;
  const auto add = [](T s, T t) __attribute__((always_inline)) { return s + t; };
  if (p.rows == 4) {
    for (int64_t i = 0; i < width; ++i) v[i] = (a[i] + c[i]) + (b[i] + d[i]);
  } else if (p.rows == 2) {
    for (int64_t i = 0; i < width; ++i) v[i] = a[i];
    for (int64_t i = 0; i < width; ++i) v[i] += b[i];
  } else {
    for (int64_t i = 0; i < width; ++i) v[i] = a[i];
  }
  if (p.taps == 4) {
    for (int64_t i = 0; i + 2 < width; ++i) v[i] += v[i + 2];
    across_steps(p, v, 2, out, add);
  } else {
    across_steps(p, v, p.taps, out, add);
  }
  const T share = T(1) / static_cast<T>(p.rows * p.taps);  // a power of two: the product is the quotient
  T* to = static_cast<T*>(p.to);
  for (int64_t i = 0; i < p.columns; ++i) to[i] = out[i] * share;
}

using Loop = void (*)(const PoolRow&);
template <class T>
constexpr Loop max_of() {
  if constexpr (std::is_same_v<T, f8e4m3>) {
    return nullptr;
  } else {
    return max<T>;
  }
}
template <class T>
constexpr Loop average_of() {
  if constexpr (std::is_floating_point_v<T>) {
    return average<T>;
  } else {
    return nullptr;
  }
}

constexpr PoolRowKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) max_of<ctype>(),
#include "tables/dtypes.def"
                                   },
                                   {
#define BW_DTYPE(Name, name, ctype, ...) average_of<ctype>(),
#include "tables/dtypes.def"
                                   }};

}  // namespace

const PoolRowKernels& pool_row_kernels() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
