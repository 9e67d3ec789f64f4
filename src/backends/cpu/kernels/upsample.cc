// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/upsample.h"

#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class T>
static void expand(const void* from, const int32_t* index, int64_t count, void* to) {
  const T* x = static_cast<const T*>(from);
  T* y = static_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) y[i] = x[index[i]];
}

template <class T>
static void twice(const void* from, int64_t count, void* to) {
  const T* __restrict x = static_cast<const T*>(from);
  T* __restrict y = static_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) {
    y[2 * i] = x[i];
    y[2 * i + 1] = x[i];
  }
}

template <class T>
BW_FN T blend(T a, T b, T w) {
  const T rest = T(1) - w;
  T mixed = rest * a + w * b;
  mixed = w == T(0) ? a : mixed;
  return rest == T(0) ? b : mixed;
}

template <class T>
static void across(const void* from, const int32_t* __restrict low, const int32_t* __restrict high,
                   const void* weight, int64_t count, void* to) {
  const T* __restrict x = static_cast<const T*>(from);
  const T* __restrict w = static_cast<const T*>(weight);
  T* __restrict y = static_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) y[i] = blend(x[low[i]], x[high[i]], w[i]);
}

template <class T>
static void across_twice(const void* from, int64_t count, void* to) {
  const T* __restrict x = static_cast<const T*>(from);
  T* __restrict y = static_cast<T*>(to);
  y[0] = x[0];
  for (int64_t i = 0; i + 1 < count; ++i) {
    y[2 * i + 1] = T(0.75) * x[i] + T(0.25) * x[i + 1];
    y[2 * i + 2] = T(0.25) * x[i] + T(0.75) * x[i + 1];
  }
  y[2 * count - 1] = x[count - 1];
}

template <class T>
static void down(const void* top, const void* bottom, double weight, int64_t count, void* to) {
  const T* __restrict a = static_cast<const T*>(top);
  const T* __restrict b = static_cast<const T*>(bottom);
  T* __restrict y = static_cast<T*>(to);
  const T w = static_cast<T>(weight);
  for (int64_t i = 0; i < count; ++i) y[i] = blend(a[i], b[i], w);
}

constexpr UpsampleKernels kTable = {
    {&expand<uint8_t>, &expand<uint16_t>, &expand<uint32_t>, &expand<uint64_t>},
    {&twice<uint8_t>, &twice<uint16_t>, &twice<uint32_t>, &twice<uint64_t>},
    {&across<float>, &across<double>},
    {&across_twice<float>, &across_twice<double>},
    {&down<float>, &down<double>},
};

}  // namespace

const UpsampleKernels& upsample_kernels() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
