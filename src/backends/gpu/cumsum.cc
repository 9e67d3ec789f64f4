// SPDX-License-Identifier: Apache-2.0
// Running sums. Along rows a block adds up a row, or, where rows are few, a piece of one, knowing the sum of
// what comes before; across columns a thread adds down each, and few long columns are turned into rows.
#include "backends/gpu/reduction.h"

namespace beeswax::gpu {
namespace {

KernelTable kernels(kDTypes * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("cumsum_", name_of(i / 2), i % 2 == 0 ? "" : "_columns"), "cumsum"};
});

// Dense rows; y may be x.
void scan_rows(Gpu& gpu, const std::byte* x, DType dtype, int64_t rows, int64_t n, std::byte* y) {
  const DType compute = compute_dtype(dtype);
  const int64_t size = bytes_of(compute);
  const bool split = n > int64_t{kScanPiece} && rows < 4 * int64_t{gpu.properties().units};
  const int64_t chunks = ceil_div(n, int64_t{kChunk}), pieces = split ? ceil_div(n, int64_t{kScanPiece}) : 1;
  const PoolScratch carries(gpu, split ? rows * chunks * size : 0);
  if (split) {
    chunk_sums(gpu, ReduceView(x, dtype, rows, n, 1), carries.data());
    scan_rows(gpu, carries.data(), compute, rows, chunks, carries.data());
  }
  ScanRowsArgs args{};
  args.pieces = divisor_of(static_cast<uint32_t>(pieces));
  args.chunks = static_cast<uint32_t>(chunks);
  // Enough rows to fill the device have threads of one wave each, which wait for no others.
  constexpr int64_t kNarrow = 32;
  const int64_t most = rows < 16 * int64_t{gpu.properties().units} ? kScanThreads : kNarrow;
  args.width_log2 = split ? log2_up(kScanThreads) : log2_up(std::min(most, ceil_div(n, int64_t{kScanOwn})));
  const unsigned pack = std::min(16u, kScanOwn * static_cast<unsigned>(bytes_of(dtype)));
  args.packs = (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) % pack == 0 &&
               (rows == 1 || n * bytes_of(dtype) % pack == 0);
  args.n = n;
  const int64_t per_launch =
      std::max<int64_t>(1, most_blocks(kScanThreads) * (int64_t{kScanThreads} >> args.width_log2) / pieces);
  for (int64_t first = 0; first < rows; first += per_launch) {
    args.x = at(x, first * n, dtype);
    args.y = at(y, first * n, dtype);
    args.carries = split ? carries.data() + first * chunks * size : nullptr;
    args.units = static_cast<uint32_t>(std::min(per_launch, rows - first) * pieces);
    gpu.launch(kernels.get(gpu, index_of(dtype) * 2),
               {{blocks_for(args.units, int64_t{kScanThreads} >> args.width_log2), 1, 1}, kScanThreads, 0},
               args);
  }
}

void scan_columns(Gpu& gpu, const std::byte* x, DType dtype, int64_t outer, int64_t n, int64_t columns,
                  std::byte* y) {
  ScanColumnsArgs args{};
  args.columns = divisor_of(static_cast<uint32_t>(columns));
  args.n = n;
  const int64_t per_launch = std::max<int64_t>(1, most_elements() / columns);
  for (int64_t first = 0; first < outer; first += per_launch) {
    args.x = at(x, first * n * columns, dtype);
    args.y = at(y, first * n * columns, dtype);
    args.units = static_cast<uint32_t>(std::min(per_launch, outer - first) * columns);
    gpu.launch(kernels.get(gpu, index_of(dtype) * 2 + 1),
               {{blocks_for(args.units, kScanThreads), 1, 1}, kScanThreads, 0}, args);
  }
}

}  // namespace

void GpuBackend::cumsum(const Operand& x, int axis, const Target& out) {
  const Shape& shape = out.layout->shape();
  const int64_t n = shape[axis];
  int64_t columns = 1;
  for (int a = axis + 1; a < shape.rank(); ++a) columns *= shape[a];
  const int64_t outer = shape.elem_count() / n / columns;
  const bool dense = Nest<1>({x.layout}).dense(0);
  // Columns too few to fill the device, and long, become rows.
  constexpr int64_t kLongColumn = 1024;
  const bool turns =
      columns > most_elements() || (columns > 1 && n >= kLongColumn &&
                                    outer * columns < int64_t{kScanThreads} * 4 * gpu_.properties().units);
  if (turns) {
    const std::array<int64_t, 3> sizes = {outer, n, columns};
    const std::array<int, 3> last = {0, 2, 1}, back = {0, 2, 1};
    if (!dense) copy(x, out);
    const Layout blocks(Shape(std::span<const int64_t>(sizes)),
                        dense ? x.layout->offset() : out.layout->offset());
    const Layout turned = blocks.permute(std::span<const int>(last));
    const Layout rows(turned.shape());
    const detail::Ref<Storage> sums = scratch(dtype_bytes(x.dtype, static_cast<size_t>(shape.elem_count())));
    copy({dense ? x.storage : out.storage, &turned, x.dtype}, {sums.get(), &rows, x.dtype});
    scan_rows(gpu_, sums->data(), x.dtype, outer * columns, n, sums->data());
    const Layout summed = rows.permute(std::span<const int>(back));
    const Layout whole(summed.shape(), out.layout->offset());
    copy({sums.get(), &summed, x.dtype}, {out.storage, &whole, x.dtype});
    return;
  }
  if (!dense) copy(x, out);
  const std::byte* from = dense ? x.data() : out.data();
  if (columns == 1) {
    scan_rows(gpu_, from, x.dtype, outer, n, out.data());
  } else {
    scan_columns(gpu_, from, x.dtype, outer, n, columns, out.data());
  }
}

}  // namespace beeswax::gpu
