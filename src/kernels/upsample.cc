// SPDX-License-Identifier: Apache-2.0
// Upsampling: where the rows and columns of the output come from is found once for each axis, in f64 or whole
// numbers; then a thread makes one output, or a pack of neighbours.
//   floors: the bytes of x and y over the bandwidth
#include "kernels/planes.h"

namespace beeswax::gpu {

BW_KERNEL(kMapThreads) upsample_axis(UpsampleAxisArgs args) {
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.out) return;
  if (args.bilinear == 0) {
    static_cast<uint32_t*>(args.to)[i] = static_cast<uint32_t>(static_cast<uint64_t>(i) * args.in / args.out);
  } else {
    UpsamplePlace place;
    const double o = static_cast<double>(i);
    const double inner = args.scale * (o + 0.5) - 0.5;
    const double at = args.align_corners != 0 ? args.scale * o : (inner > 0.0 ? inner : 0.0);
    const double last = static_cast<double>(args.in) - 1;
    const double whole = __builtin_floor(at);
    const double low = whole < last ? whole : last;
    place.low = static_cast<uint32_t>(low);
    place.high = place.low + 1 < args.in ? place.low + 1 : args.in - 1;
    const double weight = at - low;
    place.weight = place.low == place.high ? 0 : (weight < 1.0 ? weight : 1.0);
    static_cast<UpsamplePlace*>(args.to)[i] = place;
  }
}

template <class S>
BW_DEVICE void nearest(const UpsampleArgs& args) {
  constexpr uint32_t n = packed_elements(sizeof(S));
  const uint32_t i = (block() * kMapThreads + thread()) * (args.packed != 0 ? n : 1);
  if (i >= args.count) return;
  const PlanePlace at = plane_place(args.outputs, args.from, i);
  const S* x = static_cast<const S*>(args.x) +
               (at.plane + static_cast<const uint32_t*>(args.rows)[at.row] * args.from.row);
  S* y = static_cast<S*>(args.y) + i;
  const uint32_t* columns = static_cast<const uint32_t*>(args.columns) + at.column;
  if (args.packed == 0) {
    *y = x[columns[0] * args.from.column];
    return;
  }
  constexpr uint32_t kPlaces = n < 4 ? n : 4;
  uint32_t places[n];
#pragma unroll
  for (uint32_t j = 0; j < n; j += kPlaces)
    __builtin_memcpy(places + j, __builtin_assume_aligned(columns + j, 4 * kPlaces), 4 * kPlaces);
  Pack<S, n> out;
#pragma unroll
  for (uint32_t j = 0; j < n; ++j) out.v[j] = x[places[j] * args.from.column];
  *reinterpret_cast<Pack<S, n>*>(y) = out;
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
  const T upper = blend(static_cast<T>(top[left]), static_cast<T>(top[right]), across);
  const T lower = blend(static_cast<T>(bottom[left]), static_cast<T>(bottom[right]), across);
  static_cast<S*>(args.y)[i] = static_cast<S>(blend(upper, lower, down));
}

#define BW_BILINEAR(S, name) \
  BW_KERNEL(kMapThreads) upsample_bilinear_##name(UpsampleArgs args) { bilinear<S>(args); }
BW_BILINEAR(float, f32)
BW_BILINEAR(double, f64)
BW_BILINEAR(f16, f16)
BW_BILINEAR(bf16, bf16)
BW_BILINEAR(f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
