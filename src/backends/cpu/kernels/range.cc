// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/range.h"

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

template <class T>
void range(void* out, int64_t begin, int64_t count, double start, double step, int64_t whole_start,
           int64_t whole_step) {
  T* y = static_cast<T*>(out);
  if constexpr (m::Integer<T>) {
    using U = typename m::Int<T>::U;
    const auto first = static_cast<U>(whole_start + begin * whole_step);
    const auto by = static_cast<U>(whole_step);
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(static_cast<U>(first + static_cast<U>(i) * by));
  } else {
    if constexpr (m::Same<T, float>::kIs) {
      if (whole_range(start, step, begin, count)) {
        const auto first = static_cast<int32_t>(start + static_cast<double>(begin) * step);
        const auto by = static_cast<int32_t>(step);
        const auto short_count = static_cast<int32_t>(count);
        for (int32_t i = 0; i < short_count; ++i) y[i] = static_cast<float>(first + i * by);
        return;
      }
    }
    // Both parts of the number are exact, and so is their sum; a 32-bit part converts in every vector unit.
    const auto base = static_cast<double>(begin);
    const auto short_count = static_cast<int32_t>(count);
    for (int32_t i = 0; i < short_count; ++i)
      y[i] = m::convert<T>(start + (base + static_cast<double>(i)) * step);
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
