// SPDX-License-Identifier: Apache-2.0
// Products of matrices in memory on matrix units: elements of E, multiplied as T, results of E. An operand is
// dense along k, or along its lanes and then turned on its way to shared memory.
#pragma once

#include "kernels/gemm_mma.h"
#include "kernels/unsigned_of.h"

namespace beeswax::gpu {

inline constexpr int kMmaLanes = kGemmMma.rows;
static_assert(kGemmMma.rows == kGemmMma.columns && kGemmMma.step == kMmaStep);
using GemmMmaTile = MmaTile<kMmaLanes, kMmaLanes>;

/// n elements from `from` on, those that exist; zeros behind them. `whole`: runs are aligned.
template <class E, int n>
BW_DEVICE Packed<E, n> take_words(const E* from, uint32_t left, bool whole) {
  if (whole && left >= n) return *reinterpret_cast<const Packed<E, n>*>(from);
  Packed<E, n> out;
  if constexpr (sizeof(E) < 4) {
    constexpr uint32_t kOfWord = 4 / sizeof(E);
#pragma unroll
    for (uint32_t w = 0; w < n / kOfWord; ++w) {
      out.words[w] = 0;
#pragma unroll
      for (uint32_t j = 0; j < kOfWord; ++j)
        if (w * kOfWord + j < left)
          out.words[w] |= static_cast<uint32_t>(from[w * kOfWord + j]) << (j * 8 * sizeof(E));
    }
  } else {
    const auto* words = reinterpret_cast<const uint32_t*>(from);
    constexpr uint32_t kWords = sizeof(E) / 4;
#pragma unroll
    for (uint32_t w = 0; w < n * kWords; ++w) out.words[w] = w / kWords < left ? words[w] : 0;
  }
  return out;
}

/// Two f8e4m3 as f16, exactly; each is there twice, in both bytes of a half of the word. The exponent moves
/// from a bias of 7 to 15 by a product with 2^8, which makes subnormal numbers normal.
BW_DEVICE uint32_t f16_of_f8e4m3(uint32_t twice) {
  using Halves = _Float16 __attribute__((ext_vector_type(2)));
  const uint32_t magnitude = twice & 0x007f007fu;
  const uint32_t nan = (magnitude + 0x00010001u) & 0x00800080u;
  const uint32_t bits = (twice & 0x80008000u) | magnitude << 7;
  const Halves scaled = bit_cast<Halves>(bits) * static_cast<_Float16>(256);
  return bit_cast<uint32_t>(scaled) | ((nan << 8) - (nan << 3));
}

/// A side: lanes by steps of k, one of them dense. A thread moves two packs of shared memory: those of two
/// lanes along k, or some steps of some neighbouring lanes, as many steps as a word of shared memory holds.
/// It reads them as runs along what is dense.
template <class E, class T>
struct MmaSide {
  using Bits = UnsignedOf<sizeof(E)>;
  static constexpr uint32_t kEach = 16 / sizeof(T);                      // steps of a pack
  static constexpr uint32_t kSteps = sizeof(T) < 4 ? 4 / sizeof(T) : 1;  // of a thread, across dense lanes
  static constexpr uint32_t kLanes = 2 * kEach / kSteps;                 // likewise
  static constexpr uint32_t kRun = kEach < kLanes ? kEach : kLanes;
  static constexpr uint32_t kRuns = 2 * kEach / kRun;
  static constexpr uint32_t kPackRuns = kEach / kRun, kLaneRuns = kLanes / kRun;
  static constexpr uint32_t kApart = kMmaLanes / 2;  // of a thread's two lanes along k
  using Run = Packed<Bits, kRun>;
  using Share = Run[kRuns];
  const Bits* data;  // of this thread's first element at k = 0
  int64_t next, k_stride;
  uint32_t lane, k, left, k_size;
  bool along_k, whole;

  BW_DEVICE_MEMBER MmaSide(const void* from, int64_t offset, int64_t lane_stride, int64_t k_stride_,
                           uint32_t first, uint32_t size, uint32_t k_size_)
      : k_stride(k_stride_), left(size - first), k_size(k_size_), along_k(k_stride_ == 1) {
    const uint32_t t = thread();
    lane = along_k ? t / 4 : t % (kMmaLanes / kLanes) * kLanes;
    k = along_k ? t % 4 * kEach : t / (kMmaLanes / kLanes) * kSteps;
    data = static_cast<const Bits*>(from) + offset + (first + lane) * lane_stride + k * k_stride;
    next = along_k ? lane_stride * kApart : k_stride;
    whole = aligned16(from) && offset % kRun == 0 && (along_k ? lane_stride : k_stride) % kRun == 0;
  }

  BW_DEVICE_MEMBER void fetch(uint32_t at, Share& to) const {
    const Bits* from = data + at * k_stride;
    const uint32_t steps = at + k < k_size ? k_size - at - k : 0;
    const uint32_t lanes = lane < left ? left - lane : 0;
#pragma unroll
    for (uint32_t r = 0; r < kRuns; ++r) {
      // Which of the lanes along k, or of the steps, and how far along what is dense.
      const uint32_t line = along_k ? r / kPackRuns : r / kLaneRuns;
      const uint32_t begin = (along_k ? r % kPackRuns : r % kLaneRuns) * kRun;
      const bool exists = along_k ? line * kApart < lanes : line < steps;
      const uint32_t dense = along_k ? steps : lanes;
      to[r] = take_words<Bits, kRun>(from + line * next + begin, exists && begin < dense ? dense - begin : 0,
                                     whole);
    }
  }
  /// The runs of a pack as it lies in shared memory.
  BW_DEVICE_MEMBER static MmaPack pack_of(const Run* runs) {
    MmaPack pack;
    if constexpr (sizeof(E) < sizeof(T)) {
      static_assert(__is_same(E, f8e4m3) && kPackRuns == 1);
#pragma unroll
      for (uint32_t w = 0; w < 2; ++w) {
        const uint32_t four = runs[0].words[w];
        pack.v[2 * w] = f16_of_f8e4m3(permute_bytes<0x1100>(four, four));
        pack.v[2 * w + 1] = f16_of_f8e4m3(permute_bytes<0x3322>(four, four));
      }
    } else {
      constexpr uint32_t kWords = 4 / kPackRuns;
#pragma unroll
      for (uint32_t w = 0; w < 4; ++w) {
        pack.v[w] = runs[w / kWords].words[w % kWords];
        if constexpr (__is_same(T, Tf32)) pack.v[w] = tf32_bits(pack.v[w]);
      }
    }
    return pack;
  }
  /// Stores what is dense along the lanes: of each lane a word along k, or two of a wide element.
  BW_DEVICE_MEMBER void store_turned(uint32_t* words, const Share& from) const {
    const auto put = [&](uint32_t j, uint32_t word, uint32_t value) __attribute__((always_inline)) {
      words[mma_place(lane + j, k / kEach) * 4 + k % kEach * sizeof(T) / 4 + word] = value;
    };
    if constexpr (sizeof(E) < sizeof(T)) {
#pragma unroll
      for (uint32_t w = 0; w < kLanes / 4; ++w) {
        const uint32_t a = from[0].words[w], b = from[1].words[w];
        put(4 * w, 0, f16_of_f8e4m3(permute_bytes<0x4400>(a, b)));
        put(4 * w + 1, 0, f16_of_f8e4m3(permute_bytes<0x5511>(a, b)));
        put(4 * w + 2, 0, f16_of_f8e4m3(permute_bytes<0x6622>(a, b)));
        put(4 * w + 3, 0, f16_of_f8e4m3(permute_bytes<0x7733>(a, b)));
      }
    } else if constexpr (sizeof(T) == 1) {
#pragma unroll
      for (uint32_t w = 0; w < kLanes / 4; ++w) {
        const uint32_t a = from[0].words[w], b = from[1].words[w], c = from[2].words[w], d = from[3].words[w];
        const uint32_t ab = permute_bytes<0x5140>(a, b), cd = permute_bytes<0x5140>(c, d);
        const uint32_t ab_high = permute_bytes<0x7362>(a, b), cd_high = permute_bytes<0x7362>(c, d);
        put(4 * w, 0, permute_bytes<0x5410>(ab, cd));
        put(4 * w + 1, 0, permute_bytes<0x7632>(ab, cd));
        put(4 * w + 2, 0, permute_bytes<0x5410>(ab_high, cd_high));
        put(4 * w + 3, 0, permute_bytes<0x7632>(ab_high, cd_high));
      }
    } else if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (uint32_t w = 0; w < kLanes / 2; ++w) {
        put(2 * w, 0, permute_bytes<0x5410>(from[0].words[w], from[1].words[w]));
        put(2 * w + 1, 0, permute_bytes<0x7632>(from[0].words[w], from[1].words[w]));
      }
    } else {
      constexpr uint32_t kWords = sizeof(T) / 4;
#pragma unroll
      for (uint32_t w = 0; w < kLanes * kWords; ++w) {
        uint32_t value = from[w / (kRun * kWords)].words[w % (kRun * kWords)];
        if constexpr (__is_same(T, Tf32)) value = tf32_bits(value);
        put(w / kWords, w % kWords, value);
      }
    }
  }
  BW_DEVICE_MEMBER void store(MmaPack* tile, const Share& from) const {
    if (along_k) {
#pragma unroll
      for (uint32_t i = 0; i < 2; ++i)
        tile[mma_place(lane + i * kApart, k / kEach)] = pack_of(from + i * kPackRuns);
    } else {
      store_turned(reinterpret_cast<uint32_t*>(tile), from);
    }
  }
};

template <class E, class T>
BW_DEVICE void gemm_mma(const GemmArgs& args, MmaShared<GemmMmaTile>& shared) {
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * kMmaLanes, column = at.column * kMmaLanes;
  int64_t offset[3];
  offsets_at(args.batch, at.batch, offset);
  const MmaSide<E, T> a(args.a, offset[0], args.a_row, args.a_step, row, args.m, args.k);
  const MmaSide<E, T> b(args.b, offset[1], args.b_column, args.b_step, column, args.n, args.k);
  MmaSums<T, GemmMmaTile> sums;
  mma_sums(a, b, args.k, shared, sums);
  sums.each([&](uint32_t down, uint32_t across, auto sum) __attribute__((always_inline)) {
    const uint32_t r = row + down, c = column + across;
    if (r < args.m && c < args.n)
      static_cast<E*>(args.c)[offset[2] + r * args.c_row + c * args.c_column] = as_element<E>(sum);
  });
}

/// A kernel of elements of E that are multiplied as T.
#define BW_GEMM_MMA(entry, E, T, name)                 \
  entry(kGemmThreads) gemm_mma_##name(GemmArgs args) { \
    BW_SHARED static MmaShared<GemmMmaTile> shared;    \
    gemm_mma<E, T>(args, shared);                      \
  }

}  // namespace beeswax::gpu
