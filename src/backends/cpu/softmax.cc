// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and running sums: row by row, each row dense and of its compute type (gathered and widened
// where it is not), results past the caches where they are large.
#include <memory>

#include "backends/cpu/backend.h"
#include "backends/cpu/chunks.h"
#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/scratch.h"

namespace beeswax::cpu {
namespace {

// Elements in one task, or one row: the more, where that leaves several tasks to each thread.
constexpr int64_t kLeastRowTask = 1 << 14;
constexpr int64_t kRowTask = 1 << 17;

// Calls loop(x, args) for every row of n elements of x; x and out have one shape.
template <class T, class Loop>
void for_rows(const Operand& x, int64_t n, const Target& out, const Loop& loop) {
  const Argument argument{x, 0};
  const ChunkInput input(argument, kDTypeOf<T>);
  const Nest<1> nest({x.layout});
  const CastLoop narrow = conversion(kDTypeOf<T>, out.dtype);
  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
  const bool stream = beyond_caches(static_cast<size_t>(nest.count * bytes));
  const bool dense = nest.dense(0);
  const int64_t rows = nest.count / n;
  const int64_t share = nest.count / (8 * ThreadPool::global().threads());
  const int64_t task_rows = std::max<int64_t>(1, std::clamp<int64_t>(share, kLeastRowTask, kRowTask) / n);
  parallel_ranges(rows, task_rows, [&](int64_t first, int64_t last) {
    // Gathered elements, the row in T (widened, and what loops keep), sums of chunks.
    const Scratch<std::byte> gathered(dense ? 0 : n * bytes);
    const Scratch<T> row(n);
    const Scratch<T> partials(chunks_of(n));
    NestPosition<1> position(nest, first * n);
    for (int64_t r = first; r < last; ++r) {
      const auto* from = static_cast<const T*>(input.fetch(nest, position, 0, r * n, n, gathered.data(),
                                                           reinterpret_cast<std::byte*>(row.data())));
      const bool more = dense && r + 1 < last;
      loop(from, RowArgs{n, out.data() + r * n * bytes, narrow, bytes, stream, row.data(), partials.data(),
                         more ? x.data() + (r + 1) * n * bytes : nullptr, bytes});
      position.skip(n);
    }
    if (stream) copy_kernels().fence();
  });
}

template <class T>
const RowLoops<T>& loops() {
  if constexpr (std::is_same_v<T, float>) {
    return row_kernels().f32;
  } else {
    return row_kernels().f64;
  }
}

template <class T>
void softmax_rows(const Operand& x, int64_t n, bool log, const Target& out) {
  for_rows<T>(x, n, out, [&](const T* from, const RowArgs& args) { loops<T>().softmax(from, log, args); });
}

// A dense operand's elements in T: itself, or a widened copy in `buffer`.
template <class T>
const T* widened(const Operand& x, std::unique_ptr<T[]>& buffer, int64_t n) {
  if (x.storage == nullptr) return nullptr;
  const CastLoop widen = conversion(x.dtype, kDTypeOf<T>);
  if (widen == nullptr) return reinterpret_cast<const T*>(x.data());
  buffer.reset(new T[static_cast<size_t>(n)]);
  widen(x.data(), buffer.get(), n);
  return buffer.get();
}

template <class T>
void norm_rows(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
               const Target& out) {
  const int64_t n = weight.layout->shape().elem_count();
  std::unique_ptr<T[]> weights;
  std::unique_ptr<T[]> biases;
  const T* const w = widened<T>(weight, weights, n);
  const T* const b = widened<T>(bias, biases, n);
  for_rows<T>(x, n, out, [&](const T* from, const RowArgs& args) {
    if (kind == NormKind::Rms) {
      loops<T>().rms_norm(from, w, static_cast<T>(eps), args);
    } else {
      loops<T>().layer_norm(from, w, b, static_cast<T>(eps), args);
    }
  });
}

}  // namespace

void CpuBackend::softmax(const Operand& x, int trailing, bool log, const Target& out) {
  int64_t n = 1;
  for (int axis = x.layout->rank() - trailing; axis < x.layout->rank(); ++axis) n *= x.layout->dim(axis);
  if (compute_dtype(x.dtype) == DType::F64) {
    softmax_rows<double>(x, n, log, out);
  } else {
    softmax_rows<float>(x, n, log, out);
  }
}

void CpuBackend::norm(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
                      const Target& out) {
  if (compute_dtype(x.dtype) == DType::F64) {
    norm_rows<double>(kind, x, weight, bias, eps, out);
  } else {
    norm_rows<float>(kind, x, weight, bias, eps, out);
  }
}

// In place over a copy of x: lines of the inner axes are added to running sums in the compute type.
void CpuBackend::cumsum(const Operand& x, int axis, const Target& out) {
  copy(x, out);
  const Shape& shape = out.layout->shape();
  const int64_t n = shape[axis];
  int64_t inner = 1;
  for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  const DType compute = compute_dtype(out.dtype);
  const size_t type = compute_index(compute);
  const CastLoop widen = conversion(out.dtype, compute);
  const CastLoop narrow = conversion(compute, out.dtype);
  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
  constexpr int64_t kRun = 512;
  // A line is `width` neighbours at one place of the axis; where the axis is innermost, a stretch of it.
  const int64_t width = inner == 1 ? kRun : std::min(inner, kRun);
  const int64_t lines = inner == 1 ? 1 : (inner + width - 1) / width;
  const int64_t outer = shape.elem_count() / n / inner;
  ThreadPool::global().parallel_for(outer * lines, [&](int64_t task) {
    alignas(64) std::byte sums[kRun * 8] = {};
    alignas(64) std::byte run[kRun * 8];
    const auto add = [&](std::byte* at, int64_t count) {
      std::byte* values = widen != nullptr ? run : at;
      if (widen != nullptr) widen(at, values, count);
      if (inner == 1) {
        row_kernels().running_sum[type](values, count, sums);
      } else {
        row_kernels().running_sums[type](values, count, sums);
      }
      if (narrow != nullptr) narrow(values, at, count);
    };
    const int64_t column = task % lines * width;
    std::byte* base = out.data() + (task / lines * n * inner + column) * bytes;
    if (inner == 1) {
      for (int64_t i = 0; i < n; i += width) add(base + i * bytes, std::min(width, n - i));
    } else {
      for (int64_t i = 0; i < n; ++i) add(base + i * inner * bytes, std::min(width, inner - column));
    }
  });
}

}  // namespace beeswax::cpu
