// SPDX-License-Identifier: Apache-2.0
// The main loop of products without matrix units: tiles of both operands go through registers into one of two
// buffers in shared memory while the other is multiplied. Right for every dtype, stride and remainder.
//   floors: 2 m n k over the rate of fused multiply-adds; the bytes of a, b and c over the bandwidth
//   order: each element is one chain of fused multiply-adds from +0 in increasing k
#pragma once

#include "core/math/convert.h"
#include "kernels/elements.h"
#include "kernels/gemm_args.h"

namespace beeswax::gpu {

template <int bytes>
struct RawOf {
  using Type = uint32_t;
};
template <>
struct RawOf<8> {
  using Type = uint64_t;
};
/// Bits of an element in a register, zero-extended: what travels between loading and storing to shared
/// memory.
template <class T>
using Raw = typename RawOf<sizeof(T)>::Type;

/// Widening by the device's own instruction: exact, except for which NaN a NaN becomes.
BW_DEVICE float wide(f16 x) { return static_cast<float>(bit_cast<_Float16>(x.bits)); }
BW_DEVICE float wide(bf16 x) { return static_cast<float>(x); }
BW_DEVICE float wide(float x) { return x; }

/// The number that the bits of an element of `type` are, in the type T that products are made in.
template <class T>
BW_DEVICE T widen(Raw<T> raw, Element type) {
  if constexpr (m::Same<T, float>::kIs) {
    switch (type) {
      case Element::F16:
        return static_cast<float>(bit_cast<_Float16>(static_cast<uint16_t>(raw)));
      case Element::BF16:
        return bf16_to_float(static_cast<uint16_t>(raw));
      case Element::F8E4M3:
        return f8e4m3_to_float(static_cast<uint8_t>(raw));
      default:
        break;
    }
  }
  return bit_cast<T>(raw);
}

/// Calls store(E) with the type of the elements of `type`, which results in T become.
template <class T, class Store>
BW_DEVICE void with_element(Element type, Store store) {
  if constexpr (m::Same<T, float>::kIs) {
    switch (type) {
      case Element::F16:
        return store(f16{});
      case Element::BF16:
        return store(bf16{});
      case Element::F8E4M3:
        return store(f8e4m3{});
      default:
        return store(float{});
    }
  } else if constexpr (m::Same<T, uint32_t>::kIs) {
    switch (type) {
      case Element::Bits8:
        return store(uint8_t{});
      case Element::Bits16:
        return store(uint16_t{});
      default:
        return store(uint32_t{});
    }
  } else {
    store(T{});
  }
}
/// A result as an element: narrow floats round once, integers keep their low bits.
template <class E, class T>
BW_DEVICE E as_element(T value) {
  if constexpr (m::Same<T, float>::kIs) {
    return narrow<E>(value);
  } else {
    return static_cast<E>(value);
  }
}
/// Stores a result as an element of `type`.
template <class T>
BW_DEVICE void store_element(void* to, int64_t at, Element type, T value) {
  with_element<T>(type, [&](auto element) __attribute__((always_inline)) {
    using E = decltype(element);
    static_cast<E*>(to)[at] = as_element<E>(value);
  });
}

BW_DEVICE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BW_DEVICE double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
BW_DEVICE uint32_t multiply_add(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
BW_DEVICE uint64_t multiply_add(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }

/// Bytes of an element.
BW_DEVICE uint32_t bytes_of(Element type) {
  switch (type) {
    case Element::F8E4M3:
    case Element::Bits8:
      return 1;
    case Element::F16:
    case Element::BF16:
    case Element::Bits16:
      return 2;
    case Element::F64:
    case Element::Bits64:
      return 8;
    default:
      return 4;
  }
}

/// Calls load(E) with an unsigned integer of the size of an element of `type`.
template <class T, class Load>
BW_DEVICE void with_size(Element type, Load load) {
  if constexpr (sizeof(T) == 8) {
    load(uint64_t{});
  } else {
    const uint32_t bytes = bytes_of(type);
    if (bytes == 4) {
      load(uint32_t{});
    } else if (bytes == 2) {
      load(uint16_t{});
    } else {
      load(uint8_t{});
    }
  }
}

/// n elements from `from` on, those that exist; zeros behind them. `whole`: packs are aligned.
template <class W, int n>
BW_DEVICE Pack<W, n> take(const W* from, uint32_t left, bool whole) {
  if (whole && left >= n) return *reinterpret_cast<const Pack<W, n>*>(from);
  Pack<W, n> out;
#pragma unroll
  for (uint32_t j = 0; j < n; ++j) out.v[j] = j < left ? from[j] : W{};
  return out;
}

/// The place of a block's tile.
struct TilePlace {
  uint32_t batch, row, column;  // row and column in tiles
};
BW_DEVICE TilePlace tile_place(const GemmGrid& grid, uint32_t index) {
  TilePlace at;
  at.batch = divide(index, grid.tiles);
  index -= at.batch * grid.tiles.divisor;
  const uint32_t band = divide(index, grid.band);
  index -= band * grid.band.divisor;
  const uint32_t first = band * kGemmBand;
  const uint32_t rows = grid.down - first < kGemmBand ? grid.down - first : kGemmBand;
  at.column = index / rows;
  at.row = first + index - at.column * rows;
  return at;
}

/// Which elements of a tile of `lanes` x `step` a thread moves: element i is lane + i * lane_each, k + i *
/// k_each. Threads that follow each other go along k where that is dense, else along the lanes.
template <int lanes, int step>
struct TileShare {
  static constexpr int kCount = lanes * step / kGemmThreads;
  uint32_t lane, k, lane_each, k_each;
  BW_DEVICE_MEMBER explicit TileShare(bool along_k) {
    const uint32_t t = thread();
    lane = along_k ? t / step : t % lanes;
    k = along_k ? t % step : t / lanes;
    lane_each = along_k ? kGemmThreads / step : 0;
    k_each = along_k ? 0 : kGemmThreads / lanes;
  }
  /// How many of its elements exist, where `lanes_left` of the tile's lanes and `k_left` of its steps do.
  BW_DEVICE_MEMBER uint32_t inside(uint32_t lanes_left, uint32_t k_left) const {
    const uint32_t l = lanes_left > lane ? lanes_left - lane : 0, s = k_left > k ? k_left - k : 0;
    constexpr uint32_t kLaneEach = kGemmThreads / step, kStepEach = kGemmThreads / lanes;
    if (lane_each != 0) return s != 0 ? (l + kLaneEach - 1) / kLaneEach : 0;
    return l != 0 ? (s + kStepEach - 1) / kStepEach : 0;
  }
};

/// A side of a product as memory: lanes (rows of a, columns of b) by steps of k.
template <class T, int lanes, int step>
struct StridedSide {
  TileShare<lanes, step> share;
  const uint8_t* data;  // of this thread's element 0 at k = 0
  int64_t each, k_bytes;
  uint32_t left;  // lanes of the tile that exist
  uint32_t k_size;
  Element type;
  uint32_t bytes;

  BW_DEVICE_MEMBER StridedSide(const void* from, int64_t offset, Element type_, int64_t lane_stride,
                               int64_t k_stride, uint32_t first, uint32_t size, uint32_t k_size_)
      : share(k_stride == 1), left(size - first), k_size(k_size_), type(type_), bytes(bytes_of(type_)) {
    const int64_t at = offset + (first + share.lane) * lane_stride + share.k * k_stride;
    data = static_cast<const uint8_t*>(from) + at * bytes;
    each = (share.lane_each * lane_stride + share.k_each * k_stride) * bytes;
    k_bytes = k_stride * bytes;
  }

  template <class E>
  BW_DEVICE_MEMBER void load(uint32_t k, Raw<T> (&raw)[TileShare<lanes, step>::kCount]) const {
    const uint8_t* from = data + k * k_bytes;
    if (left >= lanes && k + step <= k_size) {
#pragma unroll
      for (int i = 0; i < TileShare<lanes, step>::kCount; ++i)
        raw[i] = *reinterpret_cast<const E*>(from + i * each);
    } else {
      const uint32_t inside = share.inside(left, k_size - k);
#pragma unroll
      for (uint32_t i = 0; i < TileShare<lanes, step>::kCount; ++i)
        raw[i] = i < inside ? *reinterpret_cast<const E*>(from + i * each) : E{0};
    }
  }
  /// Loads this thread's elements of the tile at k; zeros where there are none.
  BW_DEVICE_MEMBER void fetch(uint32_t k, Raw<T> (&raw)[TileShare<lanes, step>::kCount]) const {
    if constexpr (sizeof(T) == 8) {
      load<uint64_t>(k, raw);
    } else {
      if (bytes == 4) {
        load<uint32_t>(k, raw);
      } else if (bytes == 2) {
        load<uint16_t>(k, raw);
      } else {
        load<uint8_t>(k, raw);
      }
    }
  }
};

/// The buffers of a block. Rows are padded so that they stay aligned and lie in different banks.
template <class T, int rows, int columns, int step>
struct GemmShared {
  static constexpr int kPad = 16 / static_cast<int>(sizeof(T));
  alignas(16) T a[2][step][rows + kPad];
  alignas(16) T b[2][step][columns + kPad];
};

template <class T, int lanes, int step, int pitch>
BW_DEVICE void store_tile(T (&tile)[step][pitch], const TileShare<lanes, step>& share, Element type,
                          const Raw<T> (&raw)[TileShare<lanes, step>::kCount]) {
  T* to = &tile[0][0] + share.k * pitch + share.lane;
  const uint32_t each = share.k_each * pitch + share.lane_each;
#pragma unroll
  for (int i = 0; i < TileShare<lanes, step>::kCount; ++i) to[i * each] = widen<T>(raw[i], type);
}

/// `each` numbers of a row of a tile, in groups of up to 16 bytes spread over the row so that the threads of
/// a wave read neighbouring groups.
template <class T, int each, int threads>
struct TileSpan {
  static constexpr int kGroup =
      each < 16 / static_cast<int>(sizeof(T)) ? each : 16 / static_cast<int>(sizeof(T));
  static constexpr int kGroups = each / kGroup;
  /// The place of number i of thread `at`.
  BW_DEVICE_MEMBER static uint32_t place(uint32_t at, int i) {
    return static_cast<uint32_t>(i / kGroup * (threads * kGroup) + i % kGroup) + at * kGroup;
  }
  BW_DEVICE_MEMBER static void read(const T* row, uint32_t at, T (&to)[each]) {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const auto pack = *reinterpret_cast<const Pack<T, kGroup>*>(row + g * (threads * kGroup) + at * kGroup);
#pragma unroll
      for (int i = 0; i < kGroup; ++i) to[g * kGroup + i] = pack.v[i];
    }
  }
};

/// The sums of one tile: a thread's share of them. A and B fetch tiles (StridedSide, or what has its
/// members).
template <class T, GemmTile tile, class A, class B, class Shared>
BW_DEVICE void gemm_sums(A& a, B& b, uint32_t k, Shared& shared,
                         T (&sums)[tile.rows_each][tile.columns_each]) {
  constexpr int kRowThreads = tile.rows / tile.rows_each, kColumnThreads = tile.columns / tile.columns_each;
  static_assert(kRowThreads * kColumnThreads == kGemmThreads);
  using Rows = TileSpan<T, tile.rows_each, kRowThreads>;
  using Columns = TileSpan<T, tile.columns_each, kColumnThreads>;
  const uint32_t row = thread() / kColumnThreads, column = thread() % kColumnThreads;
#pragma unroll
  for (int i = 0; i < tile.rows_each; ++i)
#pragma unroll
    for (int j = 0; j < tile.columns_each; ++j) sums[i][j] = T(0);

  Raw<T> next_a[tile.rows * tile.step / kGemmThreads], next_b[tile.columns * tile.step / kGemmThreads];
  a.fetch(0, next_a);
  b.fetch(0, next_b);
  store_tile<T, tile.rows, tile.step>(shared.a[0], a.share, a.type, next_a);
  store_tile<T, tile.columns, tile.step>(shared.b[0], b.share, b.type, next_b);
  barrier();
  uint32_t buffer = 0;
  for (uint32_t at = 0; at < k; at += tile.step) {
    const bool more = at + tile.step < k;
    if (more) {
      a.fetch(at + tile.step, next_a);
      b.fetch(at + tile.step, next_b);
    }
    const auto& from_a = shared.a[buffer];
    const auto& from_b = shared.b[buffer];
#pragma unroll sizeof(T) == 8 ? 2 : 4
    for (int s = 0; s < tile.step; ++s) {
      T x[tile.rows_each], y[tile.columns_each];
      Rows::read(from_a[s], row, x);
      Columns::read(from_b[s], column, y);
#pragma unroll
      for (int i = 0; i < tile.rows_each; ++i)
#pragma unroll
        for (int j = 0; j < tile.columns_each; ++j) sums[i][j] = multiply_add(x[i], y[j], sums[i][j]);
    }
    buffer ^= 1;
    if (more) {
      store_tile<T, tile.rows, tile.step>(shared.a[buffer], a.share, a.type, next_a);
      store_tile<T, tile.columns, tile.step>(shared.b[buffer], b.share, b.type, next_b);
      barrier();
    }
  }
}

}  // namespace beeswax::gpu
