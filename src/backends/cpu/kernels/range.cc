// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/range.h"

#include "backends/cpu/kernels/lines.h"
#include "core/math/convert.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Whether the numbers are integers of 32 bits: then they are exact in f64 too, and a float is one rounding
/// away either way. (A sum that begins with -0 may be -0, which no integer is.)
BW_FN bool whole_range(double start, double step, int64_t begin, int64_t count) {
  constexpr double kMost = 2147483647;
  const auto inside = [](double v) __attribute__((always_inline)) { return v >= -kMost && v <= kMost; };
  const double first = start + static_cast<double>(begin) * step;
  const double last = start + static_cast<double>(begin + count) * step;
  if (!inside(start) || !inside(step) || !inside(first) || !inside(last)) return false;
  return static_cast<double>(static_cast<int32_t>(start)) == start &&
         static_cast<double>(static_cast<int32_t>(step)) == step && (start != 0 || 1 / start > 0);
}

/// y[i + j] = at(i, j) for i + j < count, a line of i at a time.
template <class T, class F>
BW_FN void fill_lines(T* y, int64_t count, bool past_caches, F at) {
  constexpr auto n = static_cast<int32_t>(kBlock<T>);
  const auto short_count = static_cast<int32_t>(count);
  int32_t i = 0;
  for (; i + n <= short_count; i += n) {
    alignas(64) T line[n];
    // GCC unrolls so short a loop before it looks for vectors.
#if !defined(__clang__)
#pragma GCC unroll 1
#endif
    for (int32_t j = 0; j < n; ++j) line[j] = at(i, j);
    put_line(y + i, line, past_caches);
  }
  for (; i < short_count; ++i) y[i] = at(i, 0);
}

template <class T>
void range(void* out, int64_t begin, int64_t count, double start, double step, int64_t whole_start,
           int64_t whole_step, bool past_caches) {
  T* y = static_cast<T*>(out);
  if constexpr (m::Integer<T>) {
    using U = typename m::Int<T>::U;
    const auto first = static_cast<U>(whole_start + begin * whole_step);
    const auto by = static_cast<U>(whole_step);
    U steps[kBlock<T>];
    for (int64_t j = 0; j < kBlock<T>; ++j) steps[j] = static_cast<U>(static_cast<U>(j) * by);
    fill_lines(y, count, past_caches, [&](int32_t i, int32_t j) __attribute__((always_inline)) {
      return static_cast<T>(static_cast<U>(static_cast<U>(first + static_cast<U>(i) * by) + steps[j]));
    });
  } else {
    if constexpr (m::Same<T, float>::kIs) {
      if (whole_range(start, step, begin, count)) {
        const auto first = static_cast<int32_t>(start + static_cast<double>(begin) * step);
        const auto by = static_cast<int32_t>(step);
        return fill_lines(y, count, past_caches, [=](int32_t i, int32_t j) __attribute__((always_inline)) {
          return static_cast<float>(first + (i + j) * by);
        });
      }
    }
    // Both parts of the number are exact, and so is their sum; a 32-bit part converts in every vector unit.
    const auto base = static_cast<double>(begin);
    fill_lines(y, count, past_caches, [=](int32_t i, int32_t j) __attribute__((always_inline)) {
      return m::convert<T>(start + (base + static_cast<double>(i + j)) * step);
    });
  }
}

}  // namespace

const RangeKernels& range_kernels() {
  static constexpr RangeKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) range<ctype>,
#include "tables/dtypes.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
