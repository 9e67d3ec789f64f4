// SPDX-License-Identifier: Apache-2.0
// Upsampling: a thread makes one output, or packs of neighbours. Where rows and columns of the output come
// from is found before, once for each axis: bilinear in f64, nearest only where 32 bits do not hold the
// numbers.
//   floors: the bytes of x and y over the bandwidth
#include "kernels/planes.h"

namespace beeswax::gpu {

BW_DEVICE void find_place(const UpsampleAxis& axis, uint32_t i, bool bilinear, bool align_corners) {
  if (!bilinear) {
    static_cast<uint32_t*>(axis.to)[i] = static_cast<uint32_t>(static_cast<uint64_t>(i) * axis.in / axis.out);
    return;
  }
  UpsamplePlace place;
  const double o = static_cast<double>(i);
  const double inner = axis.scale * (o + 0.5) - 0.5;
  const double at = align_corners ? axis.scale * o : (inner > 0.0 ? inner : 0.0);
  const double last = static_cast<double>(axis.in) - 1;
  const double whole = __builtin_floor(at);
  const double low = whole < last ? whole : last;
  place.low = static_cast<uint32_t>(low);
  place.high = place.low + 1 < axis.in ? place.low + 1 : axis.in - 1;
  const double weight = at - low;
  place.weight = place.low == place.high ? 0 : (weight < 1.0 ? weight : 1.0);
  static_cast<UpsamplePlace*>(axis.to)[i] = place;
}
/// A thread finds a row, or a column, or one of each.
BW_KERNEL(kMapThreads) upsample_axes(UpsampleAxesArgs args) {
  const uint32_t i = block() * kMapThreads + thread();
  if (i < args.rows.out) find_place(args.rows, i, args.bilinear != 0, args.align_corners != 0);
  if (i < args.columns.out) find_place(args.columns, i, args.bilinear != 0, args.align_corners != 0);
}

/// Where nearest row `row` of the launch comes from, and column `column`.
BW_DEVICE uint32_t nearest_row(const UpsampleArgs& args, uint32_t row) {
  if (args.rows == nullptr) return divide((args.first_row + row) * args.in_rows, args.out_rows);
  return static_cast<const uint32_t*>(args.rows)[row];
}
BW_DEVICE uint32_t nearest_column(const UpsampleArgs& args, uint32_t column) {
  if (args.columns == nullptr) return divide(column * args.in_columns, args.out_columns);
  return static_cast<const uint32_t*>(args.columns)[column];
}

/// A pack of neighbours in a row of each of kUpsamplePlanes planes.
template <class S>
BW_DEVICE void nearest_packs(const UpsampleArgs& args) {
  constexpr uint32_t n = packed_elements(sizeof(S));
  const uint32_t i = (block() * kMapThreads + thread()) * n;
  const uint32_t line = divide(i, args.outputs.columns), group = divide(line, args.outputs.rows);
  const uint32_t row = line - group * args.outputs.rows.divisor;
  const uint32_t column = i - line * args.outputs.columns.divisor;
  const uint32_t first = group * kUpsamplePlanes;
  if (first >= args.planes) return;
  const S* x = static_cast<const S*>(args.x) + nearest_row(args, row) * args.from.row;
  int64_t places[n];
#pragma unroll
  for (uint32_t j = 0; j < n; ++j) places[j] = nearest_column(args, column + j) * args.from.column;
  Pack<S, n> out[kUpsamplePlanes];
#pragma unroll
  for (uint32_t p = 0; p < kUpsamplePlanes; ++p) {
    // Reads beyond the last plane are of that one: loads need no branches.
    const uint32_t plane = first + p < args.planes ? first + p : args.planes - 1;
    const S* from = x + plane_offset(args.outputs, args.from, plane);
#pragma unroll
    for (uint32_t j = 0; j < n; ++j) out[p].v[j] = from[places[j]];
  }
  S* y = static_cast<S*>(args.y) + column;
#pragma unroll
  for (uint32_t p = 0; p < kUpsamplePlanes; ++p) {
    const uint32_t number = (first + p) * args.outputs.rows.divisor + row;
    if (first + p < args.planes) store_whole(y + number * args.outputs.columns.divisor, out[p]);
  }
}
template <class S>
BW_DEVICE void nearest(const UpsampleArgs& args) {
  if (args.packed != 0) return nearest_packs<S>(args);
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  const PlanePlace at = plane_place(args.outputs, args.from, i);
  const S* x = static_cast<const S*>(args.x) + (at.plane + nearest_row(args, at.row) * args.from.row);
  static_cast<S*>(args.y)[i] = x[nearest_column(args, at.column) * args.from.column];
}

#define BW_NEAREST(S, bytes) \
  BW_KERNEL(kMapThreads) upsample_nearest_##bytes(UpsampleArgs args) { nearest<S>(args); }
BW_NEAREST(uint8_t, 1)
BW_NEAREST(uint16_t, 2)
BW_NEAREST(uint32_t, 4)
BW_NEAREST(uint64_t, 8)

/// (1 - w) a + w b, each operation rounded; a neighbour whose weight is 0 takes no part.
template <class T>
BW_DEVICE T blend(T a, T b, T w) {
  const T rest = T(1) - w;
  T mixed = rest * a + w * b;
  mixed = w == T(0) ? a : mixed;
  return rest == T(0) ? b : mixed;
}

template <class S>
BW_DEVICE void bilinear(const UpsampleArgs& args) {
  using T = Compute<S>;
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  const PlanePlace at = plane_place(args.outputs, args.from, i);
  const S* x = static_cast<const S*>(args.x) + at.plane;
  const UpsamplePlace row = static_cast<const UpsamplePlace*>(args.rows)[at.row],
                      column = static_cast<const UpsamplePlace*>(args.columns)[at.column];
  const int64_t left = column.low * args.from.column, right = column.high * args.from.column;
  const S *top = x + row.low * args.from.row, *bottom = x + row.high * args.from.row;
  const T across = static_cast<T>(column.weight), down = static_cast<T>(row.weight);
  const T upper = blend(widen(top[left]), widen(top[right]), across);
  const T lower = blend(widen(bottom[left]), widen(bottom[right]), across);
  static_cast<S*>(args.y)[i] = narrow<S>(blend(upper, lower, down));
}

#define BW_BILINEAR(S, name) \
  BW_KERNEL(kMapThreads) upsample_bilinear_##name(UpsampleArgs args) { bilinear<S>(args); }
BW_BILINEAR(float, f32)
BW_BILINEAR(double, f64)
BW_BILINEAR(f16, f16)
BW_BILINEAR(bf16, bf16)
BW_BILINEAR(f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
