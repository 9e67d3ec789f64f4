// SPDX-License-Identifier: Apache-2.0
// Constants, ranges and copies between strided operands; elements move as bits.
//   floors: bytes read and written over the bandwidth of memory
//   H100, shares of copying: transposes of f32 0.96, of f16 0.96, of u8 0.92
#include "core/math/convert.h"
#include "kernels/gpu_words.h"
#include "kernels/map.h"
#include "kernels/turned.h"

namespace beeswax::gpu {

using Words = uint32_t __attribute__((ext_vector_type(4)));  // 16 bytes, which compilers move as one

/// The element to fill with; of 16 bytes, both halves.
template <class S>
BW_DEVICE S fill_value(const CopyArgs& args) {
  if constexpr (sizeof(S) == sizeof(Words)) {
    const auto low = static_cast<uint32_t>(args.value), high = static_cast<uint32_t>(args.value >> 32);
    return S{low, high, low, high};
  } else {
    return from_bytes<S>(args.value);
  }
}

template <class S, bool fill>
BW_DEVICE void move(const CopyArgs& args) {
  const S* x = static_cast<const S*>(args.x);
  S* y = static_cast<S*>(args.y);
  const S value = fill_value<S>(args);
  uint32_t i = block() * (kMapThreads * kStridedElements) + thread();
#pragma unroll
  for (int j = 0; j < kStridedElements; ++j, i += kMapThreads) {
    if (i >= args.count) return;
    int64_t offset[2];
    offsets_at(args.walk, i, offset);
    y[offset[1]] = fill ? value : x[offset[0]];
  }
}

/// Copies to neighbours from elements that are args.step apart: the walk counts packs. A thread has another
/// one args.apart from there: to walk takes more instructions than to move.
template <class S>
BW_DEVICE void collect(const CopyArgs& args) {
  constexpr int n = packed_elements(sizeof(S));
  using Unit = Packed<S, n>;
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  int64_t offset[2];
  offsets_at(args.walk, i, offset);
  const S* x = static_cast<const S*>(args.x) + offset[0];
  S* y = static_cast<S*>(args.y) + offset[1];
  const bool two = args.apart[1] != 0;
  const auto collect_with = [&](auto load) __attribute__((always_inline)) {
    Unit first, second;
    load(x, first);
    load(two ? x + args.apart[0] : x, second);
    *reinterpret_cast<Unit*>(y) = first;
    if (two) *reinterpret_cast<Unit*>(y + args.apart[1]) = second;
  };
  if constexpr (sizeof(S) == 2) {
    if (args.step == 1)  // neighbours that begin between words
      return collect_with([](const S* from, Unit& to)
                              __attribute__((always_inline)) { load_words_at_even(from, to.words); });
  }
  collect_with([&](const S* from, Unit& to) __attribute__((always_inline)) {
    Pack<S, n> elements;
#pragma unroll
    for (int j = 0; j < n; ++j) elements.v[j] = from[j * args.step];
    __builtin_memcpy(&to, &elements, sizeof(to));
  });
}

#define BW_MOVE(S, bytes)                                                      \
  BW_KERNEL(kMapThreads) copy_##bytes(CopyArgs args) { move<S, false>(args); } \
  BW_KERNEL(kMapThreads) fill_##bytes(CopyArgs args) { move<S, true>(args); }
BW_MOVE(uint8_t, 1)
BW_MOVE(uint16_t, 2)
BW_MOVE(uint32_t, 4)
BW_MOVE(uint64_t, 8)
BW_MOVE(Words, 16)
/// Copies the blocks' parts to their places: those of one part are neighbours. What belongs to the block's
/// part is put together from all parts with masks, because an index of arguments would put them into scratch
/// memory; and its pointer is a distance from the first, because one made of an integer could point anywhere.
template <class S>
BW_DEVICE void join(const JoinArgs& args) {
  const char* first = static_cast<const char*>(args.parts[0].x);
  int64_t apart = 0;
  uint32_t first_block = 0, width = 0, place = 0, begin = 0;
#pragma unroll
  for (int p = 0; p < JoinArgs::kParts; ++p) {
    const JoinArgs::Part& part = args.parts[p];
    const uint32_t mask = block() >= begin && block() < part.end_block ? ~0u : 0u;
    apart |= (static_cast<const char*>(part.x) - first) & static_cast<int32_t>(mask);
    first_block |= begin & mask;
    width |= part.width & mask;
    place |= part.at & mask;
    begin = part.end_block;
  }
  const S* x = reinterpret_cast<const S*>(first + apart);
  S* y = static_cast<S*>(args.y) + place;
  const uint32_t count = width * args.rows;
  const uint32_t begins = (block() - first_block) * (kMapThreads * kStridedElements) + thread();
  S values[kStridedElements];
#pragma unroll
  for (uint32_t j = 0; j < kStridedElements; ++j) {
    const uint32_t i = begins + j * kMapThreads;
    if (i < count) values[j] = x[i];
  }
#pragma unroll
  for (uint32_t j = 0; j < kStridedElements; ++j) {
    const uint32_t i = begins + j * kMapThreads;
    if (i >= count) return;
    const uint32_t row = args.rows == 1 ? 0 : i / width;
    y[static_cast<int64_t>(row) * args.pitch + (i - row * width)] = values[j];
  }
}
#define BW_JOIN(S, bytes) \
  BW_KERNEL(kMapThreads) join_##bytes(JoinArgs args) { join<S>(args); }
BW_JOIN(uint8_t, 1)
BW_JOIN(uint16_t, 2)
BW_JOIN(uint32_t, 4)
BW_JOIN(uint64_t, 8)
BW_JOIN(Words, 16)

#define BW_COLLECT(S, bytes) \
  BW_KERNEL(kMapThreads) collect_##bytes(CopyArgs args) { collect<S>(args); }
BW_COLLECT(uint8_t, 1)
BW_COLLECT(uint16_t, 2)
BW_COLLECT(uint32_t, 4)

template <class S>
BW_DEVICE void transpose_part(const TransposeArgs& args, TransposeTile<S>& tile) {
  constexpr uint32_t kSide = TransposeTile<S>::kSide, kRows = kTileThreads / kSide, kEach = kSide / kRows;
  const TilePlace<2> place(args, kSide);
  const uint32_t in = thread() % kSide, across = thread() / kSide, row = place.row, column = place.column;
  const S* x = static_cast<const S*>(args.x) + place.offset[0] + column + in;
  S* y = static_cast<S*>(args.y) + place.offset[1] + row + in;
  // All loads first: compilers would put each into the tile before the next one.
  S values[kEach] = {};
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t r = row + across + i * kRows;
    if (r < args.rows && column + in < args.columns) values[i] = x[static_cast<int64_t>(r) * args.x_row];
  }
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) tile.at[across + i * kRows][in] = values[i];
  barrier();
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t c = column + across + i * kRows;
    if (c < args.columns && row + in < args.rows)
      y[static_cast<int64_t>(c) * args.y_column] = tile.at[in][across + i * kRows];
  }
}

#define BW_TRANSPOSE(S, bytes)                                    \
  BW_KERNEL(kTileThreads) transpose_##bytes(TransposeArgs args) { \
    BW_SHARED static TransposeTile<S> tile;                       \
    transpose_part<S>(args, tile);                                \
  }
BW_TRANSPOSE(uint8_t, 1)
BW_TRANSPOSE(uint16_t, 2)
BW_TRANSPOSE(uint32_t, 4)
BW_TRANSPOSE(uint64_t, 8)

/// Element j of word i becomes element i of word j.
BW_DEVICE void turn_square(uint32_t (&words)[2]) {
  const uint32_t low = (words[0] & 0xffffu) | words[1] << 16;
  words[1] = words[0] >> 16 | (words[1] & 0xffff0000u);
  words[0] = low;
}
BW_DEVICE void turn_square(uint32_t (&words)[4]) {
  constexpr uint32_t kEven = 0x00ff00ffu;
  uint32_t even[2], odd[2];  // of two words each
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t a = words[2 * i], b = words[2 * i + 1];
    even[i] = (a & kEven) | (b & kEven) << 8;
    odd[i] = (a >> 8 & kEven) | (b & ~kEven);
  }
  turn_square(even);
  turn_square(odd);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    words[2 * i] = even[i];
    words[2 * i + 1] = odd[i];
  }
}

/// The same of squares of more elements, `words` of a row each.
template <int kPart, int words>
BW_DEVICE void turn_squares(uint32_t (&square)[kPart * words][words]) {
  uint32_t turned[kPart * words][words];
#pragma unroll
  for (int down = 0; down < words; ++down)
#pragma unroll
    for (int across = 0; across < words; ++across) {
      uint32_t part[kPart];
#pragma unroll
      for (int i = 0; i < kPart; ++i) part[i] = square[down * kPart + i][across];
      turn_square(part);
#pragma unroll
      for (int i = 0; i < kPart; ++i) turned[across * kPart + i][down] = part[i];
    }
  __builtin_memcpy(square, turned, sizeof(square));
}

/// As TransposeTile, of squares; a row of a square at a time. A line's squares begin at a place that its
/// number gives: what threads write at a time is in different banks, as is what they read.
template <class S, int words>
struct SquaresTile {
  static constexpr SquareTile kSize = square_tile(sizeof(S), words);
  static constexpr uint32_t kSquare = transpose_square(sizeof(S), words), kDown = kSize.down,
                            kAcross = kSize.across;
  struct alignas(4 * words) Row {
    uint32_t words_of[words];
  };
  Row at[kAcross * kSquare][kDown];
};
template <class S, int words>
BW_DEVICE void transpose_squares(const TransposeArgs& args, SquaresTile<S, words>& tile) {
  using Tile = SquaresTile<S, words>;
  using Row = typename Tile::Row;
  constexpr uint32_t kSquare = Tile::kSquare, kDown = Tile::kDown, kAcross = Tile::kAcross;
  const TilePlace<2> place(args, kDown * kSquare, kAcross * kSquare);
  const uint32_t row = place.row, column = place.column;
  {
    constexpr uint32_t kStep = kTileThreads / kAcross, kEach = kDown / kStep;  // of squares
    const uint32_t in = thread() % kAcross, first = thread() / kAcross;
    const bool some =
        column + in * kSquare < args.columns;  // squares are whole: their columns exist together
    // Places go on by steps: products for each would cost more than what is moved.
    const S* x = static_cast<const S*>(args.x) + place.offset[0] + column + in * kSquare +
                 (row + first * kSquare) * args.x_row;
    Row rows[kEach][kSquare] = {};
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i, x += (kStep - 1) * kSquare * args.x_row)
#pragma unroll
      for (uint32_t j = 0; j < kSquare; ++j, x += args.x_row)
        if (some && row + (first + i * kStep) * kSquare < args.rows)
          rows[i][j] = *reinterpret_cast<const Row*>(x);
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      uint32_t square[kSquare][words];
      __builtin_memcpy(square, rows[i], sizeof(square));
      turn_squares<kSquare / words, words>(square);
      __builtin_memcpy(rows[i], square, sizeof(square));
#pragma unroll
      for (uint32_t j = 0; j < kSquare; ++j)
        tile.at[in * kSquare + j][(first + i * kStep + in) % kDown] = rows[i][j];
    }
  }
  barrier();
  constexpr uint32_t kStep = kTileThreads / kDown, kEach = kAcross / kStep;
  const uint32_t in = thread() % kDown, first = thread() / kDown;
  const bool some = row + in * kSquare < args.rows;
  S* y = static_cast<S*>(args.y) + place.offset[1] + row + in * kSquare +
         (column + first * kSquare) * args.y_column;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i, y += (kStep - 1) * kSquare * args.y_column)
#pragma unroll
    for (uint32_t j = 0; j < kSquare; ++j, y += args.y_column) {
      const uint32_t square = first + i * kStep;
      if (some && column + square * kSquare < args.columns)
        *reinterpret_cast<Row*>(y) = tile.at[square * kSquare + j][(in + square) % kDown];
    }
}

#define BW_TRANSPOSE_SQUARES(S, bytes, words)                                       \
  BW_KERNEL(kTileThreads) transpose_squares_##bytes##_##words(TransposeArgs args) { \
    BW_SHARED static SquaresTile<S, words> tile;                                    \
    transpose_squares<S, words>(args, tile);                                        \
  }
BW_TRANSPOSE_SQUARES(uint8_t, 1, 1)
BW_TRANSPOSE_SQUARES(uint8_t, 1, 2)
BW_TRANSPOSE_SQUARES(uint16_t, 2, 1)
BW_TRANSPOSE_SQUARES(uint16_t, 2, 2)

/// Number i is start + i step: integers wrap, floats round once from f64.
template <class T>
BW_DEVICE void range(const RangeArgs& args) {
  map_dense(
      static_cast<T*>(args.y), args.count,
      [&args](uint32_t i, T) __attribute__((always_inline)) {
        const int64_t at = args.first + i;
        if constexpr (m::Integer<T>) {
          return static_cast<T>(static_cast<uint64_t>(args.whole_start) +
                                static_cast<uint64_t>(at) * static_cast<uint64_t>(args.whole_step));
        } else {
          return m::convert<T>(args.start + static_cast<double>(at) * args.step);
        }
      },
      MemoryOrValue<T>{nullptr, T()});
}
#define BW_DTYPE(Name, name, ctype, ...) \
  BW_KERNEL(kMapThreads) range_##name(RangeArgs args) { range<ctype>(args); }
#include "tables/dtypes.def"

}  // namespace beeswax::gpu
