// SPDX-License-Identifier: Apache-2.0
// What kernels of reductions, softmax, norms and running sums are called with, and the shapes of their
// blocks.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

// The order of sums (docs/numerics.md): chunks of 512 elements, element i in lane i mod 64.
inline constexpr uint32_t kChunk = 512;
inline constexpr uint32_t kLanes = 64;
/// Neighbouring lanes that one thread adds up, and the threads of a whole chunk.
inline constexpr uint32_t kOwnLanes = 4;
inline constexpr uint32_t kChunkThreads = kLanes / kOwnLanes;

inline constexpr int kReduceThreads = 256;
inline constexpr uint32_t kReduceGroups = kReduceThreads / kChunkThreads;
/// Columns of packs side by side in a block: as many threads as one part of the lanes has where lanes are
/// shared out.
inline constexpr uint32_t kColumnThreads = 32;
/// Columns of one thread: neighbours where they begin as packs do, else as far apart as there are threads
/// across.
constexpr uint32_t own_columns(uint32_t bytes) { return bytes > 4 ? 2 : 4; }

/// How a row's elements lie: axes innermost first. Views with more axes are copied first.
inline constexpr int kMostReducedAxes = 3;
struct ReducedAxes {
  int32_t rank;
  Divisor dims[kMostReducedAxes];
  int64_t strides[kMostReducedAxes];
};

// Flags of a pass.
inline constexpr uint32_t kReduceMaps = 1;  // elements are mapped: not those of a pass over chunks' results
inline constexpr uint32_t kReduceFinishes = 2;   // the row's last step is made
inline constexpr uint32_t kReduceWide = 4;       // results are of the compute type
inline constexpr uint32_t kReducePacks = 8;      // columns: all begin where packs do
inline constexpr uint32_t kReduceDense = 512;    // rows: of neighbouring elements
inline constexpr uint32_t kReduceReverses = 32;  // elements and results are reversed: a minimum
inline constexpr uint32_t kReduceSplit = 16;     // rows: each unit is a chunk; columns: lanes are shared out
// A pass over f32 whose results are rounded to a narrower dtype.
inline constexpr uint32_t kReduceToF16 = 64;
inline constexpr uint32_t kReduceToBf16 = 128;
inline constexpr uint32_t kReduceToF8 = 256;
inline constexpr uint32_t kReduceRounds = kReduceToF16 | kReduceToBf16 | kReduceToF8;

/// Short rows are whole packs, of which a thread has kShortPacks: so a group of threads has several rows.
inline constexpr uint32_t kShortRow = 2 * kLanes;  // elements of the longest
inline constexpr uint32_t kShortPacks = 4;
/// Lanes of a pack: 16 bytes of narrow floats. Integers, which are computed as narrow as they are, would fill
/// the registers.
constexpr uint32_t short_lanes(int bytes, bool is_float) { return is_float && bytes < 4 ? 8 : 4; }
constexpr uint32_t short_rows(int64_t n) { return n > kLanes ? kShortPacks / 2 : kShortPacks; }

/// Rows to one result each. A chunk has 2^width_log2 threads, a row some groups of them; `block_units` units
/// a block.
struct ReduceRowsArgs {
  const void* x;
  void* y;
  const void* centers;  // of the compute type; null where the operation has none
  uint32_t units;       // rows; chunks of rows where split
  uint32_t last;        // elements of a row's last chunk
  Divisor chunks;       // of a row
  Divisor groups;       // of a unit
  uint32_t width_log2, block_units;
  uint32_t flags;
  uint32_t row;  // of the table: whose last step is made
  int64_t n;     // elements of a row, for the last step
  Walk<1> outer;
  ReducedAxes reduced;
};

/// Columns that lie side by side, to one result for each; result (row, chunk, column) is at
/// y[(row * chunks + chunk) * columns + column].
struct ReduceColumnsArgs {
  const void* x;
  void* y;
  const void* centers;
  uint32_t columns, tiles;
  uint32_t chunks, last;
  uint32_t flags;
  uint32_t row;  // of the table: whose last step is made
  int64_t n;
  Walk<1> outer;
  ReducedAxes reduced;
};

inline constexpr int kArgThreads = 256;
inline constexpr uint32_t kArgParts = kArgThreads / kColumnThreads;  // that share out a column
inline constexpr uint32_t kArgPacks = 4;  // of a dense row that a thread loads at once
/// Neighbouring columns of one thread, where they begin as packs of as many do.
constexpr uint32_t own_arg_columns(uint32_t bytes) { return bytes == 2 ? 2 : 1; }

/// argmax and argmin: a key of an element's bits, and of the largest keys the one that comes first. A row is
/// cut into pieces; where there are several, the best of each goes to `keys` (4 bytes, or 8 for 8-byte
/// elements) and `places`, result (row, column, piece).
struct ArgReduceArgs {
  const void* x;
  uint32_t* places;
  void* keys;      // null: no more than places are wanted
  uint32_t units;  // rows times pieces
  Divisor pieces;
  uint32_t piece, n;    // elements of a piece and of a row
  uint32_t width_log2;  // threads of a piece; rows only
  uint32_t packs;  // rows: pieces are dense, and 16 bytes are loaded at a time; columns: own_arg_columns are
  uint32_t columns, tiles;
  uint32_t is_float;
  uint64_t flip;      // bits that are turned first
  uint64_t infinity;  // floats: the largest magnitude that is no NaN
  Walk<1> outer;
  ReducedAxes reduced;
};
/// The best of `pieces` keys in a row for each of `rows` results.
struct ArgJoinArgs {
  const void* keys;
  const uint32_t* places;
  uint32_t* y;
  uint32_t rows, pieces;
  uint32_t width_log2;
};

// Softmax and norms keep rows in registers: a chunk of a row in each group of threads.
inline constexpr uint32_t kRowThreads = 256;
/// The kernels of rows. Short ones have few registers, so that many fit a multiprocessor at once, in small
/// blocks: nothing waits for what else is in one. Loose rows begin or end elsewhere than packs do: short ones
/// come by single elements, others in packs as memory has them (rows.h).
enum class RowKind : uint32_t { Short, Usual, Wide, LooseShort, Loose, LooseWide };
inline constexpr uint32_t kRowKinds = 6;
struct RowShape {
  uint32_t lanes;    // neighbouring ones of a thread
  uint32_t parts;    // of a stripe of kLanes elements, in each of which it has them
  uint32_t stripes;  // of a row, or of a chunk of one
  uint32_t threads;  // of a block

  constexpr uint32_t chunk_threads() const { return kLanes / parts / lanes; }
  constexpr bool one_chunk() const { return stripes * kLanes < kChunk; }
  /// Elements of the longest row.
  constexpr uint32_t most() const {
    return one_chunk() ? stripes * kLanes : threads / chunk_threads() * kChunk;
  }
};
constexpr bool is_loose(RowKind kind) { return kind >= RowKind::LooseShort; }
/// A thread has as many neighbouring lanes as 16 bytes hold, of bytes fewer than that; in loose rows four,
/// for eight would need too many registers, and in short ones two, so that threads' single elements are
/// neighbours too. In short rows it has the lanes some part of a stripe farther on as well: what it does for
/// a row is for more elements.
constexpr RowShape row_shape(RowKind kind, int element_bytes) {
  constexpr uint32_t kStripes = kChunk / kLanes, kShortStripes = 2, kShortThreads = 64;
  const bool narrow = element_bytes < 4;
  const uint32_t lanes = narrow ? 8 : 4;
  switch (kind) {
    case RowKind::Short:
      return {lanes, element_bytes <= 4 ? 2u : 1u, kShortStripes, kShortThreads};
    case RowKind::Usual:
      return {lanes, 1, kStripes, kRowThreads};
    case RowKind::Wide:
      return {lanes, 1, kStripes, narrow ? 512u : 1024u};
    case RowKind::LooseShort:
      return {2, 4, kShortStripes, kShortThreads};
    case RowKind::Loose:
      return {4, 1, kStripes, kRowThreads};
    case RowKind::LooseWide:
      break;
  }
  return {4, 1, kStripes, 512};
}
/// Rows of one and of eight bytes an element are kept where packs fit them, and have no wide blocks.
constexpr bool has_rows(RowKind kind, int element_bytes) {
  return kind <= RowKind::Usual || element_bytes == 2 || element_bytes == 4;
}
inline constexpr uint32_t kRowsSecond = 1;  // a flag: the logarithm of the softmax; the layer norm
/// Rows of n elements, each of which groups of 2^width_log2 threads make, one for each of its chunks;
/// `block_rows` rows a block.
struct RowsArgs {
  const void* x;
  void* y;
  const void* weight;  // norms; bias may be null
  const void* bias;
  uint32_t rows, n;
  uint32_t width_log2, block_rows;
  Divisor chunks;
  uint32_t flags;
  uint32_t zero;
  uint32_t block_chunks;  // of rows that are spread over blocks
  int64_t x_row;          // elements from row to row; those of y are dense
  double eps;
};
/// The same for rows of any length, from what reductions found of each: `first` is the maximum or the mean,
/// `second` the sum of the terms or of the squares; both in the compute type. A block has a tile of a row, in
/// packs of apply_pack elements where all rows and lengths are whole ones.
inline constexpr int kApplyTile = 4096;
constexpr int apply_pack(int element_bytes) { return element_bytes == 1 ? 8 : 16 / element_bytes; }
struct RowsApplyArgs {
  const void* x;
  void* y;
  const void* weight;
  const void* bias;
  const void* first;
  const void* second;
  uint32_t rows, tiles;
  uint32_t flags;
  uint32_t packs;
  int64_t n, x_row;
  double eps;
};

// Running sums.
inline constexpr int kScanThreads = 256;
inline constexpr uint32_t kScanOwn = 8;                              // neighbouring elements of a thread
inline constexpr uint32_t kScanPiece = 2 * kScanThreads * kScanOwn;  // of a row that several blocks share
/// Bytes of the packs that a thread's elements come in.
constexpr uint32_t scan_pack(uint32_t element_bytes) {
  return element_bytes * kScanOwn < 16 ? element_bytes * kScanOwn : 16;
}
/// Dense rows; where `carries` is given, a unit is a piece of kScanPiece elements, and carries[row * chunks +
/// c] is the sum of the row up to and with its chunk c of kChunk elements.
struct ScanRowsArgs {
  const void* x;
  void* y;
  const void* carries;
  uint32_t units;
  Divisor pieces;
  uint32_t chunks;
  uint32_t width_log2;
  uint32_t packs;       // x and y are as many elements past the beginning of a pack
  uint32_t most_ahead;  // elements of a row's first pack that may be before the row
  int64_t n;
};
/// Blocks of threads that share a strip of 2^width_log2 columns, each of them some rows of a column.
inline constexpr int kStripThreads = 1024;
inline constexpr uint32_t kLeastStripLog2 = 3, kMostStripLog2 = 5;
/// Shared numbers: of each part of a column, and of the whole, in lines a number longer than a strip is wide.
constexpr uint32_t strip_numbers(uint32_t width_log2) {
  return ((kStripThreads >> width_log2) + 1) * ((1u << width_log2) + 1);
}
struct ScanStripsArgs {
  const void* x;
  void* y;
  uint32_t columns;  // neighbours in each of the outer blocks of n
  uint32_t width_log2;
  Divisor strips;  // of the columns
  int64_t n;
};
/// A thread adds down a column: of `columns` neighbours in each of the outer blocks of n.
struct ScanColumnsArgs {
  const void* x;
  void* y;
  uint32_t units;  // columns of all outer blocks
  Divisor columns;
  int64_t n;
};

}  // namespace beeswax::gpu
