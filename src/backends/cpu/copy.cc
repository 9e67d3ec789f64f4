// SPDX-License-Identifier: Apache-2.0
// Copies between layouts: dense runs as memory, one transposed pair of axes in tiles, the rest by strides.
#include "backends/cpu/kernels/copy.h"

#include <cstring>

#include "backends/cpu/backend.h"
#include "backends/cpu/kernels/transpose.h"
#include "backends/cpu/nest.h"
#include "backends/cpu/streaming.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr size_t kIn = 0;
constexpr size_t kOut = 1;
constexpr int64_t kGrain = 1 << 16;     // elements in one task
constexpr int64_t kLeastStream = 1024;  // bytes of a run that are streamed in place
constexpr int64_t kPart = 2048;  // bytes put together to be streamed; small, so that reads go on meanwhile

void copy_dense(std::byte* out, const std::byte* from, size_t bytes) {
  const bool past_caches = beyond_caches(bytes);
  parallel_ranges(static_cast<int64_t>(bytes), 1 << 20, [&](int64_t begin, int64_t end) {
    const auto size = static_cast<size_t>(end - begin);
    if (past_caches) {
      copy_kernels().stream(out + begin, from + begin, size);
      copy_kernels().fence();
    } else {
      std::memcpy(out + begin, from + begin, size);
    }
  });
}

// Whether operand k lies in memory in the order of the nest, without gaps.
bool is_dense(const Nest<2>& nest, size_t k) {
  int64_t expected = 1;
  for (size_t axis = nest.last() + 1; axis-- > 0; expected *= nest.dims[axis])
    if (nest.strides[k][axis] != expected) return false;
  return true;
}

// The axis along which the input is dense, when that is not the innermost one; else -1.
int transposed_axis(const Nest<2>& nest) {
  if (nest.rank < 2 || nest.strides[kOut][nest.last()] != 1 || nest.strides[kIn][nest.last()] <= 1) return -1;
  for (int axis = 0; axis < nest.rank - 1; ++axis)
    if (nest.strides[kIn][static_cast<size_t>(axis)] == 1 && nest.dims[static_cast<size_t>(axis)] >= 8)
      return axis;
  return -1;
}

// The plane of `axis` (rows) and the innermost axis (columns) is one transpose; the other axes are looped
// over.
void copy_transposed(const Nest<2>& nest, int axis, std::byte* out, const std::byte* from, size_t bytes) {
  const auto row_axis = static_cast<size_t>(axis);
  const int64_t rows = nest.dims[row_axis];
  const int64_t cols = nest.inner();
  const int64_t deep = 512 / static_cast<int64_t>(bytes);  // as far as the kernel walks along a column
  const int64_t row_block = std::max(deep, kGrain / cols / deep * deep);
  const int64_t blocks = (rows + row_block - 1) / row_block;
  const int64_t planes = nest.count / rows / cols;
  const auto size = static_cast<int64_t>(bytes);
  const bool past_caches = beyond_caches(static_cast<size_t>(nest.count) * bytes);
  ThreadPool::global().parallel_for(planes * blocks, [&](int64_t task) {
    int64_t plane = task / blocks;
    const int64_t row = task % blocks * row_block;
    int64_t in_at = row;
    int64_t out_at = row * nest.strides[kOut][row_axis];
    for (size_t a = nest.last(); a-- > 0;) {
      if (a == row_axis) continue;
      const int64_t index = plane % nest.dims[a];
      plane /= nest.dims[a];
      in_at += index * nest.strides[kIn][a];
      out_at += index * nest.strides[kOut][a];
    }
    transpose_kernels().transpose[size_class(bytes)](out + out_at * size, nest.strides[kOut][row_axis],
                                                     from + in_at * size, nest.strides[kIn][nest.last()],
                                                     std::min(row_block, rows - row), cols, past_caches);
    if (past_caches) copy_kernels().fence();
  });
}

// To a dense output, run by run of the input's innermost axis.
void copy_to_dense(const Nest<2>& nest, std::byte* out, const std::byte* from, size_t bytes) {
  const auto size = static_cast<int64_t>(bytes);
  const auto gather = copy_kernels().gather[size_class(bytes)];
  const auto stream = copy_kernels().stream;
  const int64_t stride = nest.strides[kIn][nest.last()];
  const bool past_caches = beyond_caches(static_cast<size_t>(nest.count) * bytes);
  const bool whole_runs = stride == 1 && nest.inner() * size >= kLeastStream;
  parallel_ranges(nest.count, kGrain, [&](int64_t begin, int64_t end) {
    NestPosition<2> position(nest, begin);
    std::byte* y = out + begin * size;
    if (past_caches && !whole_runs) {
      // Short runs, or runs with gaps, are put together before they are streamed.
      DenseWriter writer(y, true);
      for (int64_t at = begin; at < end;) {
        const int64_t count = std::min(end - at, kPart / size);
        writer.write(count * size,
                     [&](std::byte* part) { gather_run(nest, position, kIn, from, bytes, part, count); });
        position.skip(count);
        at += count;
      }
      return;
    }
    for (int64_t left = end - begin; left > 0;) {
      const int64_t run = std::min(left, position.left());
      const std::byte* x = from + position.offset(kIn) * size;
      const auto run_bytes = static_cast<size_t>(run * size);
      if (stride != 1) {
        gather(y, x, stride, run);
      } else if (past_caches) {
        stream(y, x, run_bytes);
      } else {
        std::memcpy(y, x, run_bytes);
      }
      y += run_bytes;
      left -= run;
      position.advance(run);
    }
    if (past_caches) copy_kernels().fence();
  });
}

void copy_strided(const Nest<2>& nest, std::byte* out, const std::byte* from, size_t bytes) {
  const CopyKernels& kernels = copy_kernels();
  const size_t size = size_class(bytes);
  const int64_t in_stride = nest.strides[kIn][nest.last()];
  const int64_t out_stride = nest.strides[kOut][nest.last()];
  const bool past_caches = out_stride == 1 && in_stride == 1 &&
                           nest.inner() * static_cast<int64_t>(bytes) >= kLeastStream &&
                           beyond_caches(static_cast<size_t>(nest.count) * bytes);
  parallel_ranges(nest.count, kGrain, [&](int64_t begin, int64_t end) {
    NestPosition<2> position(nest, begin);
    for (int64_t left = end - begin; left > 0;) {
      const int64_t run = std::min(left, position.left());
      const std::byte* x = from + position.offset(kIn) * static_cast<int64_t>(bytes);
      std::byte* y = out + position.offset(kOut) * static_cast<int64_t>(bytes);
      if (past_caches) {
        kernels.stream(y, x, static_cast<size_t>(run) * bytes);
      } else if (out_stride == 1 && in_stride == 1) {
        std::memcpy(y, x, static_cast<size_t>(run) * bytes);
      } else if (out_stride == 1) {
        kernels.gather[size](y, x, in_stride, run);
      } else if (in_stride == 1) {
        kernels.scatter[size](y, out_stride, x, run);
      } else {
        for (int64_t i = 0; i < run; ++i)
          std::memcpy(y + i * out_stride * static_cast<int64_t>(bytes),
                      x + i * in_stride * static_cast<int64_t>(bytes), bytes);
      }
      left -= run;
      position.advance(run);
    }
    if (past_caches) kernels.fence();
  });
}

}  // namespace

void CpuBackend::copy(const Operand& x, const Target& out) {
  if (dtype_bits(x.dtype) % 8 != 0) {  // packed below a byte: only whole tensors move
    const auto count = static_cast<size_t>(x.layout->shape().elem_count());
    std::memcpy(out.data(), x.data(), dtype_bytes(x.dtype, count));
    return;
  }
  const size_t bytes = dtype_bytes(x.dtype, 1);
  const Nest<2> nest({x.layout, out.layout});
  if (nest.dense(kIn) && nest.dense(kOut)) {
    copy_dense(out.data(), x.data(), static_cast<size_t>(nest.count) * bytes);
  } else if (const int axis = transposed_axis(nest); axis >= 0) {
    copy_transposed(nest, axis, out.data(), x.data(), bytes);
  } else if (is_dense(nest, kOut)) {
    copy_to_dense(nest, out.data(), x.data(), bytes);
  } else {
    copy_strided(nest, out.data(), x.data(), bytes);
  }
}

}  // namespace beeswax::cpu
