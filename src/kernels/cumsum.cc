// SPDX-License-Identifier: Apache-2.0
// cumsum_<dtype> along dense rows, cumsum_<dtype>_columns down many columns and cumsum_<dtype>_strips down
// fewer: sums in the compute type, each rounded where it is written. Rows that begin anywhere are read and
// written in packs as memory has them, from the pack that a row begins in, `ahead` elements before the row:
// zeros, to its sums.
//   floors: bytes of x and y over the memory's bandwidth
#include "kernels/elements.h"
#include "kernels/reduce_args.h"

namespace beeswax::gpu {

template <class S, class A = Compute<S>>
BW_DEVICE void scan_rows(const ScanRowsArgs& args, A* shared) {
  const uint32_t width = 1u << args.width_log2;
  const uint32_t t = thread() & (width - 1);
  const uint32_t together = width < kWave ? width : static_cast<uint32_t>(kWave);
  const uint32_t place = lane() & (together - 1);
  const uint32_t unit =
      block() * (static_cast<uint32_t>(kScanThreads) >> args.width_log2) + (thread() >> args.width_log2);
  const bool split = args.carries != nullptr;
  const uint32_t row = split ? divide(unit, args.pieces) : unit;
  const uint32_t piece = split ? unit - row * args.pieces.divisor : 0;
  const int64_t begin = static_cast<int64_t>(piece) * kScanPiece;
  const int64_t left = unit < args.units ? args.n - begin : 0;
  const int64_t most = split ? int64_t{kScanPiece} : args.n;
  const int64_t longest = most + args.most_ahead;  // the same for all rows of a block
  const S* x = static_cast<const S*>(args.x) + (static_cast<int64_t>(row) * args.n + begin);
  S* y = static_cast<S*>(args.y) + (static_cast<int64_t>(row) * args.n + begin);
  using Own = Packed<S, static_cast<int>(kScanOwn)>;
  const uint32_t ahead = args.most_ahead > 0 ? elements_past(x, scan_pack(sizeof(S))) : 0;
  x -= ahead;
  y -= ahead;
  const int64_t count = (left < most ? left : most) + ahead;
  const auto is_whole = [&](int64_t at) __attribute__((always_inline)) {
    return args.packs != 0 && at + kScanOwn <= count;
  };
  const auto load = [&](int64_t at)
                        __attribute__((always_inline)) { return *reinterpret_cast<const Own*>(x + at); };
  A carry = A(0);
  if (piece > 0 && unit < args.units)
    carry = static_cast<const A*>(
        args.carries)[static_cast<int64_t>(row) * args.chunks + piece * (kScanPiece / kChunk) - 1];
  // Tiles whose elements are under way while those before them are added: narrow ones are short.
  constexpr uint32_t kAhead = sizeof(S) < 4 ? 2 : 1;
  const uint32_t step_of_tile = width * kScanOwn;
  Own next_of[kAhead] = {};
  bool whole_of[kAhead];
#pragma unroll
  for (uint32_t a = 0; a < kAhead; ++a) {
    const int64_t at = a * step_of_tile + t * kScanOwn;
    whole_of[a] = at >= ahead && is_whole(at);
    if (whole_of[a]) next_of[a] = load(at);
  }
  const auto add_tile = [&](int64_t tile, Own& next, bool& next_whole) __attribute__((always_inline)) {
    const int64_t at = tile + t * kScanOwn, after = at + kAhead * step_of_tile;
    const bool whole = next_whole;
    A sums[kScanOwn] = {};
    if (whole) {
      const auto own = next.renewed();
#pragma unroll
      for (uint32_t k = 0; k < kScanOwn; ++k) sums[k] = widen_at(own, k);
    } else {
      S some[kScanOwn] = {};
#pragma unroll
      for (uint32_t k = 0; k < kScanOwn; ++k)
        if (at + k >= ahead && at + k < count) some[k] = x[at + k];
#pragma unroll
      for (uint32_t k = 0; k < kScanOwn; ++k) sums[k] = widen(some[k]);
    }
    next_whole = is_whole(after);
    if (next_whole) next = load(after);
#pragma unroll
    for (uint32_t k = 1; k < kScanOwn; ++k) sums[k] = static_cast<A>(sums[k - 1] + sums[k]);
    // What threads before this one have, within the wave and then among waves.
    A upto = sums[kScanOwn - 1];
#pragma unroll
    for (uint32_t step = 1; step < kWave; step *= 2) {
      const A other = shuffle(upto, (lane() - step) % kWave);
      if (step < together && place >= step) upto = static_cast<A>(other + upto);
    }
    const A left_of = shuffle(upto, (lane() - 1) % kWave);
    A all = shuffle(upto, lane() | (together - 1));
    A before = carry;
    if (width > kWave) {
      const uint32_t wave = thread() / kWave;
      const uint32_t first = wave & ~(width / kWave - 1);
      if (place == 0) shared[wave] = all;
      barrier();
      all = A(0);
#pragma unroll 1
      for (uint32_t w = first; w < first + width / kWave; ++w) {
        if (w == wave) before = static_cast<A>(before + all);
        all = static_cast<A>(all + shared[w]);
      }
      barrier();
    }
    if (place > 0) before = static_cast<A>(before + left_of);
    carry = static_cast<A>(carry + all);
#pragma unroll
    for (A& sum : sums) sum = static_cast<A>(before + sum);
    const auto out = narrowed<S>(sums).elements();
    if (whole) {
      store_whole(y + at, out);
    } else {
#pragma unroll
      for (uint32_t k = 0; k < kScanOwn; ++k)
        if (at + k >= ahead && at + k < count) y[at + k] = out.v[k];
    }
  };
#pragma unroll 1
  for (int64_t tile = 0; tile < longest;
       tile += kAhead * step_of_tile) {  // all threads of a block go round as often
#pragma unroll
    for (uint32_t a = 0; a < kAhead; ++a) add_tile(tile + a * step_of_tile, next_of[a], whole_of[a]);
  }
}

template <class S, class A = Compute<S>>
BW_DEVICE void scan_columns(const ScanColumnsArgs& args) {
  const uint32_t unit = block() * kScanThreads + thread();
  if (unit >= args.units) return;
  const uint32_t outer = divide(unit, args.columns);
  const int64_t columns = args.columns.divisor;
  const int64_t first = outer * args.n * columns + (unit - outer * args.columns.divisor);
  const S* x = static_cast<const S*>(args.x) + first;
  S* y = static_cast<S*>(args.y) + first;
  A sum = A(0);
  int64_t i = 0;
#pragma unroll 1
  for (; i + kScanOwn <= args.n; i += kScanOwn) {
    S in[kScanOwn];
#pragma unroll
    for (uint32_t k = 0; k < kScanOwn; ++k) in[k] = x[(i + k) * columns];
#pragma unroll
    for (uint32_t k = 0; k < kScanOwn; ++k) {
      sum = static_cast<A>(sum + widen(in[k]));
      y[(i + k) * columns] = narrow<S>(sum);
    }
  }
#pragma unroll 1
  for (; i < args.n; ++i) {
    sum = static_cast<A>(sum + widen(x[i * columns]));
    y[i * columns] = narrow<S>(sum);
  }
}

inline constexpr uint32_t kStripNumbers = strip_numbers(kLeastStripLog2);
static_assert(kStripNumbers >= strip_numbers(kMostStripLog2));

/// Columns of a strip side by side: each tile of them is shared out over the threads by rows, of which each
/// adds its own; a wave adds up what those of a column have.
template <class S, class A = Compute<S>>
BW_DEVICE void scan_strips(const ScanStripsArgs& args, A (&shared)[2][kStripNumbers]) {
  constexpr uint32_t kOwn = sizeof(A) == 8 ? kScanOwn / 2 : kScanOwn;  // rows of a thread
  const uint32_t width = 1u << args.width_log2,
                 parts = static_cast<uint32_t>(kStripThreads) >> args.width_log2;
  const uint32_t pitch = width + 1;
  const uint32_t across = thread() & (width - 1), part = thread() >> args.width_log2;
  const uint32_t outer = divide(block(), args.strips);
  const uint32_t column = (block() - outer * args.strips.divisor) * width + across;
  const int64_t step = args.columns;
  const int64_t first = outer * args.n * step + column;
  const S* x = static_cast<const S*>(args.x) + first;
  S* y = static_cast<S*>(args.y) + first;
  const int64_t end = column < args.columns ? args.n : 0;
  const auto load = [&](int64_t row, S(&to)[kOwn]) __attribute__((always_inline)) {
    if (row + kOwn <= end) {
#pragma unroll
      for (uint32_t k = 0; k < kOwn; ++k) to[k] = x[(row + k) * step];
    } else {
#pragma unroll
      for (uint32_t k = 0; k < kOwn; ++k) to[k] = row + k < end ? x[(row + k) * step] : S{};
    }
  };
  const uint32_t rows = parts * kOwn;  // of a tile
  int64_t row = static_cast<int64_t>(part) * kOwn;
  S next[kOwn];
  load(row, next);
  A carry = A(0);
  uint32_t turn = 0;
#pragma unroll 1
  for (int64_t tile = 0; tile < args.n; tile += rows, row += rows, turn ^= 1) {
    A sums[kOwn];
    sums[0] = widen(next[0]);
#pragma unroll
    for (uint32_t k = 1; k < kOwn; ++k) sums[k] = static_cast<A>(sums[k - 1] + widen(next[k]));
    load(row + rows, next);
    A* all = shared[turn];  // the other one is still read
    all[part * pitch + across] = sums[kOwn - 1];
    barrier();
    // Lanes have neighbouring parts of a column: what comes before each takes its place.
    const uint32_t own = parts > kWave ? parts / kWave : 1, begin = lane() * own;
#pragma unroll 1
    for (uint32_t c = thread() / kWave; c < width; c += kStripThreads / kWave) {
      A upto = A(0);
#pragma unroll 1
      for (uint32_t p = begin; p < begin + own && p < parts; ++p)
        upto = static_cast<A>(upto + all[p * pitch + c]);
#pragma unroll
      for (uint32_t far = 1; far < kWave; far *= 2) {
        const A other = shuffle(upto, (lane() - far) % kWave);
        if (lane() >= far) upto = static_cast<A>(other + upto);
      }
      const A left_of = shuffle(upto, (lane() - 1) % kWave);
      A before = lane() > 0 ? left_of : A(0);
#pragma unroll 1
      for (uint32_t p = begin; p < begin + own && p < parts; ++p) {
        const A mine = all[p * pitch + c];
        all[p * pitch + c] = before;
        before = static_cast<A>(before + mine);
      }
      if (lane() == kWave - 1) all[parts * pitch + c] = upto;
    }
    barrier();
    const A before = static_cast<A>(carry + all[part * pitch + across]);
    carry = static_cast<A>(carry + all[parts * pitch + across]);
#pragma unroll
    for (uint32_t k = 0; k < kOwn; ++k)
      if (row + k < end) y[(row + k) * step] = narrow<S>(static_cast<A>(before + sums[k]));
  }
}

#define BW_DTYPE(Name, name, ctype, ...)                                                               \
  BW_KERNEL(kScanThreads) cumsum_##name(ScanRowsArgs args) {                                           \
    BW_SHARED static Compute<ctype> shared[kScanThreads / kWave];                                      \
    scan_rows<ctype>(args, shared);                                                                    \
  }                                                                                                    \
  BW_KERNEL(kScanThreads) cumsum_##name##_columns(ScanColumnsArgs args) { scan_columns<ctype>(args); } \
  BW_KERNEL_OF_REGISTERS(kStripThreads) cumsum_##name##_strips(ScanStripsArgs args) {                  \
    BW_SHARED static Compute<ctype> shared[2][kStripNumbers];                                          \
    scan_strips<ctype>(args, shared);                                                                  \
  }
#include "tables/dtypes.def"

}  // namespace beeswax::gpu
