// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: rows in their order.
#include "backends/cpu/kernels/rope.h"

#include "backends/cpu/backend.h"
#include "backends/cpu/streaming.h"
#include "backends/nest.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kLeastTask = 1 << 14;  // elements, or one row
constexpr int64_t kMostTask = 1 << 17;

}  // namespace

// Stretches of positions, each for all heads, would read angles from memory once where heads lie around
// positions, but took up to twice as long: what costs is to begin anew elsewhere in x.
void CpuBackend::rope(RopePairs pairs, const Operand& x, const Operand& cos, const Operand& sin,
                      const Target& out) {
  const int last = x.layout->rank() - 1;
  const int64_t n = x.layout->dim(last), half = cos.layout->dim(last);
  const Layout rows = x.layout->narrow(last, 0, 1), angles = cos.layout->narrow(last, 0, 1);
  const Nest<2> nest({&rows, &angles});
  const auto bytes = static_cast<int64_t>(dtype_bytes(x.dtype, 1));
  const auto angle_bytes = static_cast<int64_t>(dtype_bytes(cos.dtype, 1));
  const RopeLoop loop = rope_kernels().loops[static_cast<size_t>(x.dtype)][static_cast<size_t>(pairs)];
  const bool whole_lines =
      n * bytes % 64 == 0 && (pairs == RopePairs::Halves ? 1 : 2) * half * bytes % 64 == 0;
  const bool past_caches = whole_lines && reinterpret_cast<uintptr_t>(out.data()) % 64 == 0 &&
                           beyond_caches(static_cast<size_t>(nest.count * n * bytes));
  RopeArgs args{};
  args.x_row = nest.strides[0][nest.last()];
  args.angle_row = nest.strides[1][nest.last()];
  args.n = n;
  args.half = half;
  args.past_caches = past_caches;

  const int64_t share = nest.count * n / (8 * ThreadPool::global().threads());
  const int64_t task = std::max<int64_t>(1, std::clamp(share, kLeastTask, kMostTask) / n);
  parallel_ranges(nest.count, task, [&](int64_t row, int64_t end) {
    RopeArgs part = args;
    NestPosition<2> position(nest, row);
    for (; row < end; row += part.rows) {
      part.rows = std::min(position.left(), end - row);
      part.x = x.data() + position.offset(0) * bytes;
      part.cos = cos.data() + position.offset(1) * angle_bytes;
      part.sin = sin.data() + position.offset(1) * angle_bytes;
      part.y = out.data() + row * n * bytes;
      loop(part);
      position.advance(part.rows);
    }
    if (past_caches) copy_kernels().fence();
  });
}

}  // namespace beeswax::cpu
