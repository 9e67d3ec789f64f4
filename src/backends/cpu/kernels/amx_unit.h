// SPDX-License-Identifier: Apache-2.0
// Tile registers and the products of bytes that AMX has for them, and the same in loops, which let tests on
// other processors reach what is built on them. A tile has up to 16 rows of up to 64 bytes; how many of each
// is set before use, and is lost afterwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Rows and bytes in a row of every tile register, as LDTILECFG reads them.
struct TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

/// A whole tile in memory: rows, one after the other.
using StoredTile = std::byte[16][64];

/// The unit of the processor. Instructions are written out since compilers take the register's number only as
/// a literal.
class AmxUnit {
 public:
  BW_MEMBER_FN explicit AmxUnit(const TileShapes& shapes) {
    asm volatile("ldtilecfg %0" : : "m"(shapes) : "memory");
  }
  BW_MEMBER_FN ~AmxUnit() { asm volatile("tilerelease" : : : "memory"); }
  AmxUnit(const AmxUnit&) = delete;
  AmxUnit& operator=(const AmxUnit&) = delete;

  /// Rows that are `stride` bytes apart. Compilers do not know that this reads memory: it has to be written
  /// before the unit is made, or by store().
  template <int kTile>
  BW_MEMBER_FN void load(const std::byte* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile));
  }
  template <int kTile>
  BW_MEMBER_FN void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  /// sum[m][n] += the products of byte i of row m of a and byte i % 4 of lane n of row i / 4 of b, all
  /// signed; lanes have 32 bits.
  template <int kSum, int kA, int kB>
  BW_MEMBER_FN void add_products() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
  /// Of a tile of 16 rows of 64 bytes. Compilers know that nothing else changes, and keep sums in registers.
  template <int kTile>
  BW_MEMBER_FN void store(StoredTile& to) {
    asm volatile("tilestored %%tmm%c3, (%1,%2,1)" : "=m"(to) : "r"(to), "r"(sizeof(to[0])), "i"(kTile));
  }
};

/// The same in C++, as functions that are not repeated for every kernel.
class LoopUnit {
 public:
  explicit LoopUnit(const TileShapes& shapes) : shapes_(shapes), tiles_() {}

  template <int kTile>
  void load(const std::byte* from, int64_t stride) {
    load_rows(kTile, from, stride);
  }
  template <int kTile>
  void zero() {
    __builtin_memset(tiles_[kTile], 0, sizeof(tiles_[kTile]));
  }
  template <int kSum, int kA, int kB>
  void add_products() {
    multiply(kSum, kA, kB);
  }
  template <int kTile>
  void store(StoredTile& to) {
    store_rows(kTile, to);
  }

 private:
  __attribute__((noinline)) void load_rows(int tile, const std::byte* from, int64_t stride) {
    __builtin_memset(tiles_[tile], 0, sizeof(tiles_[tile]));
    for (int row = 0; row < shapes_.rows[tile]; ++row)
      __builtin_memcpy(tiles_[tile][row], from + row * stride, shapes_.row_bytes[tile]);
  }
  __attribute__((noinline)) void multiply(int to, int a, int b) {
    for (int m = 0; m < shapes_.rows[to]; ++m)
      for (int i = 0; i < shapes_.row_bytes[a]; ++i)
        for (int n = 0; n < shapes_.row_bytes[to] / 4; ++n) {
          int32_t sum;
          __builtin_memcpy(&sum, &tiles_[to][m][n * 4], 4);
          sum += tiles_[a][m][i] * tiles_[b][i / 4][n * 4 + i % 4];
          __builtin_memcpy(&tiles_[to][m][n * 4], &sum, 4);
        }
  }
  __attribute__((noinline)) void store_rows(int tile, StoredTile& to) const {
    for (int row = 0; row < shapes_.rows[tile]; ++row)
      __builtin_memcpy(to[row], tiles_[tile][row], shapes_.row_bytes[tile]);
  }

  TileShapes shapes_;
  int8_t tiles_[8][16][64];
};

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
