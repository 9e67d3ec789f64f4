// SPDX-License-Identifier: Apache-2.0
// The documented order as loops that vectorize: adjacent lanes, or adjacent columns, side by side. Included
// by kernels only, after their namespace is chosen; everything here is local to the file that includes it.
//
// Op gives `static A combine(A a, A b)` for A, and says whether that is a maximum or a minimum.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/extreme_keys.h"
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

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
