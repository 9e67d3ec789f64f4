// SPDX-License-Identifier: Apache-2.0
// Reductions, argmax and argmin.
#include <cmath>

#include "backends/gpu/operand_copy.h"
#include "backends/gpu/reduction.h"
#include "core/divide.h"
#include "tables/same_text.h"

namespace beeswax::gpu {
namespace {

// The kept axes of `layout` first, then the reduced ones, both in order; `mask` becomes that of the latter.
Layout reduced_last(const Layout& layout, uint32_t& mask) {
  std::array<int, kMaxRank> order{};
  const auto rank = static_cast<size_t>(layout.rank());
  size_t place = 0;
  uint32_t last = 0;
  for (const uint32_t reduced : {0u, 1u})
    for (int axis = 0; axis < layout.rank(); ++axis)
      if ((mask >> axis & 1u) == reduced) {
        last |= reduced << place;
        order[place++] = axis;
      }
  mask = last;
  return layout.permute(std::span<const int>(order.data(), rank));
}

// A dense copy, with the reduced axes `mask` last, of an operand where they lie too scattered for the
// kernels.
OperandCopy gathered(Backend& backend, const Operand& x, uint32_t& mask) {
  const Layout turned = reduced_last(*x.layout, mask);
  return OperandCopy(backend, {x.storage, &turned, x.dtype}, Layout(turned.shape()),
                     turned.shape().elem_count());
}

constexpr bool kSearchesLargest[] = {
#define BW_ARG_REDUCE(Name, method, better, ...) same_text(#better, "a > b"),
#include "tables/reduce.def"
};

KernelTable arg_kernels(4 * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("arg_reduce_", 1 << (i / 2), i % 2 == 0 ? "" : "_columns"), "argmax or argmin"};
});
KernelTable join_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("arg_reduce_join_", i == 0 ? 4 : 8), "argmax or argmin"};
});

// How an element's bits become a key whose order is that of the elements, NaN last.
void set_keys(ArgReduceArgs& args, DType dtype, bool largest) {
  const uint64_t all = ~uint64_t{0} >> (64 - dtype_bits(dtype));
  const uint64_t sign = all ^ (all >> 1);
  if (dtype_is_float(dtype)) {
    args.is_float = 1;
    args.flip = largest ? 0 : sign;
    args.infinity = dtype == DType::F8E4M3 ? 0x7e : bits_of(Scalar(HUGE_VAL), dtype);
    return;
  }
  const bool is_signed = dtype != DType::U8 && dtype != DType::U32;
  args.flip = (is_signed ? sign : 0) ^ (largest ? 0 : all);
}

}  // namespace

void GpuBackend::reduce(ReduceOp op, const Operand& x, uint32_t axes, const Target& out) {
  const ReduceView view(x, axes);
  if (!view.fits()) {
    const OperandCopy dense = gathered(*this, x, axes);
    return reduce(op, dense.operand(), axes, out);
  }
  reduce_view(gpu_, op, view, Finish::InDType, out.data());
}

void GpuBackend::arg_reduce(ArgReduceOp op, const Operand& x, uint32_t axes, const Target& out) {
  const ReduceView view(x, axes);
  if (!view.fits()) {
    const OperandCopy dense = gathered(*this, x, axes);
    return arg_reduce(op, dense.operand(), axes, out);
  }
  const int64_t n = view.n();
  const bool columns = view.columns > 1;
  // Pieces long enough to be worth it, and short enough for the device to be full: of columns of two bytes
  // threads have so many loads under way that three blocks fill a multiprocessor, and more would only begin
  // with waits of their own. Their loops take 128 rows at a time.
  const int64_t most = columns ? 1 << 12 : 1 << 16;
  const int64_t least = columns ? 64 : 1 << 11;
  const int64_t wanted = (columns && bytes_of(x.dtype) == 2 ? 3 : 8) * int64_t{gpu_.properties().units};
  const int64_t most_own = own_arg_columns(static_cast<uint32_t>(bytes_of(x.dtype)));
  const bool in_packs = columns && most_own > 1 && columns_in_packs(view, most_own);
  const int64_t tiles = ceil_div(view.columns, kColumnThreads * (in_packs ? most_own : 1));
  const int64_t results = columns ? view.outer.count * tiles : view.results();
  const int64_t share = ceil_div(n, std::max<int64_t>(1, wanted / results));
  const int64_t piece = std::min(n, round_up(std::clamp(share, least, most), int64_t{columns ? 128 : 16}));
  const int64_t pieces = ceil_div(n, piece);

  ArgReduceArgs args{};
  set_keys(args, x.dtype, kSearchesLargest[static_cast<size_t>(op)]);
  const size_t bytes = static_cast<size_t>(bytes_of(x.dtype));
  const size_t key_bytes = bytes == 8 ? 8 : 4;
  const auto count = static_cast<size_t>(view.results() * pieces);
  const PoolScratch keys(gpu_, pieces == 1 ? 0 : static_cast<int64_t>(count * key_bytes));
  const PoolScratch places(gpu_, pieces == 1 ? 0 : static_cast<int64_t>(count * 4));
  auto* const y = reinterpret_cast<uint32_t*>(out.data());
  args.piece = static_cast<uint32_t>(piece);
  args.n = static_cast<uint32_t>(n);
  args.pieces = divisor_of(static_cast<uint32_t>(pieces));
  args.columns = static_cast<uint32_t>(view.columns);
  args.tiles = static_cast<uint32_t>(tiles);
  // Threads take as many elements as leave enough threads to fill the device: those of one wave wait for
  // none.
  const int64_t filled = 2048 * int64_t{gpu_.properties().units}, rows = view.results() * pieces;
  int64_t each = 128;
  while (each > 8 && rows * ceil_div(piece, each) < filled) each /= 4;
  args.width_log2 = std::min(log2_up(ceil_div(piece, each)), log2_up(kArgThreads));
  args.reduced = reduced_axes(view.reduced);
  // Elements before and behind the packs of a row are so few only where it is long.
  const bool dense = !columns && view.dense_rows() &&
                     (piece >= 1024 || rows_begin_at(view.base, view.dtype, view.outer, 16));
  args.packs = in_packs || dense ? 1 : 0;
  if (dense && bytes > 1) {  // bytes are taken a pack at a time
    // Of fewer threads, which take more of them in turn, those that leave the last turn the fullest.
    const int64_t packs = ceil_div(piece * static_cast<int64_t>(bytes), 16);
    const auto taken = [&](uint32_t log2) { return round_up(packs, int64_t{kArgPacks} << log2); };
    for (uint32_t log2 = args.width_log2; log2 > 0 && rows << (log2 - 1) >= filled; --log2)
      if (taken(log2 - 1) < taken(args.width_log2)) args.width_log2 = log2 - 1;
  }
  const int64_t blocks_at_once = most_blocks(kArgThreads);
  const Kernel& kernel = arg_kernels.get(gpu_, size_index(x.dtype) * 2 + (columns ? 1 : 0));
  for_each_part(
      view.outer,
      [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
        const int64_t result = first * view.columns * pieces;
        args.x = at(view.base, offset[0], x.dtype);
        args.places = (pieces == 1 ? y : reinterpret_cast<uint32_t*>(places.data())) + result;
        args.keys = pieces == 1 ? nullptr : keys.data() + static_cast<size_t>(result) * key_bytes;
        args.outer = walk_of(part);
        args.units = static_cast<uint32_t>(part.count * pieces);
        const uint32_t blocks = columns ? args.units * args.tiles
                                        : blocks_for(args.units, int64_t{kArgThreads} >> args.width_log2);
        gpu_.launch(kernel, {{blocks, 1, 1}, kArgThreads, 0}, args);
      },
      {}, 0,
      columns ? blocks_at_once / (pieces * args.tiles)
              : (blocks_at_once * kArgThreads >> args.width_log2) / pieces);
  if (pieces == 1) return;
  const Kernel& join = join_kernels.get(gpu_, key_bytes == 4 ? 0 : 1);
  const uint32_t join_log2 = std::min(log2_up(pieces), log2_up(kArgThreads));
  const int64_t most_joined = blocks_at_once * kArgThreads >> join_log2;
  for (int64_t first = 0; first < view.results(); first += most_joined) {
    ArgJoinArgs joined{};
    joined.keys = keys.data() + static_cast<size_t>(first * pieces) * key_bytes;
    joined.places = reinterpret_cast<uint32_t*>(places.data()) + first * pieces;
    joined.y = y + first;
    joined.rows = static_cast<uint32_t>(std::min(view.results() - first, most_joined));
    joined.pieces = static_cast<uint32_t>(pieces);
    joined.width_log2 = join_log2;
    gpu_.launch(join,
                {{blocks_for(joined.rows, int64_t{kArgThreads} >> joined.width_log2), 1, 1}, kArgThreads, 0},
                joined);
  }
}

}  // namespace beeswax::gpu
