// SPDX-License-Identifier: Apache-2.0
// Running sums. Along rows a block adds up a row, or, where rows are few, a piece of one, knowing the sum of
// what comes before. Across columns a thread adds down each, or, where they are fewer than the device has
// threads, a block down a strip of neighbours; a few long columns are turned into rows.
#include "backends/gpu/reduction.h"

namespace beeswax::gpu {
namespace {

enum class Over : size_t { Rows, Columns, Strips };
constexpr std::string_view kOver[] = {"", "_columns", "_strips"};
KernelTable kernels(kDTypes* std::size(kOver), [](size_t i) -> KernelTable::Name {
  return {join_text("cumsum_", name_of(i / std::size(kOver)), kOver[i % std::size(kOver)]), "cumsum"};
});
const Kernel& kernel_of(Gpu& gpu, DType dtype, Over over) {
  return kernels.get(gpu, index_of(dtype) * std::size(kOver) + static_cast<size_t>(over));
}

// Dense rows; y may be x.
void scan_rows(Gpu& gpu, const std::byte* x, DType dtype, int64_t rows, int64_t n, std::byte* y) {
  const DType compute = compute_dtype(dtype);
  const int64_t size = bytes_of(compute);
  // Pieces are read twice, and need no fewer rows than there are multiprocessors.
  const int64_t units = gpu.properties().units;
  const bool split = n > int64_t{kScanPiece} && rows < units + units / 2;
  const int64_t chunks = ceil_div(n, int64_t{kChunk}), pieces = split ? ceil_div(n, int64_t{kScanPiece}) : 1;
  const PoolScratch carries(gpu, split ? rows * chunks * size : 0);
  if (split) {
    chunk_sums(gpu, ReduceView(x, dtype, rows, n, 1), carries.data());
    scan_rows(gpu, carries.data(), compute, rows, chunks, carries.data());
  }
  ScanRowsArgs args{};
  args.pieces = divisor_of(static_cast<uint32_t>(pieces));
  args.chunks = static_cast<uint32_t>(chunks);
  const uint32_t bytes = static_cast<uint32_t>(bytes_of(dtype)), pack = scan_pack(bytes);
  args.packs = (reinterpret_cast<uintptr_t>(x) ^ reinterpret_cast<uintptr_t>(y)) % pack == 0;
  const bool in_packs = begins_at(x, pack) && (rows == 1 || n * bytes % pack == 0);
  args.most_ahead = args.packs != 0 && !in_packs ? pack / bytes - 1 : 0;
  // Enough rows to fill the device have threads of one wave each, which wait for no others; where the last
  // rows would leave most of it idle, narrow elements are shared out over more.
  const int64_t most = rows < 8 * units                              ? kScanThreads
                       : size > bytes_of(dtype) && rows < 48 * units ? kScanThreads / 2
                                                                     : 32;
  args.width_log2 = split ? log2_up(kScanThreads)
                          : log2_up(std::min(most, ceil_div(n + args.most_ahead, int64_t{kScanOwn})));
  args.n = n;
  const int64_t per_launch =
      std::max<int64_t>(1, most_blocks(kScanThreads) * (int64_t{kScanThreads} >> args.width_log2) / pieces);
  for (int64_t first = 0; first < rows; first += per_launch) {
    args.x = at(x, first * n, dtype);
    args.y = at(y, first * n, dtype);
    args.carries = split ? carries.data() + first * chunks * size : nullptr;
    args.units = static_cast<uint32_t>(std::min(per_launch, rows - first) * pieces);
    gpu.launch(kernel_of(gpu, dtype, Over::Rows),
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
    gpu.launch(kernel_of(gpu, dtype, Over::Columns),
               {{blocks_for(args.units, kScanThreads), 1, 1}, kScanThreads, 0}, args);
  }
}

int64_t strips_of(int64_t columns, uint32_t width_log2) {
  return ceil_div(columns, int64_t{1} << width_log2);
}

// Strips as wide as leaves a block for nearly every multiprocessor.
void scan_strips(Gpu& gpu, const std::byte* x, DType dtype, int64_t outer, int64_t n, int64_t columns,
                 std::byte* y) {
  ScanStripsArgs args{};
  args.columns = static_cast<uint32_t>(columns);
  args.n = n;
  args.width_log2 = kMostStripLog2;
  const int64_t units = gpu.properties().units;
  while (args.width_log2 > kLeastStripLog2 && outer * strips_of(columns, args.width_log2) < units - units / 8)
    --args.width_log2;
  const int64_t strips = strips_of(columns, args.width_log2);
  args.strips = divisor_of(static_cast<uint32_t>(strips));
  const int64_t per_launch = std::max<int64_t>(1, most_blocks(kStripThreads) / strips);
  for (int64_t first = 0; first < outer; first += per_launch) {
    args.x = at(x, first * n * columns, dtype);
    args.y = at(y, first * n * columns, dtype);
    const auto blocks = static_cast<uint32_t>(std::min(per_launch, outer - first) * strips);
    gpu.launch(kernel_of(gpu, dtype, Over::Strips), {{blocks, 1, 1}, kStripThreads, 0}, args);
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
  // Columns too few to fill the device: strips of them, if they fill half of it, or rows of the longest.
  constexpr int64_t kLongInStrips = 128, kLongInRows = 1024;
  const int64_t units = gpu_.properties().units;
  const bool few = columns > 1 && outer * columns < int64_t{kScanThreads} * 4 * units;
  const bool in_strips =
      few && n >= kLongInStrips && outer * strips_of(columns, kLeastStripLog2) >= units / 2;
  if (columns > most_elements() || (few && !in_strips && n >= kLongInRows)) {
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
  } else if (in_strips) {
    scan_strips(gpu_, from, x.dtype, outer, n, columns, out.data());
  } else {
    scan_columns(gpu_, from, x.dtype, outer, n, columns, out.data());
  }
}

}  // namespace beeswax::gpu
