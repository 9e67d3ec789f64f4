// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/rows.h"

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/extreme.h"
#include "backends/cpu/kernels/tree.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// Calls chunk(begin, count) for every chunk of the row; chunk by chunk the next row is requested, into the
// second cache: the first one holds this row.
template <class Chunk>
BW_FN void each_chunk(const RowArgs& args, bool request, Chunk chunk) {
  for (int64_t begin = 0; begin < args.n; begin += kChunk) {
    const int64_t count = args.n - begin < kChunk ? args.n - begin : kChunk;
    if (request && args.next != nullptr) {
      const char* next = static_cast<const char*>(args.next) + begin * args.next_bytes;
      for (int64_t at = 0; at < count * args.next_bytes; at += 64) __builtin_prefetch(next + at, 0, 2);
    }
    chunk(begin, count);
  }
}

// Writes the results that make(begin, count, y) gives, chunk by chunk where they are narrowed or streamed.
template <class T, class Make>
BW_FN void write_row(const RowArgs& args, bool request, Make make) {
  char* to = static_cast<char*>(args.results);
  if (args.narrow == nullptr && !args.stream) {
    each_chunk(args, request, [=](int64_t begin, int64_t count) __attribute__((always_inline)) {
      make(begin, count, static_cast<T*>(args.results) + begin);
    });
    return;
  }
  const CopyKernels& copies = copy_kernels();
  alignas(64) T chunk[kChunk];
  alignas(64) uint16_t narrowed[kChunk];
  each_chunk(args, request, [&](int64_t begin, int64_t count) __attribute__((always_inline)) {
    make(begin, count, chunk);
    if (args.narrow == nullptr) {
      copies.stream(to, chunk, static_cast<size_t>(count) * sizeof(T));
      to += count * static_cast<int64_t>(sizeof(T));
      return;
    }
    args.narrow(chunk, args.stream ? static_cast<void*>(narrowed) : to, count);
    if (args.stream) copies.stream(to, narrowed, static_cast<size_t>(count * args.result_bytes));
    to += count * args.result_bytes;
  });
}

// The sum of map(x[i]) in the documented order; map takes elements, and registers of them.
template <class T, class Map>
BW_FN T mapped_sum(const T* x, const RowArgs& args, Map map) {
  T* partials = static_cast<T*>(args.partials);
  each_chunk(args, false, [=](int64_t begin, int64_t count) __attribute__((always_inline)) {
    partials[begin / kChunk] = tree_chunk(x + begin, count, map);
  });
  return tree_join(partials, chunks_of(args.n));
}

template <class T>
void softmax(const T* x, bool log, const RowArgs& args) {
  const T most = extreme<true>(x, args.n);
  T* partials = static_cast<T*>(args.partials);
  T* row = static_cast<T*>(args.row);
  T chunk[kChunk];
  each_chunk(args, true, [&](int64_t begin, int64_t count) __attribute__((always_inline)) {
    T* e = log ? chunk : row + begin;
    for (int64_t i = 0; i < count; ++i) e[i] = m::exp(x[begin + i] - most);
    partials[begin / kChunk] = tree_chunk(static_cast<const T*>(e), count);
  });
  const T sum = tree_join(partials, chunks_of(args.n));
  if (log) {
    const T log_sum = m::log(sum);
    write_row<T>(args, false, [=](int64_t begin, int64_t count, T* y) __attribute__((always_inline)) {
      for (int64_t i = 0; i < count; ++i) y[i] = (x[begin + i] - most) - log_sum;
    });
  } else {
    write_row<T>(args, false, [=](int64_t begin, int64_t count, T* y) __attribute__((always_inline)) {
      for (int64_t i = 0; i < count; ++i) y[i] = row[begin + i] / sum;
    });
  }
}

template <class T>
void rms_norm(const T* x, const T* weight, T eps, const RowArgs& args) {
  const T sum = mapped_sum(x, args, [](auto v) __attribute__((always_inline)) { return v * v; });
  const T scale = T(1) / m::sqrt(sum / static_cast<T>(args.n) + eps);
  write_row<T>(args, true, [=](int64_t begin, int64_t count, T* __restrict y) __attribute__((always_inline)) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[begin + i] * scale * weight[begin + i];
  });
}

template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, T eps, const RowArgs& args) {
  const T count_of = static_cast<T>(args.n);
  const T mean = mapped_sum(x, args, [](auto v) __attribute__((always_inline)) { return v; }) / count_of;
  const T sum =
      mapped_sum(x, args, [mean](auto v) __attribute__((always_inline)) { return (v - mean) * (v - mean); });
  const T scale = T(1) / m::sqrt(sum / count_of + eps);
  write_row<T>(args, true, [=](int64_t begin, int64_t count, T* __restrict y) __attribute__((always_inline)) {
    if (bias == nullptr) {
      for (int64_t i = 0; i < count; ++i) y[i] = (x[begin + i] - mean) * scale * weight[begin + i];
    } else {
      for (int64_t i = 0; i < count; ++i)
        y[i] = (x[begin + i] - mean) * scale * weight[begin + i] + bias[begin + i];
    }
  });
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
