// SPDX-License-Identifier: Apache-2.0
// Moves by ids: index_select, gather, scatter. Sums by ids are in index_add.cc.
#include "backends/cpu/backend.h"
#include "backends/cpu/ids.h"
#include "backends/cpu/index_layouts.h"
#include "backends/cpu/streaming.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kGrain = 1 << 16;     // elements in one task
constexpr int64_t kLeastStream = 1024;  // bytes in a row from which going past the caches pays
static_assert(kIdBlock * 8 <= DenseWriter::kBytes);

// index_select as [left, ids, right]: rows of `right` elements move whole.
class Select {
 public:
  Select(const Operand& x, const Operand& ids, int axis, const Target& out)
      : bytes_(static_cast<int64_t>(dtype_bytes(x.dtype, 1))),
        left_layout_(part_of(*x.layout, 0, axis)),
        right_layout_(part_of(*x.layout, axis + 1, x.layout->rank())),
        left_({&left_layout_}),
        right_({&right_layout_}),
        ids_("index_select", ids, x.layout->shape(), axis),
        id_count_(ids.layout->dim(0)),
        id_stride_(ids.layout->stride(0)),
        axis_stride_(x.layout->stride(axis)),
        from_(x.data()),
        to_(out.data()),
        past_caches_(beyond_caches(static_cast<size_t>(left_.count * id_count_ * right_.count * bytes_))) {}

  void run() {
    const int64_t right_block = std::min(right_.count, kGrain);
    const int64_t id_block = std::min({id_count_, kIdBlock, std::max<int64_t>(1, kGrain / right_block)});
    const int64_t left_block = std::min(left_.count, std::max<int64_t>(1, kGrain / (right_block * id_block)));
    const int64_t rights = blocks(right_.count, right_block);
    const int64_t id_blocks = blocks(id_count_, id_block);
    ThreadPool::global().parallel_for(
        blocks(left_.count, left_block) * id_blocks * rights, [&](int64_t task) {
          const int64_t right = task % rights * right_block;
          const int64_t id = task / rights % id_blocks * id_block;
          const int64_t left = task / rights / id_blocks * left_block;
          block(left, std::min(left_block, left_.count - left), id, std::min(id_block, id_count_ - id), right,
                std::min(right_block, right_.count - right));
        });
    ids_.require_good();
  }

 private:
  static int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

  void block(int64_t left, int64_t lefts, int64_t id, int64_t id_count, int64_t right, int64_t width) {
    int64_t ids[kIdBlock];
    ids_.load(ids, id * id_stride_, id_stride_, id_count, id);
    NestPosition<1> position(left_, left);
    for (int64_t l = left; l < left + lefts; ++l, position.advance(1)) {
      const std::byte* from = from_ + position.offset(0) * bytes_;
      std::byte* to = to_ + ((l * id_count_ + id) * right_.count + right) * bytes_;
      if (right_.count == 1) {
        const auto take = indexing_kernels().take[size_class(static_cast<size_t>(bytes_))];
        DenseWriter(to, past_caches_ && id_count * bytes_ >= kLeastStream)
            .write(id_count * bytes_, [&](std::byte* y) { take(y, from, 0, axis_stride_, ids, id_count); });
      } else {
        rows(from, to, ids, id_count, right, width);
      }
    }
  }

  void rows(const std::byte* from, std::byte* to, const int64_t* ids, int64_t id_count, int64_t right,
            int64_t width) const {
    const NestPosition<1> start(right_, right);
    const auto size = static_cast<size_t>(width * bytes_);
    const bool dense = right_.dense(0);
    const bool stream = past_caches_ && static_cast<int64_t>(size) >= kLeastStream;
    for (int64_t i = 0; i < id_count; ++i, to += right_.count * bytes_) {
      const std::byte* row = from + ids[i] * axis_stride_ * bytes_;
      if (ids[i] < 0) {
        std::memset(to, 0, size);
      } else if (!dense) {
        gather_run(right_, start, 0, row, static_cast<size_t>(bytes_), to, width);
      } else if (stream) {
        copy_kernels().stream(to, row + right * bytes_, size);
      } else {
        std::memcpy(to, row + right * bytes_, size);
      }
    }
    if (stream) copy_kernels().fence();
  }

  int64_t bytes_;
  Layout left_layout_, right_layout_;
  Nest<1> left_, right_;
  Ids ids_;
  int64_t id_count_, id_stride_, axis_stride_;
  const std::byte* from_;
  std::byte* to_;
  bool past_caches_;
};

}  // namespace

void CpuBackend::index_select(const Operand& x, const Operand& ids, int axis, const Target& out) {
  if (out.layout->shape().elem_count() == 0) {
    check_ids("index_select", ids, x.layout->shape(), axis);
    return;
  }
  Select(x, ids, axis, out).run();
}

void CpuBackend::gather(const Operand& x, const Operand& ids, int axis, const Target& out) {
  const Layout base = without_step(*x.layout, ids.layout->shape(), axis);
  const Nest<2> nest({ids.layout, &base});
  constexpr size_t kIdsAt = 0;
  constexpr size_t kFrom = 1;
  const auto bytes = static_cast<int64_t>(dtype_bytes(x.dtype, 1));
  const size_t element_class = size_class(static_cast<size_t>(bytes));
  const int64_t axis_stride = x.layout->stride(axis);
  const std::byte* from = x.data();
  std::byte* to = out.data();
  const bool past_caches =
      nest.inner() * bytes >= kLeastStream && beyond_caches(static_cast<size_t>(nest.count * bytes));
  const bool far =
      axis_stride * bytes >= 64 && beyond_caches(static_cast<size_t>(x.layout->shape().elem_count() * bytes));
  Ids all("gather", ids, x.layout->shape(), axis);
  parallel_ranges(nest.count, kGrain / 2, [&](int64_t begin, int64_t end) {
    DenseWriter writer(to + begin * bytes, past_caches);
    NestPosition<2> position(nest, begin);
    for (int64_t i = begin; i < end;) {
      const int64_t run = std::min({end - i, position.left(), kIdBlock});
      writer.write(run * bytes, [&](std::byte* y) {
        all.gather({y, from + position.offset(kFrom) * bytes, nest.strides[kFrom][nest.last()], axis_stride,
                    nullptr, nest.strides[kIdsAt][nest.last()], run, 0, far},
                   element_class, position.offset(kIdsAt), i);
      });
      i += run;
      position.advance(run);
    }
  });
  all.require_good();
}

void CpuBackend::scatter(ScatterMode mode, const Operand& ids, const Operand& source, int axis,
                         const Target& out) {
  if (mode == ScatterMode::Add) {
    scatter_add(ids, source, axis, out);
    return;
  }
  check_ids("scatter", ids, out.layout->shape(), axis);
  // Columns (everything but the axis) are independent; within one the last id wins.
  constexpr size_t kIdsAt = 0;
  constexpr size_t kFrom = 1;
  constexpr size_t kTo = 2;
  const Layout id_columns = drop_axis(*ids.layout, axis);
  const Layout from_columns = drop_axis(*source.layout, axis);
  const Layout to_columns = drop_axis(without_step(*out.layout, ids.layout->shape(), axis), axis);
  const Nest<3> nest({&id_columns, &from_columns, &to_columns});
  const auto bytes = static_cast<int64_t>(dtype_bytes(source.dtype, 1));
  const auto put = indexing_kernels().put[size_class(static_cast<size_t>(bytes))];
  const int64_t count = ids.layout->dim(axis);
  const int64_t size = out.layout->dim(axis);
  const int64_t id_step = ids.layout->stride(axis);
  const int64_t from_step = source.layout->stride(axis);
  const int64_t to_step = out.layout->stride(axis);
  const auto inner = [&](size_t k) { return nest.strides[k][nest.last()]; };
  const bool along_axis = from_step < inner(kFrom) || nest.inner() == 1;
  const std::byte* from = source.data();
  std::byte* to = out.data();
  const int64_t least = along_axis ? 1 : 256;  // columns: short rows would cost more in calls than in moves
  parallel_ranges(nest.count, std::max(least, kGrain / count), [&](int64_t begin, int64_t end) {
    int64_t block[kIdBlock];
    NestPosition<3> position(nest, begin);
    for (int64_t column = begin; column < end;) {
      const std::byte* x = from + position.offset(kFrom) * bytes;
      std::byte* y = to + position.offset(kTo) * bytes;
      const int64_t run = along_axis ? 1 : std::min({end - column, position.left(), kIdBlock});
      if (along_axis) {
        for (int64_t i = 0; i < count; i += kIdBlock) {
          const int64_t part = std::min(kIdBlock, count - i);
          load_ids(block, ids, position.offset(kIdsAt) + i * id_step, id_step, part, size);
          put(y, 0, to_step, block, x + i * from_step * bytes, from_step, part);
        }
      } else {
        for (int64_t i = 0; i < count; ++i) {
          load_ids(block, ids, position.offset(kIdsAt) + i * id_step, inner(kIdsAt), run, size);
          put(y, inner(kTo), to_step, block, x + i * from_step * bytes, inner(kFrom), run);
        }
      }
      column += run;
      position.advance(run);
    }
  });
}

}  // namespace beeswax::cpu
