// SPDX-License-Identifier: Apache-2.0
// ChunkRun: how an elementwise operation walks its tensors.
//
// The output's elements are split into tasks of a fixed size, and a task into chunks that fit the first
// cache. For each chunk every input is handed over as a dense run of its compute type: in place where it
// already is one, else gathered by its strides and widened into a buffer. The loop's result goes straight to
// the output, or through a buffer where it must be narrowed or is streamed past the caches. So there is one
// loop per operation and compute type; strides, dtypes and broadcasting cost a pass over the first cache
// each.
#pragma once

#include <array>

#include "backends/backend.h"
#include "backends/cpu/convert_scalar.h"
#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/compute_type.h"
#include "backends/cpu/nest.h"
#include "backends/cpu/streaming.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {

/// The dtype whose loops serve `dtype`: itself, or f32 for narrow floats.
DType compute_dtype(DType dtype);
/// Index of a compute dtype into the kernels' tables.
size_t compute_index(DType compute);
/// The loop that converts, or null for none.
inline CastLoop conversion(DType from, DType to) {
  return from == to ? nullptr : cast_kernels().loops[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

inline constexpr int64_t kTask = 1 << 15;  // elements in one task

/// One input of a run: its elements, and the dtype the loop wants them in.
class ChunkInput {
 public:
  ChunkInput(const Argument& argument, DType wanted);
  /// Elements [begin, begin + count) of the output's order, dense and of the wanted dtype.
  template <int N>
  const void* fetch(const Nest<N>& nest, const NestPosition<N>& position, size_t k, int64_t begin,
                    int64_t count, std::byte* gathered, std::byte* widened) const {
    if (base_ == nullptr) return scalar_block_.data();
    const std::byte* from = base_ + begin * static_cast<int64_t>(bytes_);
    if (!nest.dense(k)) {
      if (conversion_ == nullptr) gathered = widened;
      gather_run(nest, position, k, base_, bytes_, gathered, count);
      from = gathered;
    }
    if (conversion_ == nullptr) return from;
    conversion_(from, widened, count);
    return widened;
  }
  /// Asks for elements from `begin` on while others are computed. Past the end it is only a hint that misses.
  void request(bool dense, int64_t begin, int64_t count) const {
    if (base_ == nullptr || !dense) return;
    const std::byte* next = base_ + begin * static_cast<int64_t>(bytes_);
    for (size_t at = 0; at < static_cast<size_t>(count) * bytes_; at += 64) __builtin_prefetch(next + at);
  }
  bool in_place(bool dense) const { return base_ != nullptr && dense && conversion_ == nullptr; }

 private:
  static constexpr int64_t kMostChunk = 1024;
  const std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  CastLoop conversion_ = nullptr;
  alignas(64) std::array<std::byte, kMostChunk * 8> scalar_block_;
};

/// Calls loop(inputs, output, count, begin) for every chunk of `out`. `loop_out` is the dtype the loop
/// writes.
template <int N, class Loop>
void run_chunks(const std::array<const Argument*, N>& arguments, const std::array<DType, N>& wanted,
                const Target& out, DType loop_out, const Loop& loop) {
  std::array<const Layout*, N + 1> layouts;
  layouts[0] = out.layout;
  for (size_t k = 0; k < N; ++k)
    layouts[k + 1] = arguments[k]->is_scalar() ? out.layout : arguments[k]->operand.layout;
  const Nest<N + 1> nest(layouts);

  const auto inputs = [&]<size_t... K>(std::index_sequence<K...>) {
    return std::array<ChunkInput, N>{ChunkInput(*arguments[K], wanted[K])...};
  }(std::make_index_sequence<N>());
  const CastLoop narrow = conversion(loop_out, out.dtype);
  const size_t out_bytes = dtype_bytes(out.dtype, 1);
  const bool past_caches = beyond_caches(static_cast<size_t>(nest.count) * out_bytes);
  bool whole = narrow == nullptr && !past_caches;
  for (size_t k = 0; k < N; ++k) whole = whole && inputs[k].in_place(nest.dense(k + 1));
  // Past the caches a chunk is about eight lines long: while it is computed, the next one is on its way.
  const int64_t chunk = whole ? kTask : !past_caches ? 512 : narrow != nullptr ? 256 : 128;
  std::byte* const to = out.data();

  parallel_ranges(nest.count, kTask, [&](int64_t task_begin, int64_t task_end) {
    alignas(64) std::byte buffers[2 * N + 2][4096];
    NestPosition<N + 1> position(nest, task_begin);
    for (int64_t begin = task_begin; begin < task_end; begin += chunk) {
      const int64_t count = std::min(chunk, task_end - begin);
      std::array<const void*, N> from;
      for (size_t k = 0; k < N; ++k) {
        inputs[k].request(nest.dense(k + 1), begin + count, count);
        from[k] = inputs[k].fetch(nest, position, k + 1, begin, count, buffers[2 * k], buffers[2 * k + 1]);
      }
      std::byte* const y = to + begin * static_cast<int64_t>(out_bytes);
      std::byte* const computed = narrow != nullptr || past_caches ? buffers[2 * N] : y;
      loop(from, computed, count);
      std::byte* const narrowed = narrow == nullptr ? computed : past_caches ? buffers[2 * N + 1] : y;
      if (narrow != nullptr) narrow(computed, narrowed, count);
      if (past_caches) copy_kernels().stream(y, narrowed, static_cast<size_t>(count) * out_bytes);
      position.skip(count);
    }
    if (past_caches) copy_kernels().fence();
  });
}

}  // namespace beeswax::cpu
