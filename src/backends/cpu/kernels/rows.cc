// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/rows.h"

#include "backends/cpu/kernels/tree.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// One chunk of the next row, spread over the work on one chunk of this row.
template <class T>
BW_FN void request(const T* next, int64_t begin, int64_t count) {
  if (next == nullptr) return;
  for (int64_t i = 0; i < count; i += 64 / static_cast<int64_t>(sizeof(T)))
    __builtin_prefetch(next + begin + i);
}

template <class T>
BW_FN T largest(const T* x, int64_t n) {
  constexpr int64_t kLanes = 32;
  T lane[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) lane[l] = x[0];
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lane[l] = m::maximum(lane[l], x[i + l]);
  T most = lane[0];
  for (int64_t l = 1; l < kLanes; ++l) most = m::maximum(most, lane[l]);
  for (; i < n; ++i) most = m::maximum(most, x[i]);
  return most;
}

// sum of map(x[i]) in the documented order, chunk by chunk. map writes a chunk into its third argument.
template <class T, class Map>
BW_FN T mapped_sum(int64_t n, T* partials, const T* next, Map map) {
  T chunk[kTreeChunk];
  for (int64_t begin = 0; begin < n; begin += kTreeChunk) {
    const int64_t count = n - begin < kTreeChunk ? n - begin : kTreeChunk;
    request(next, begin, count);
    map(begin, count, chunk);
    partials[begin / kTreeChunk] = tree_chunk(static_cast<const T*>(chunk), count);
  }
  return tree_join(partials, tree_partials(n));
}

template <class T>
void softmax(const T* x, T* y, T* partials, int64_t n, bool log, const T* next) {
  const T most = largest(x, n);
  const T sum = mapped_sum<T>(n, partials, next, [=](int64_t begin, int64_t count, T* chunk) {
    for (int64_t i = 0; i < count; ++i) chunk[i] = m::exp(x[begin + i] - most);
    if (!log) __builtin_memcpy(y + begin, chunk, static_cast<size_t>(count) * sizeof(T));
  });
  if (log) {
    const T log_sum = m::log(sum);
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - most) - log_sum;
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] / sum;
  }
}

template <class T>
void rms_norm(const T* x, const T* weight, T* y, T* partials, int64_t n, T eps, const T* next) {
  const T sum = mapped_sum<T>(n, partials, next, [=](int64_t begin, int64_t count, T* chunk) {
    for (int64_t i = 0; i < count; ++i) chunk[i] = x[begin + i] * x[begin + i];
  });
  const T scale = T(1) / m::sqrt(sum / static_cast<T>(n) + eps);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale * weight[i];
}

template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, T* y, T* partials, int64_t n, T eps,
                const T* next) {
  const T count_of = static_cast<T>(n);
  const T mean = mapped_sum<T>(n, partials, nullptr,
                               [=](int64_t begin, int64_t count, T* chunk) {
                                 for (int64_t i = 0; i < count; ++i) chunk[i] = x[begin + i];
                               }) /
                 count_of;
  const T sum = mapped_sum<T>(n, partials, next, [=](int64_t begin, int64_t count, T* chunk) {
    for (int64_t i = 0; i < count; ++i) chunk[i] = (x[begin + i] - mean) * (x[begin + i] - mean);
  });
  const T scale = T(1) / m::sqrt(sum / count_of + eps);
  if (bias == nullptr) {
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * weight[i];
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
}

template <class T>
void running_sum(void* x, int64_t n, void* carry) {
  T* values = static_cast<T*>(x);
  T sum = *static_cast<T*>(carry);
  for (int64_t i = 0; i < n; ++i) {
    sum = static_cast<T>(sum + values[i]);
    values[i] = sum;
  }
  *static_cast<T*>(carry) = sum;
}

template <class T>
void running_sums(void* x, int64_t n, void* sums) {
  T* values = static_cast<T*>(x);
  T* totals = static_cast<T*>(sums);
  for (int64_t i = 0; i < n; ++i) {
    const T sum = static_cast<T>(totals[i] + values[i]);
    totals[i] = sum;
    values[i] = sum;
  }
}

}  // namespace

const RowKernels& row_kernels() {
  static constexpr RowKernels kTable = {
      {softmax<float>, rms_norm<float>, layer_norm<float>},
      {softmax<double>, rms_norm<double>, layer_norm<double>},
#define BW_X(Name, ctype) running_sum<ctype>,
      {BW_COMPUTE_TYPES(BW_X)},
#undef BW_X
#define BW_X(Name, ctype) running_sums<ctype>,
      {BW_COMPUTE_TYPES(BW_X)},
#undef BW_X
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
