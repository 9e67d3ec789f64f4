// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/range.h"

#include "core/math/convert.h"

namespace beeswax::cpu::BW_ISA {
namespace {

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
