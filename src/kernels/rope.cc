// SPDX-License-Identifier: Apache-2.0
// rope_<dtype>: rotary position embedding. A thread keeps a pack of cosines and sines in registers and turns
// as many elements of up to four rows by them, so that tables are not read again for every head.
//   floors: bytes of x and y, and of the tables once for the rows of a thread, over the memory's bandwidth;
//   64 bytes are 25 instructions of f32 or 120 of f16 (gfx1100), far below what a multiprocessor has time for
#include "kernels/rope_args.h"

#include "kernels/elements.h"

namespace beeswax::gpu {

/// What a thread has of its rows, for all kernels here.
template <class S>
struct RopeRows {
  using A = Compute<S>;
  const S* x;
  S* y;
  const RopeArgs& args;

  BW_DEVICE_MEMBER bool has(uint32_t r) const { return r == 0 || r < args.repeats; }
  /// Reads beyond the last row are of the last row: loads need no branches.
  BW_DEVICE_MEMBER const S* from(uint32_t r, int64_t i) const {
    return x + static_cast<int64_t>(has(r) ? r : args.repeats - 1) * args.x_step + i;
  }
  BW_DEVICE_MEMBER S* to(uint32_t r, int64_t i) const {
    return y + static_cast<int64_t>(r) * args.y_step + i;
  }

  /// What is not turned keeps its bits; W has as many bytes as it has.
  template <class W>
  BW_DEVICE_MEMBER void copy(int64_t i) const {
    W v[kRopeRepeats];
#pragma unroll
    for (uint32_t r = 0; r < kRopeRepeats; ++r) v[r] = *reinterpret_cast<const W*>(from(r, i));
#pragma unroll
    for (uint32_t r = 0; r < kRopeRepeats; ++r)
      if (has(r)) *reinterpret_cast<W*>(to(r, i)) = v[r];
  }

  /// Pairs of n elements from i on and n from k on.
  template <int n>
  BW_DEVICE_MEMBER void turn(const A* cos, const A* sin, int64_t i, int64_t k) const {
    using P = Pack<S, n>;
    const auto c = *reinterpret_cast<const Pack<A, n>*>(cos), s = *reinterpret_cast<const Pack<A, n>*>(sin);
    P a[kRopeRepeats], b[kRopeRepeats];
#pragma unroll
    for (uint32_t r = 0; r < kRopeRepeats; ++r) {
      a[r] = *reinterpret_cast<const P*>(from(r, i));
      b[r] = *reinterpret_cast<const P*>(from(r, k));
    }
#pragma unroll
    for (uint32_t r = 0; r < kRopeRepeats; ++r) {
      if (!has(r)) return;
      A first[n], second[n];
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const A va = widen(a[r].v[j]), vb = widen(b[r].v[j]);
        first[j] = va * c.v[j] - vb * s.v[j];
        second[j] = va * s.v[j] + vb * c.v[j];
      }
      store_whole(to(r, i), narrow_pack<S>(first));
      store_whole(to(r, k), narrow_pack<S>(second));
    }
  }

  /// Pairs of neighbours: n elements from i on.
  template <int n>
  BW_DEVICE_MEMBER void turn_neighbours(const A* cos, const A* sin, int64_t i) const {
    using P = Pack<S, n>;
    const auto c = *reinterpret_cast<const Pack<A, n / 2>*>(cos);
    const auto s = *reinterpret_cast<const Pack<A, n / 2>*>(sin);
    P v[kRopeRepeats];
#pragma unroll
    for (uint32_t r = 0; r < kRopeRepeats; ++r) v[r] = *reinterpret_cast<const P*>(from(r, i));
#pragma unroll
    for (uint32_t r = 0; r < kRopeRepeats; ++r) {
      if (!has(r)) return;
      A out[n];
#pragma unroll
      for (int j = 0; j < n / 2; ++j) {
        const A a = widen(v[r].v[2 * j]), b = widen(v[r].v[2 * j + 1]);
        out[2 * j] = a * c.v[j] - b * s.v[j];
        out[2 * j + 1] = a * s.v[j] + b * c.v[j];
      }
      store_whole(to(r, i), narrow_pack<S>(out));
    }
  }
};

template <class S>
BW_DEVICE void rope(const RopeArgs& args) {
  using A = Compute<S>;
  constexpr int n = rope_pack(sizeof(S));
  typedef uint32_t Words __attribute__((ext_vector_type(sizeof(S) * n / 4)));
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  const uint32_t row = divide(i, args.places);
  const int64_t place = args.first + static_cast<int64_t>(i - row * args.places.divisor);
  int64_t offset[3];
  offsets_at(args.walk, row, offset);
  const RopeRows<S> rows{static_cast<const S*>(args.x) + offset[0], static_cast<S*>(args.y) + offset[2],
                         args};
  const A* cos = static_cast<const A*>(args.cos) + offset[1];
  const A* sin = static_cast<const A*>(args.sin) + offset[1];
  const bool neighbours = (args.flags & kRopeNeighbours) != 0, turned = place < args.turned;
  const int64_t beyond = place - args.turned;
  if ((args.flags & kRopePacks) == 0) {
    if (!turned) {
      rows.template copy<S>(2 * args.half + beyond);
    } else {
      const int64_t first = neighbours ? 2 * place : place;
      rows.template turn<1>(cos + place, sin + place, first, first + (neighbours ? 1 : args.half));
    }
  } else if (!turned) {
    rows.template copy<Words>(2 * args.half + beyond * n);
  } else if (neighbours) {
    rows.template turn_neighbours<n>(cos + place * (n / 2), sin + place * (n / 2), place * n);
  } else {
    rows.template turn<n>(cos + place * n, sin + place * n, place * n, place * n + args.half);
  }
}

#define BW_ROPE(S, name) \
  BW_KERNEL(kMapThreads) rope_##name(RopeArgs args) { rope<S>(args); }
BW_ROPE(float, f32)
BW_ROPE(double, f64)
BW_ROPE(f16, f16)
BW_ROPE(bf16, bf16)
BW_ROPE(f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
