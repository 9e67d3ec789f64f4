// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/pool_large.h"

#include "backends/cpu/kernels/reduce.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kMostPartials = 1 << 12;  // of the chunks of windows that are reduced at once, about

// Reduces the windows [b, c, h, w, taps down, taps across] to the outputs [b, c, h, w], in parts whose
// partial results take little memory.
void reduce_windows(ReduceOp op, const Operand& windows, const Target& out) {
  const Layout &from = *windows.layout, &to = *out.layout;
  const int64_t outputs = to.shape().elem_count();
  const int64_t chunks = from.dim(4) * from.dim(5) / kChunk + 1;
  if (outputs == 1 || outputs <= kMostPartials / chunks) {
    CpuBackend::instance().reduce(op, windows, 0b110000, out);
    return;
  }
  int axis = 0;
  while (to.dim(axis) == 1) ++axis;  // outputs before and after a cut of the first long axis lie together
  const int64_t half = to.dim(axis) / 2;
  const auto part = [&](int64_t start, int64_t length) {
    const Layout some = from.narrow(axis, start, length), results = to.narrow(axis, start, length);
    reduce_windows(op, {windows.storage, &some, windows.dtype}, {out.storage, &results, out.dtype});
  };
  part(0, half);
  part(half, to.dim(axis) - half);
}

// Averages of integers: sums in 64 bits have no order, and the quotient is truncated.
template <class T>
void average_integers(const Operand& windows, const Target& out) {
  const Layout& from = *windows.layout;
  const Shape outputs(from.shape().dims().first(4));
  const auto* x = reinterpret_cast<const T*>(windows.data());
  auto* to = reinterpret_cast<T*>(out.data());
  parallel_ranges(outputs.elem_count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* window = x;
      for (int64_t axis = 3, rest = i; axis >= 0; --axis) {
        window += rest % outputs[static_cast<int>(axis)] * from.stride(static_cast<int>(axis));
        rest /= outputs[static_cast<int>(axis)];
      }
      uint64_t sum = 0;  // wraps
      for (int64_t r = 0; r < from.dim(4); ++r)
        for (int64_t c = 0; c < from.dim(5); ++c)
          sum += static_cast<uint64_t>(int64_t{window[r * from.stride(4) + c * from.stride(5)]});
      to[i] = static_cast<T>(static_cast<int64_t>(sum) / (from.dim(4) * from.dim(5)));
    }
  });
}

void average_integers(const Operand& windows, const Target& out) {
  switch (windows.dtype) {
    case DType::U8:
      return average_integers<uint8_t>(windows, out);
    case DType::I16:
      return average_integers<int16_t>(windows, out);
    case DType::U32:
      return average_integers<uint32_t>(windows, out);
    case DType::I32:
      return average_integers<int32_t>(windows, out);
    default:
      return average_integers<int64_t>(windows, out);
  }
}

}  // namespace

void pool_large(const PoolShape& s, const Operand& x, const Target& out) {
  const Layout layout = x.layout->unfold(2, s.h_k, s.h_stride).unfold(3, s.w_k, s.w_stride);
  const Operand windows{x.storage, &layout, x.dtype};
  if (s.kind == PoolKind::Average && dtype_is_int(x.dtype)) {
    average_integers(windows, out);
  } else {
    reduce_windows(s.kind == PoolKind::Average ? ReduceOp::Mean : ReduceOp::Max, windows, out);
  }
}

}  // namespace beeswax::cpu
