// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/reduction.h"

#include <algorithm>
#include <array>

#include "backends/cpu/scratch.h"
#include "backends/cpu/streaming.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kBatch = 4096;     // elements that go through buffers at once
constexpr int64_t kGrain = 1 << 15;  // elements in one task, at least

// The grain in units of `length` elements: long stretches, in which requests run ahead, while every thread
// still gets several.
int64_t grain_of(int64_t units, int64_t length) {
  const int64_t share = units * length / (8 * ThreadPool::global().threads());
  return std::max<int64_t>(1, std::clamp<int64_t>(share, kGrain, 1 << 20) / length);
}

const ReduceLoops& loops_of(ReduceOp op, DType dtype) {
  return reduce_kernels().loops[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

// One pass: every chunk of the view to one value at out[outer][chunk][column].
class Pass {
 public:
  /// The first pass over a view maps its elements; the following ones are over its results.
  enum class Turn { First, Next };
  Pass(ReduceOp op, const ReduceView& view, Turn turn, const std::byte* centers)
      : view_(view),
        loops_(loops_of(op, view.compute)),
        map_(turn == Turn::First ? loops_.map : nullptr),
        whole_(turn == Turn::First || loops_.map == nullptr ? loops_of(op, view.dtype).whole : nullptr),
        own_columns_(turn == Turn::First ? loops_of(op, view.dtype).own_columns : nullptr),
        centers_(centers),
        size_(view.compute_bytes()) {}

  int64_t chunks() const { return chunks_of(view_.n()); }

  /// done(out, first, count): results [first, first + count) of [outer][chunk][column] were written. With
  /// `out` null they are in a buffer.
  template <class Done>
  void run(std::byte* out, const Done& done) const {
    const int64_t units = view_.outer.count * chunks();
    const int64_t length = std::min(view_.n(), kChunk) * view_.columns;
    if (view_.columns > kBlockColumns || (view_.columns > 1 && !view_.dense_rows())) {
      run_stripes(out, done);
      return;
    }
    const int64_t per_block = std::max<int64_t>(1, kBatch / view_.columns);
    parallel_ranges(units, grain_of(units, length), [&](int64_t begin, int64_t end) {
      alignas(64) std::byte results[kBatch * 8];
      for (int64_t unit = begin; unit < end;) {
        const int64_t stop = std::min(end, unit + per_block);
        const int64_t first = unit * view_.columns;
        std::byte* to = out == nullptr ? results : at(out, first);
        if (view_.columns == 1) {
          single(unit, stop, to);
        } else {
          blocks(unit, stop, to);
        }
        done(to, first, (stop - unit) * view_.columns);
        unit = stop;
      }
    });
  }

 private:
  std::byte* at(std::byte* x, int64_t i) const { return x + static_cast<size_t>(i) * size_; }
  const std::byte* at(const std::byte* x, int64_t i) const { return x + static_cast<size_t>(i) * size_; }
  const std::byte* source(int64_t offset) const {
    return view_.base + offset * static_cast<int64_t>(view_.bytes);
  }
  const std::byte* center(int64_t result) const {
    return centers_ == nullptr ? nullptr : at(centers_, result);
  }
  int64_t rows_of(int64_t chunk) const { return std::min(kChunk, view_.n() - chunk * kChunk); }

  // Units with one column: from the reduced elements of one result, or those of many results with few each.
  void single(int64_t unit, int64_t end, std::byte* out) const {
    const int64_t per_row = chunks();
    if (per_row == 1) {
      short_rows(unit, end, out);
      return;
    }
    while (unit < end) {
      const int64_t row = unit / per_row;
      const int64_t stop = std::min(end, (row + 1) * per_row);
      long_row(row, unit % per_row, stop - unit, out);
      out = at(out, stop - unit);
      unit = stop;
    }
  }

  // Chunks [chunk, chunk + count) of one row.
  void long_row(int64_t row, int64_t chunk, int64_t count, std::byte* out) const {
    alignas(64) std::byte gathered[kBatch * 8];
    alignas(64) std::byte values[kBatch * 8];
    const int64_t offset = NestPosition<1>(view_.outer, row).offset(0);
    const int64_t end = std::min(view_.n(), (chunk + count) * kChunk);
    NestPosition<1> position(view_.reduced, chunk * kChunk);
    for (int64_t begin = chunk * kChunk; begin < end;) {
      const std::byte* x = source(offset + position.offset(0));
      const bool dense = view_.reduced.strides[0][view_.reduced.last()] == 1;
      if (const int64_t run = std::min(end - begin, position.left()) / kChunk;
          dense && whole_ != nullptr && run > 0) {
        whole_(x, kChunk, run, out);
        position.skip(run * kChunk);
        out = at(out, run);
        begin += run * kChunk;
        continue;
      }
      const int64_t length = std::min(kBatch, end - begin);
      if (!dense || position.left() < length) {
        gather_run(view_.reduced, position, 0, source(offset), view_.bytes, gathered, length);
        x = gathered;
      }
      position.skip(length);
      x = prepare(x, length, values);
      if (map_ != nullptr) {
        map_(x, length, center(row), 0, values);
        x = values;
      }
      const int64_t full = length / kChunk;
      loops_.blocks(x, kChunk, full, kChunk, 1, out);
      if (length % kChunk != 0) loops_.blocks(at(x, full * kChunk), 0, 1, length % kChunk, 1, at(out, full));
      out = at(out, (length + kChunk - 1) / kChunk);
      begin += length;
    }
  }

  // Rows of at most one chunk.
  void short_rows(int64_t row, int64_t end, std::byte* out) const {
    alignas(64) std::byte gathered[kBatch * 8];
    alignas(64) std::byte values[kBatch * 8];
    const int64_t n = view_.n();
    const bool dense = view_.dense_rows();
    NestPosition<1> position(view_.outer, row);
    while (row < end) {
      const int64_t stride = view_.outer.strides[0][view_.outer.last()];
      int64_t rows = std::min(end - row, position.left());
      const std::byte* x = source(position.offset(0));
      if (dense && n == kChunk && whole_ != nullptr) {
        whole_(x, stride, rows, out);
      } else if (dense && view_.widen == nullptr && map_ == nullptr) {
        loops_.blocks(x, stride, rows, n, 1, out);
      } else {
        rows = std::min(rows, kBatch / n);
        if (!dense || (rows > 1 && stride != n)) {
          const NestPosition<1> start(view_.reduced, 0);
          for (int64_t r = 0; r < rows; ++r)
            gather_run(view_.reduced, start, 0, source(position.offset(0) + r * stride), view_.bytes,
                       gathered + static_cast<size_t>(r * n) * view_.bytes, n);
          x = gathered;
        }
        x = prepare(x, rows * n, values);
        if (map_ != nullptr) {
          if (centers_ == nullptr) {
            map_(x, rows * n, nullptr, 0, values);
          } else {
            for (int64_t r = 0; r < rows; ++r) map_(at(x, r * n), n, center(row + r), 0, at(values, r * n));
          }
          x = values;
        }
        loops_.blocks(x, n, rows, n, 1, out);
      }
      row += rows;
      out = at(out, rows);
      position.advance(rows);
    }
  }

  // Units of a few columns whose rows follow each other.
  void blocks(int64_t unit, int64_t end, std::byte* out) const {
    const int64_t columns = view_.columns;
    const int64_t per_row = chunks();
    const bool direct = view_.widen == nullptr && map_ == nullptr;
    const Scratch<std::byte> values(direct ? 0 : kChunk * columns * static_cast<int64_t>(size_));
    while (unit < end) {
      const int64_t row = unit / per_row;
      const int64_t chunk = unit % per_row;
      NestPosition<1> position(view_.outer, row);
      const int64_t rows = rows_of(chunk);
      const std::byte* x = source(position.offset(0) + chunk * kChunk * columns);
      int64_t units = 1;
      if (direct) {
        int64_t stride = view_.outer.strides[0][view_.outer.last()];
        if (per_row == 1) {
          units = std::min(end - unit, position.left());
        } else if (rows == kChunk) {
          units = std::min(end - unit, view_.n() / kChunk - chunk);
          stride = kChunk * columns;
        }
        loops_.blocks(x, stride, units, rows, columns, out);
      } else {
        x = prepare(x, rows * columns, values.data());
        if (map_ != nullptr) {
          const std::byte* c = center(row * columns);
          for (int64_t r = 0; r < rows; ++r)
            map_(at(x, r * columns), columns, c, c == nullptr ? 0 : 1, at(values.data(), r * columns));
          x = values.data();
        }
        loops_.blocks(x, 0, 1, rows, columns, out);
      }
      unit += units;
      out = at(out, units * columns);
    }
  }

  // Stripes of many columns; where there are units enough, all of them, as long as their sums fit.
  template <class Done>
  void run_stripes(std::byte* out, const Done& done) const {
    const auto size = static_cast<int64_t>(size_);
    const int64_t units = view_.outer.count * chunks();
    const int64_t wanted = 4 * ThreadPool::global().threads();
    int64_t stripes = (view_.columns * size + kStripeBytes - 1) / kStripeBytes;
    if (units * stripes < wanted) stripes = std::max(stripes, std::min(wanted / units, view_.columns / 128));
    const int64_t most = kStripeBytes / size;
    const int64_t width = std::min(most, ((view_.columns + stripes - 1) / stripes + 63) / 64 * 64);
    stripes = (view_.columns + width - 1) / width;
    const int64_t length = std::min(view_.n(), kChunk) * width;
    const bool own = own_columns_ != nullptr;
    const bool from_memory =
        beyond_caches(static_cast<size_t>(view_.outer.count * view_.n() * view_.columns) *
                      static_cast<size_t>(view_.bytes));
    const auto start_of = [&](int64_t task) {
      const int64_t unit = task / stripes;
      return NestPosition<1>(view_.outer, unit / chunks()).offset(0) + task % stripes * width +
             NestPosition<1>(view_.reduced, unit % chunks() * kChunk).offset(0);
    };
    parallel_ranges(units * stripes, grain_of(units * stripes, length), [&](int64_t begin, int64_t end) {
      const Scratch<std::byte> scratch(columns_scratch(width, size));
      const Scratch<std::byte> results(out == nullptr ? width * size : 0);
      std::array<int64_t, kChunk> offsets;
      int64_t known_chunk = -1;
      for (int64_t task = begin; task < end; ++task) {
        const int64_t unit = task / stripes;
        const int64_t column = task % stripes * width;
        const int64_t row = unit / chunks();
        const int64_t chunk = unit % chunks();
        const int64_t first = unit * view_.columns + column;
        const int64_t count = std::min(width, view_.columns - column);
        if (chunk != known_chunk) reduced_offsets(view_, chunk * kChunk, rows_of(chunk), offsets.data());
        known_chunk = chunk;
        std::byte* to = out == nullptr ? results.data() : at(out, first);
        ColumnsArgs args{};
        args.x = source(NestPosition<1>(view_.outer, row).offset(0) + column);
        args.offsets = offsets.data();
        args.rows = rows_of(chunk);
        args.columns = count;
        args.dense = count == view_.columns && view_.dense_rows();
        args.from_memory = from_memory;
        args.next = start_of(std::min(task + 1, units * stripes - 1)) - start_of(task);
        args.bytes = static_cast<int64_t>(view_.bytes);
        args.scratch = scratch.data();
        args.out = to;
        if (own) {
          own_columns_(args);
        } else {
          args.widen = view_.widen;
          args.map = map_;
          args.centers = center(row * view_.columns + column);
          loops_.columns(args);
        }
        done(to, first, count);
      }
    });
  }

  // `count` dense elements as the compute type: in place, or widened into `values`.
  const std::byte* prepare(const std::byte* x, int64_t count, std::byte* values) const {
    if (view_.widen == nullptr) return x;
    view_.widen(x, values, count);
    return values;
  }

  const ReduceView& view_;
  const ReduceLoops& loops_;
  MapFn map_;
  void (*whole_)(const void*, int64_t, int64_t, void*);
  void (*own_columns_)(const ColumnsArgs& args);
  const std::byte* centers_;
  size_t size_;
};

// All passes. Finished results go to `out`; where that is null, or narrower than they are, through buffers.
template <class Done>
void reduce_passes(ReduceOp op, const ReduceView& view, std::byte* out, const Done& done) {
  const ReduceLoops& loops = loops_of(op, view.compute);
  const auto size = static_cast<int64_t>(view.compute_bytes());
  const int center_op = reduce_center(op);
  const Scratch<std::byte> centers(center_op < 0 ? 0 : view.results() * size);
  const std::byte* const center = center_op < 0 ? nullptr : centers.data();
  if (center_op >= 0) reduce_in_compute(static_cast<ReduceOp>(center_op), view, centers.data());

  const auto last = [&](std::byte* values, int64_t first, int64_t count) {
    if (loops.finish != nullptr)
      loops.finish(values, count, view.n(), center == nullptr ? nullptr : center + first * size);
    done(values, first, count);
  };
  const auto nothing = [](std::byte*, int64_t, int64_t) {};
  const Pass first(op, view, Pass::Turn::First, center);
  if (first.chunks() == 1) {
    first.run(out, last);
    return;
  }
  int64_t n = first.chunks();
  Scratch<std::byte> partial(view.outer.count * n * view.columns * size);
  first.run(partial.data(), nothing);
  for (;;) {
    const ReduceView next(partial.data(), view.compute, view.outer.count, n, view.columns);
    const Pass pass(op, next, Pass::Turn::Next, nullptr);
    n = pass.chunks();
    if (n == 1) {
      pass.run(out, last);
      return;
    }
    Scratch<std::byte> shorter(view.outer.count * n * view.columns * size);
    pass.run(shorter.data(), nothing);
    partial = std::move(shorter);
  }
}

}  // namespace

ReduceView::ReduceView(const Operand& x, uint32_t axes)
    : ReduceNest(*x.layout, axes),
      base(x.data()),
      dtype(x.dtype),
      bytes(dtype_bytes(x.dtype, 1)),
      compute(compute_dtype(x.dtype)),
      widen(conversion(x.dtype, compute)) {}

ReduceView::ReduceView(const std::byte* x, DType type, int64_t outer_count, int64_t n, int64_t columns_count)
    : ReduceNest(outer_count, n, columns_count),
      base(x),
      dtype(type),
      bytes(dtype_bytes(type, 1)),
      compute(type),
      widen(nullptr) {}

void reduced_offsets(const ReduceView& view, int64_t begin, int64_t count, int64_t* offsets) {
  NestPosition<1> position(view.reduced, begin);
  const int64_t stride = view.reduced.strides[0][view.reduced.last()];
  while (count > 0) {
    const int64_t run = std::min(count, position.left());
    const int64_t start = position.offset(0);
    for (int64_t i = 0; i < run; ++i) offsets[i] = start + i * stride;
    offsets += run;
    count -= run;
    position.advance(run);
  }
}

int reduce_center(ReduceOp op) {
  enum Center {
    NONE = kNoCenter,
#define BW_REDUCE(Name, ...) Name,
#include "tables/reduce.def"
  };
  static constexpr Center kCenters[] = {
#define BW_REDUCE(Name, method, dtypes, center, ...) center,
#include "tables/reduce.def"
  };
  return kCenters[static_cast<size_t>(op)];
}

void reduce_in_compute(ReduceOp op, const ReduceView& view, std::byte* out) {
  reduce_passes(op, view, out, [](std::byte*, int64_t, int64_t) {});
}

void CpuBackend::reduce(ReduceOp op, const Operand& x, uint32_t axes, const Target& out) {
  const ReduceView view(x, axes);
  const CastLoop narrow = conversion(view.compute, out.dtype);
  std::byte* const to = out.data();
  reduce_passes(op, view, narrow == nullptr ? to : nullptr,
                [&](std::byte* values, int64_t first, int64_t count) {
                  if (narrow != nullptr) narrow(values, to + static_cast<size_t>(first) * view.bytes, count);
                });
}

}  // namespace beeswax::cpu
