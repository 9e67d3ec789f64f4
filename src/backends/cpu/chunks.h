// SPDX-License-Identifier: Apache-2.0
// How elementwise operations walk their tensors.
//
// The output's elements are split into tasks of a fixed size. A task calls the operation's loop on runs of
// elements: each input is handed over as a dense run of its own dtype, in place where it is one, else
// gathered by its strides into a buffer in the first cache, a number or a broadcast element as a buffer of
// copies. The loop itself widens, computes, rounds and writes (kernels/lines.h). So there is one loop per
// operation and dtype; strides and broadcasting cost a pass over the first cache each.
#pragma once

#include <array>
#include <cstddef>

#include "backends/backend.h"
#include "backends/convert_scalar.h"
#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/compute_type.h"
#include "backends/cpu/nest.h"
#include "backends/cpu/streaming.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {

/// Index of a compute dtype into the kernels' tables.
size_t compute_index(DType compute);
/// The loop that converts dense elements, or null for none.
inline CastLoop conversion(DType from, DType to) {
  return {from == to ? nullptr : cast_kernels().loops[static_cast<size_t>(from)][static_cast<size_t>(to)]};
}

inline constexpr int64_t kTask = 1 << 15;  // elements in one task
inline constexpr int64_t kMostRun = 512;   // elements of a run that is gathered or filled

/// An input of loops in the compute type: its elements, and the dtype the loop wants them in.
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

 private:
  static constexpr int64_t kMostChunk = 1024;
  const std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  CastLoop conversion_;
  alignas(64) std::array<std::byte, kMostChunk * 8> scalar_block_;
};

/// Where the runs of one input come from.
struct RunSource {
  const std::byte* base;  // of a number: its bytes
  size_t bytes;           // of an element
  bool dense;             // one run from beginning to end
  bool repeats;           // one element for a whole row
  bool number;
};

/// `count` elements of operand k from `position` (element `begin`) on: where they are, or in `buffer`.
template <int N>
const std::byte* fetch_run(const RunSource& source, const Nest<N>& nest, const NestPosition<N>& position,
                           size_t k, int64_t begin, int64_t count, std::byte* buffer,
                           const std::byte*& filled) {
  const auto bytes = static_cast<int64_t>(source.bytes);
  if (source.dense) return source.base + begin * bytes;
  const bool in_row = count <= position.left();
  const std::byte* from = source.number ? source.base : source.base + position.offset(k) * bytes;
  if (source.number || (source.repeats && in_row)) {
    if (filled != from) copy_kernels().gather[size_class(source.bytes)](buffer, from, 0, kMostRun);
    filled = from;
    return buffer;
  }
  if (in_row && nest.strides[k][nest.last()] == 1) return from;
  gather_run(nest, position, k, source.base, source.bytes, buffer, count);
  filled = nullptr;
  return buffer;
}

/// Calls loop(inputs, output, count, past_caches) for runs that make up `out`, which is dense. An input is a
/// dense run of its own dtype.
template <int N, class Loop>
void run_chunks(const std::array<const Argument*, N>& arguments, const Target& out, const Loop& loop) {
  std::array<const Layout*, N + 1> layouts;
  layouts[0] = out.layout;
  for (size_t k = 0; k < N; ++k)
    layouts[k + 1] = arguments[k]->is_scalar() ? out.layout : arguments[k]->operand.layout;
  const Nest<N + 1> nest(layouts);

  // A number is rounded to its tensor's dtype, so that it equals a tensor of that number.
  std::array<RunSource, N> sources;
  alignas(8) std::byte numbers[N][8];
  bool in_place = true, by_rows = true;
  for (size_t k = 0; k < N; ++k) {
    const Argument& argument = *arguments[k];
    const size_t bytes = dtype_bytes(argument.operand.dtype, 1);
    if (argument.is_scalar()) {
      std::memcpy(numbers[k], ScalarBytes(argument.scalar, argument.operand.dtype).data(), 8);
      sources[k] = {numbers[k], bytes, false, true, true};
    } else {
      const int64_t stride = nest.strides[k + 1][nest.last()];
      sources[k] = {argument.operand.data(), bytes, nest.dense(k + 1), stride == 0, false};
      by_rows = by_rows && stride == 1;
    }
    in_place = in_place && sources[k].dense;
    by_rows = by_rows && !sources[k].number;
  }
  std::byte* const to = out.data();
  const size_t out_bytes = dtype_bytes(out.dtype, 1);
  const bool past_caches =
      beyond_caches(static_cast<size_t>(nest.count) * out_bytes) && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  // Runs end at whole lines of any dtype, so that each begins at one. Results that go past the caches are
  // gathered for a few lines at a time: memory serves short turns of reading and writing best.
  constexpr int64_t kWhole = 64;
  const int64_t gathered =
      past_caches ? std::max<int64_t>(kWhole, 512 / static_cast<int64_t>(out_bytes)) : kMostRun;
  const int64_t most = by_rows ? 4 * kTask : kMostRun;

  // A large result is cut into longer tasks, as long as every thread gets several.
  const int64_t share = nest.count / (8 * ThreadPool::global().threads()) / kTask * kTask;
  const int64_t task = past_caches ? std::clamp(share, kTask, 4 * kTask) : kTask;
  parallel_ranges(nest.count, task, [&](int64_t begin, int64_t end) {
    if (in_place) {
      std::array<const void*, N> from;
      for (size_t k = 0; k < N; ++k)
        from[k] = sources[k].base + begin * static_cast<int64_t>(sources[k].bytes);
      loop(from, to + begin * static_cast<int64_t>(out_bytes), end - begin, past_caches);
    } else {
      alignas(64) std::byte buffers[N][kMostRun * 8];
      std::array<const std::byte*, N> filled{};  // the element that a buffer repeats
      NestPosition<N + 1> position(nest, begin);
      while (begin < end) {
        const int64_t whole_lines = std::min(position.left(), end - begin) / kWhole * kWhole;
        const bool in_row = position.left() >= end - begin || whole_lines >= gathered;
        const int64_t count =
            std::min(in_row && whole_lines > 0 ? std::min(whole_lines, most) : gathered, end - begin);
        std::array<const void*, N> from;
        for (size_t k = 0; k < N; ++k)
          from[k] = fetch_run(sources[k], nest, position, k + 1, begin, count, buffers[k], filled[k]);
        loop(from, to + begin * static_cast<int64_t>(out_bytes), count, past_caches);
        position.skip(count);
        begin += count;
      }
    }
    if (past_caches) copy_kernels().fence();
  });
}

}  // namespace beeswax::cpu
