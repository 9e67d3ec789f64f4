// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/running_sum.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class T>
void along(void* x, int64_t n, void* carry) {
  T* values = static_cast<T*>(x);
  T sum = *static_cast<T*>(carry);
  for (int64_t i = 0; i < n; ++i) {
    sum = static_cast<T>(sum + values[i]);
    values[i] = sum;
  }
  *static_cast<T*>(carry) = sum;
}

template <class T>
void across(void* x, int64_t n, void* sums) {
  T* values = static_cast<T*>(x);
  T* totals = static_cast<T*>(sums);
  for (int64_t i = 0; i < n; ++i) {
    const T sum = static_cast<T>(totals[i] + values[i]);
    totals[i] = sum;
    values[i] = sum;
  }
}

}  // namespace

const RunningSumKernels& running_sum_kernels() {
  static constexpr RunningSumKernels kTable = {
#define BW_X(Name, ctype) along<ctype>,
      {BW_COMPUTE_TYPES(BW_X)},
#undef BW_X
#define BW_X(Name, ctype) across<ctype>,
      {BW_COMPUTE_TYPES(BW_X)},
#undef BW_X
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
