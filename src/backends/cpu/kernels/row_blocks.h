// SPDX-License-Identifier: Apache-2.0
// The walk of softmax and norms over rows. Included by kernels only, after their namespace is chosen.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/lines.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/tree.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// The rows of one call, a block at a time, and its working memory. With kLate, a block's results are written,
// and the block after the next is requested, line by line while the sums of the next one are made: memory
// then reads and writes all the time, and arithmetic fills what it waits. A block has kTogether rows,
// or kRowsTogether, where the second-level cache has room for them, or as many more as are short.
template <class S, bool kLate = false, int64_t kTogether = 1>
struct Rows {
  using A = Compute<S>;
  static constexpr int64_t kLongestRequested = 1 << 14;
  // How far writing is ahead of reading. Rows of both often begin at the same place of a page, and Intel's
  // cores let a load wait for a store before it whose address is the same in its last twelve bits.
  static constexpr int64_t kLead = 512 / static_cast<int64_t>(sizeof(S));
  // What the loops read: S itself, if the level can widen it in registers, or what a first pass widened.
  using X = std::conditional_t<kWidens<S>, S, A>;
  const RowArgs& args;
  int64_t n;
  int64_t padded;  // elements of a row in `values`: whole registers are kept there
  int64_t in_block;
  int64_t lead;  // of writing within a row; short rows are written some rows ahead instead
  const S* end;
  A* values;    // for each element of a block
  A* wide;      // likewise, if a first pass widens
  A* partials;  // for each chunk of each row of a block

  BW_MEMBER_FN explicit Rows(const RowArgs& a)
      : args(a),
        n(a.n),
        padded(padded_row(a.n)),
        in_block(rows_in_block(padded, kTogether < kRowsTogether ? kTogether : kRowsTogether)),
        lead(n >= 8 * kLead ? kLead : 0),
        end(static_cast<const S*>(a.x) + a.rows * a.n),
        values(static_cast<A*>(a.scratch)),
        wide(values + in_block * padded),
        partials(wide + in_block * padded) {}

  // `count` rows; x is what the loops read.
  struct Block {
    const S* source;
    const X* x;
    int64_t count;
    S* y;
  };

  // write() of elements [begin, upto) of row r of a block, but for rows that begin between lines, from line
  // to line: as many elements further on.
  template <class Write>
  BW_MEMBER_FN void write_part(const Block& block, int64_t r, int64_t begin, int64_t upto,
                               Write write) const {
    const int64_t head =
        args.past_caches
            ? static_cast<int64_t>(-reinterpret_cast<uintptr_t>(block.y + r * n) % 64 / sizeof(S))
            : 0;
    if (begin == 0 && head > 0) write(block, r, int64_t{0}, head < n ? head : n, false);
    begin += head;
    upto = upto + head < n ? upto + head : n;
    if (begin < upto) write(block, r, begin, upto - begin, args.past_caches);
  }

  // The part of row r of a block that is due before its elements from i on are replaced in `values`, after
  // those for all i before.
  template <class Write>
  BW_MEMBER_FN void write_ahead(const Block& block, int64_t r, int64_t i, Write write) const {
    write_part(block, r, i == 0 ? 0 : i + lead, i + lead + kLanes, write);
  }

  // Calls sums(block, before) for each block; before(r, i) is to be called before elements [i, i + kLanes) of
  // row r are replaced in `values`. Calls write(block, r, begin, count, past_caches) for each part of a row:
  // after the block's sums, or as late as that.
  template <class Sums, class Write>
  BW_MEMBER_FN void each_block(Sums sums, Write write) const {
    Block block{static_cast<const S*>(args.x), nullptr, 0, static_cast<S*>(args.y)};
    Block last = block;
    const int64_t few = (kLead + n - 1) / n, half = in_block / 2;
    const int64_t rows_lead = lead > 0 ? 0 : few < half ? few : half;
    for (int64_t row = 0; row < args.rows; row += in_block) {
      block.count = args.rows - row < in_block ? args.rows - row : in_block;
      if constexpr (kWidens<S>) {
        block.x = block.source;
      } else {
        map_lines(
            wide, block.count * n, false, [](A v) __attribute__((always_inline)) { return v; }, block.source);
        block.x = wide;
      }
      if constexpr (kLate) {
        const int64_t whole = rows_lead < last.count ? rows_lead : last.count;
        for (int64_t r = 0; r < whole; ++r) write_part(last, r, 0, n, write);
      }
      sums(block, [&](int64_t r, int64_t i) __attribute__((always_inline)) {
        if constexpr (kLate) {
          if (r + rows_lead < last.count) write_ahead(last, r + rows_lead, i, write);
        }
      });
      if (kLate)
        for (int64_t r = block.count + rows_lead; r < last.count; ++r) write_part(last, r, 0, n, write);
      last = block;
      if (!kLate || row + in_block >= args.rows) {
        for (int64_t r = 0; r < last.count; ++r) write_part(last, r, 0, n, write);
      }
      block.source += in_block * n;
      block.y += in_block * n;
    }
  }

  // The sums of map(v, i) over the chunks of row r of a block, which is at x, for registers v of elements i
  // and on (sum_in_registers), to `partials`.
  template <class T, class Map, class Before>
  BW_MEMBER_FN void sum_chunks(const T* x, int64_t r, Map map, Before before) const {
    for (int64_t begin = 0; begin < n; begin += kChunk) sum_chunk(partials, x, r, begin, map, before);
  }
  template <class T, class Map, class Before>
  BW_MEMBER_FN void sum_chunk(A* sums, const T* x, int64_t r, int64_t begin, Map map, Before before) const {
    sums[begin / kChunk] = sum_in_registers<A>(
        x + begin, n - begin < kChunk ? n - begin : kChunk,
        [=](Register<A> v, int64_t i) __attribute__((always_inline)) { return map(v, begin + i); },
        [&](int64_t i) __attribute__((always_inline)) { before(r, begin + i); });
  }
  // Their sum.
  template <class T, class Map, class Before>
  BW_MEMBER_FN A sum(const T* x, int64_t r, Map map, Before before) const {
    sum_chunks(x, r, map, before);
    return tree_join(partials, chunks_of(n));
  }
  // The sums of map(v, r, i) over each row r of a block. The rows are read chunk by chunk in turn: what
  // `before` writes then uses a part of the weights for all of them while it is in a cache.
  template <class Map, class Before>
  BW_MEMBER_FN void sum_together(const Block& block, A* sums, Map map, Before before) const {
    const int64_t chunks = chunks_of(n), count = block.count;
    const X* x = block.x;
    for (int64_t begin = 0; begin < n; begin += kChunk)
      for (int64_t r = 0; r < count; ++r)
        sum_chunk(
            partials + r * chunks, x + r * n, r, begin,
            [=](Register<A> v, int64_t i) __attribute__((always_inline)) { return map(v, r, i); }, before);
    for (int64_t r = 0; r < count; ++r) sums[r] = tree_join(partials + r * chunks, chunks);
  }

  // What is requested while the elements from `begin` on of row r of `block` are written: those of the next
  // block that nobody has read yet. Long rows fill the second cache by themselves; they request what is
  // there.
  BW_MEMBER_FN const S* ahead(const Block& block, int64_t r, int64_t begin) const {
    const S* next = block.source + (kLate ? 2 : 1) * in_block * n + r * n;
    if (next >= end || n > kLongestRequested) return reinterpret_cast<const S*>(values + r * padded + begin);
    return next + begin;
  }
};

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
