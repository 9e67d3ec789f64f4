// SPDX-License-Identifier: Apache-2.0
// The documented order as loops that vectorize: adjacent lanes, or adjacent columns, side by side. Included
// by kernels only, after their namespace is chosen; everything here is local to the file that includes it.
//
// Op gives `static A combine(A a, A b)` for A, and says whether that is a maximum or a minimum.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/extreme.h"
#include "backends/cpu/kernels/reduce.h"
#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// v[i] = combine(v[i], w[i]).
template <class Op, class A>
void combine_into(A* __restrict v, const A* __restrict w, int64_t count) {
  for (int64_t i = 0; i < count; ++i) v[i] = Op::combine(v[i], w[i]);
}

/// Tree levels from `lanes` lanes of `width` elements down to `left` lanes; absent lanes are skipped.
template <class Op, class A>
void fold_lanes(A* v, int64_t lanes, int64_t width, int64_t left) {
  for (int64_t half = kLanes / 2; half >= left; half /= 2) {
    if (lanes <= half) continue;
    combine_into<Op>(v, v + half * width, (lanes - half) * width);
    lanes = half;
  }
}

// Chains of combine stay short in one loop body: a row's expression may be several selects, and compilers
// take very long over many of them in a row.

/// v[i] = x[i] with the three elements at distances of `step` after it.
template <class Op, class A>
BW_FN void first_four(const A* __restrict x, int64_t step, int64_t count, A* __restrict v) {
  for (int64_t i = 0; i < count; ++i)
    v[i] = Op::combine(Op::combine(Op::combine(x[i], x[i + step]), x[i + 2 * step]), x[i + 3 * step]);
}
/// v[i] with the four elements from x[i] on at distances of `step`.
template <class Op, class A>
BW_FN void next_four(const A* __restrict x, int64_t step, int64_t count, A* __restrict v) {
  for (int64_t i = 0; i < count; ++i) {
    const A two = Op::combine(Op::combine(v[i], x[i]), x[i + step]);
    v[i] = Op::combine(Op::combine(two, x[i + 2 * step]), x[i + 3 * step]);
  }
}

/// Adds up the lanes of one chunk: v[l] for `rows` >= kLanes elements of `width` each, so that all lanes
/// exist.
template <class Op, class A>
void fill_lanes(const A* __restrict x, int64_t rows, int64_t width, A* __restrict v) {
  const int64_t step = kLanes * width;
  if (rows >= 4 * kLanes) {
    first_four<Op>(x, step, step, v);
    x += 4 * step;
    rows -= 4 * kLanes;
  } else {
    __builtin_memcpy(v, x, static_cast<size_t>(step) * sizeof(A));
    x += step;
    rows -= kLanes;
  }
  if (rows >= 4 * kLanes) {
    next_four<Op>(x, step, step, v);
    return;
  }
  for (; rows > 0; rows -= kLanes, x += step) combine_into<Op>(v, x, rows < kLanes ? rows * width : step);
}

/// A full chunk to four lanes.
template <class Op, class A>
BW_FN void chunk_to_four(const A* __restrict x, A* __restrict four) {
  A v[kLanes];
  first_four<Op>(x, kLanes, kLanes, v);
  next_four<Op>(x + kChunk / 2, kLanes, kLanes, v);
  for (int64_t l = 0; l < 32; ++l) v[l] = Op::combine(v[l], v[l + 32]);
  for (int64_t l = 0; l < 16; ++l) v[l] = Op::combine(v[l], v[l + 16]);
  for (int64_t l = 0; l < 8; ++l) v[l] = Op::combine(v[l], v[l + 8]);
  for (int64_t l = 0; l < 4; ++l) four[l] = Op::combine(v[l], v[l + 4]);
}

/// `rows` > 4 elements to four lanes.
template <class Op, class A>
void rows_to_four(const A* __restrict x, int64_t rows, A* __restrict four) {
  A v[kLanes];
  const int64_t lanes = rows < kLanes ? rows : kLanes;
  if (rows > kLanes) {
    fill_lanes<Op>(x, rows, 1, v);
  } else {
    for (int64_t l = 0; l < lanes; ++l) v[l] = x[l];
  }
  fold_lanes<Op>(v, lanes, 1, 4);
  for (int64_t l = 0; l < 4; ++l) four[l] = v[l];
}

/// The last levels, over `rows` <= 4 lanes of every unit.
template <class Op, class A>
void fold_four(const A* __restrict x, int64_t stride, int64_t units, int64_t rows, A* __restrict out) {
  switch (rows) {
    case 1:
      for (int64_t u = 0; u < units; ++u) out[u] = x[u * stride];
      break;
    case 2:
      for (int64_t u = 0; u < units; ++u, x += stride) out[u] = Op::combine(x[0], x[1]);
      break;
    case 3:
      for (int64_t u = 0; u < units; ++u, x += stride) out[u] = Op::combine(Op::combine(x[0], x[2]), x[1]);
      break;
    default:
      for (int64_t u = 0; u < units; ++u, x += stride)
        out[u] = Op::combine(Op::combine(x[0], x[2]), Op::combine(x[1], x[3]));
      break;
  }
}

/// Units of one column: every unit is folded to four lanes, and the last levels run over many units at once.
template <class Op, class A>
void single_columns(const A* __restrict x, int64_t stride, int64_t units, int64_t rows, A* __restrict out) {
  if (rows <= 4) {
    fold_four<Op>(x, stride, units, rows, out);
    return;
  }
  if constexpr (Op::kExtreme != Extreme::None && m::Floating<A>) {
    for (int64_t u = 0; u < units; ++u, x += stride)
      out[u] = extreme < Op::kExtreme == Extreme::Largest > (x, rows);
    return;
  }
  constexpr int64_t kUnits = 64;
  A fours[4 * kUnits];
  for (int64_t done = 0; done < units; done += kUnits) {
    const int64_t count = units - done < kUnits ? units - done : kUnits;
    if (rows == kChunk) {
      for (int64_t u = 0; u < count; ++u, x += stride) chunk_to_four<Op>(x, fours + 4 * u);
    } else {
      for (int64_t u = 0; u < count; ++u, x += stride) rows_to_four<Op>(x, rows, fours + 4 * u);
    }
    fold_four<Op>(fours, 4, count, 4, out + done);
  }
}

template <class Op, class A>
void blocks(const void* from, int64_t unit_stride, int64_t units, int64_t rows, int64_t columns, void* to) {
  const A* x = static_cast<const A*>(from);
  A* out = static_cast<A*>(to);
  if (columns == 1) {
    single_columns<Op>(x, unit_stride, units, rows, out);
    return;
  }
  A v[kLanes * kBlockColumns];
  const int64_t lanes = rows < kLanes ? rows : kLanes;
  for (int64_t u = 0; u < units; ++u, x += unit_stride, out += columns) {
    if (rows >= kLanes) {
      fill_lanes<Op>(x, rows, columns, v);
    } else {
      for (int64_t i = 0; i < rows * columns; ++i) v[i] = x[i];
    }
    fold_lanes<Op>(v, lanes, columns, 1);
    for (int64_t c = 0; c < columns; ++c) out[c] = v[c];
  }
}

/// into[c] = r[0][c], r[1][c], ... combined in order.
template <class Op, class A>
BW_FN void stripe_lane(const A* const* r, int64_t count, int64_t columns, A* __restrict into) {
  if (count == kChunk / kLanes) {
    const A *r0 = r[0], *r1 = r[1], *r2 = r[2], *r3 = r[3], *r4 = r[4], *r5 = r[5], *r6 = r[6], *r7 = r[7];
    for (int64_t c = 0; c < columns; ++c)
      into[c] = Op::combine(Op::combine(Op::combine(r0[c], r1[c]), r2[c]), r3[c]);
    for (int64_t c = 0; c < columns; ++c) {
      const A two = Op::combine(Op::combine(into[c], r4[c]), r5[c]);
      into[c] = Op::combine(Op::combine(two, r6[c]), r7[c]);
    }
    return;
  }
  if (Op::kExtreme == Extreme::None && count == 4) {
    const A *r0 = r[0], *r1 = r[1], *r2 = r[2], *r3 = r[3];
    for (int64_t c = 0; c < columns; ++c)
      into[c] = Op::combine(Op::combine(Op::combine(r0[c], r1[c]), r2[c]), r3[c]);
    return;
  }
  __builtin_memcpy(into, r[0], static_cast<size_t>(columns) * sizeof(A));
  for (int64_t j = 1; j < count; ++j) combine_into<Op>(into, r[j], columns);
}

/// A chunk of a stripe of columns. A lane's elements are up to eight streams of rows; lanes l and l + 32 meet
/// in the same place, so that half of the lanes are stored.
template <class Op, class A>
void columns(const ColumnsArgs& args) {
  const char* x = static_cast<const char*>(args.x);
  A* lanes = static_cast<A*>(args.scratch);
  A* copies = lanes + kLanes / 2 * args.columns;
  A* last = copies + kChunk / kLanes * args.columns;
  const int64_t lane_count = args.rows < kLanes ? args.rows : kLanes;
  for (int64_t lane = 0; lane < lane_count; ++lane) {
    const A* r[8] = {};
    int64_t count = 0;
    for (int64_t row = lane; row < args.rows; row += kLanes, ++count) {
      const void* from = x + args.offsets[row] * args.bytes;
      // The same rows of the next lane; rows may be far apart, which the processor does not foresee.
      if (row + 1 < args.rows)
        for (int64_t at = 0; at < args.columns * args.bytes; at += 64)
          __builtin_prefetch(x + args.offsets[row + 1] * args.bytes + at, 0, 2);
      A* copy = copies + count * args.columns;
      if (args.widen != nullptr) {
        args.widen(from, copy, args.columns);
        from = copy;
      }
      if (args.map != nullptr) {
        args.map(from, args.columns, args.centers, args.centers == nullptr ? 0 : 1, copy);
        from = copy;
      }
      r[count] = static_cast<const A*>(from);
    }
    A* into = lane < kLanes / 2 ? lanes + lane * args.columns : last;
    stripe_lane<Op>(r, count, args.columns, into);
    if (into == last) combine_into<Op>(lanes + (lane - kLanes / 2) * args.columns, last, args.columns);
  }
  fold_lanes<Op>(lanes, lane_count < kLanes / 2 ? lane_count : kLanes / 2, args.columns, 1);
  A* out = static_cast<A*>(args.out);
  for (int64_t c = 0; c < args.columns; ++c) out[c] = lanes[c];
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
