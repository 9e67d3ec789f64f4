// SPDX-License-Identifier: Apache-2.0
// Matrix products: layouts into the strides of one batched product, and the choice of its kernel.
#include "backends/gpu/gemm.h"

#include "backends/gpu/blas/blas.h"
#include "backends/gpu/operand_copy.h"
#include "beeswax/system.h"

namespace beeswax::gpu {
namespace {

// The f32 kernels take f32, f16, bf16 and f8e4m3 in any mixture; integers wrap, so only their width matters.
enum GemmKernel : size_t { kF32Large, kF32, kF64, kBits32, kBits64, kGemmKernels };
KernelTable gemm_kernels(kGemmKernels, [](size_t i) -> KernelTable::Name {
  constexpr const char* kNames[] = {"gemm_f32_large", "gemm_f32", "gemm_f64", "gemm_bits32", "gemm_bits64"};
  return {kNames[i], "matmul"};
});
// By w's dtype (f32, f16, bf16), the axis that is dense (k, columns) and the rows (1, or up to kThinRows).
KernelTable thin_kernels(3 * 2 * 2, [](size_t i) -> KernelTable::Name {
  constexpr const char* kNames[] = {"f32", "f16", "bf16"};
  return {join_text(i / 2 % 2 == 0 ? "gemm_dots_" : "gemm_lines_", kNames[i / 4], i % 2 == 0 ? "_1" : "_8"),
          "matmul"};
});
KernelTable thin_sum_kernel(1, [](size_t) -> KernelTable::Name { return {"gemm_thin_sum", "matmul"}; });

// On matrix units, one dtype throughout. Where a unit is `gain` times as fast as other kernels, and that is
// little, their smaller tiles or parts of k are better as long as large tiles leave most of the device idle.
struct UnitKernel {
  DType dtype;
  MatrixUnit unit;
  const char* name;
  int64_t gain;  // or kAlways
};
constexpr int64_t kAlways = int64_t{1} << 20;
constexpr UnitKernel kUnitKernels[] = {
    {DType::F16, kHalfUnit, "gemm_mma_f16", kAlways},
    {DType::BF16, kHalfUnit, "gemm_mma_bf16", kAlways},
    {DType::F8E4M3, kHalfUnit, "gemm_mma_f8e4m3", kAlways},
    {DType::U8, kByteUnit, "gemm_mma_u8", kAlways},
    {DType::F64, kF64Unit, "gemm_mma_f64", 2},
    {DType::F32, kTf32Unit, "gemm_mma_tf32", 4},
};
KernelTable mma_kernels(std::size(kUnitKernels), [](size_t i) -> KernelTable::Name {
  return {kUnitKernels[i].name, "matmul", "", 0, kUnitKernels[i].unit};
});

constexpr int64_t kMostBlocks = int64_t{1} << 30;
constexpr int64_t kMostSize = (int64_t{1} << 31) - 1;
// Parts of k that thin products are cut into: a part is at least so long.
constexpr int64_t kLeastPart = 256;

// Calls launch(batch, offsets in elements of a, b, c) for pieces of a batch that one launch can take.
template <class Launch>
void for_batches(const Nest<3>& batch, int64_t blocks, const Launch& launch) {
  for_each_part(
      batch, [&](const Nest<3>& part, const std::array<int64_t, 3>& at, int64_t) { launch(part, at); }, {}, 0,
      most_blocks(kGemmThreads) / blocks);
}

// A product of more tiles, or of more blocks of columns, than a launch takes: calls make(part) for its two
// halves, across the rows or the columns of its results, whichever are more. Halves begin at multiples of
// what a block makes of each.
template <class Make>
void for_halves(const Product& p, int64_t rows, int64_t columns, const Make& make) {
  Product first = p, second = p;
  const bool down = ceil_div(p.m, rows) >= ceil_div(p.n, columns);
  const int64_t multiple = down ? rows : columns;
  const int64_t half = ceil_div(ceil_div(down ? p.m : p.n, 2), multiple) * multiple;
  if (down) {
    first.m = half;
    second.m -= half;
    second.a = at(p.a, half * p.a_row, p.a_type);
    second.c = at(p.c, half * p.c_row, p.c_type);
  } else {
    first.n = half;
    second.n -= half;
    second.b = at(p.b, half * p.b_column, p.b_type);
    second.c = at(p.c, half * p.c_column, p.c_type);
  }
  make(first);
  make(second);
}

// The kernel of matrix units that makes a product, or null: one dtype throughout, and operands that are dense
// along one of their axes. Of few rows or columns, only f16 and bf16 (which have thin kernels): for others, a
// large tile would be idle for the most part and its blocks too few to read fast.
const UnitKernel* unit_kernel(const Gpu& gpu, const Product& p, bool reduced_precision) {
  if (p.a_type != p.c_type || p.b_type != p.c_type || (p.a_step != 1 && p.a_row != 1) ||
      (p.b_step != 1 && p.b_column != 1))
    return nullptr;
  const auto* const found = std::ranges::find(kUnitKernels, p.c_type, &UnitKernel::dtype);
  if (found == std::end(kUnitKernels) || !gpu.has(found->unit)) return nullptr;
  if (p.c_type == DType::F16 || p.c_type == DType::BF16) return found;
  if (p.c_type == DType::F32 && !reduced_precision) return nullptr;
  const int64_t tiles = ceil_div(p.m, kGemmMma.rows) * ceil_div(p.n, kGemmMma.columns) * p.batch.count;
  const bool few = std::min(p.m, p.n) <= kThinRows || tiles * found->gain < gpu.properties().units;
  return few ? nullptr : found;
}

bool is_tf32(const UnitKernel* unit) { return unit != nullptr && unit->unit == kTf32Unit; }

void tiled(Gpu& gpu, const Product& p, const UnitKernel* unit) {
  const DType type = p.c_type;
  const bool wide = bytes_of(type) == 8;
  GemmKernel kernel = type == DType::F64 ? kF64 : wide ? kBits64 : dtype_is_float(type) ? kF32 : kBits32;
  GemmTile tile = wide ? kGemmWide : kGemmSmall;
  if (kernel == kF32 && fills(gpu, p.m, p.n, p.batch.count, kGemmLarge)) {
    kernel = kF32Large;
    tile = kGemmLarge;
  }
  if (unit != nullptr) tile = kGemmMma;
  if (ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.columns) > most_blocks(kGemmThreads))
    return for_halves(p, tile.rows, tile.columns, [&](const Product& part) { tiled(gpu, part, unit); });
  GemmArgs arguments{};
  arguments.m = static_cast<uint32_t>(p.m);
  arguments.n = static_cast<uint32_t>(p.n);
  arguments.k = static_cast<uint32_t>(p.k);
  arguments.a_type = element_of(p.a_type);
  arguments.b_type = element_of(p.b_type);
  arguments.c_type = element_of(p.c_type);
  arguments.a_row = p.a_row;
  arguments.a_step = p.a_step;
  arguments.b_step = p.b_step;
  arguments.b_column = p.b_column;
  arguments.c_row = p.c_row;
  arguments.c_column = p.c_column;
  arguments.grid = gemm_grid(p.m, p.n, tile);
  const int64_t tiles = tiles_of(arguments.grid);
  for_batches(p.batch, tiles, [&](const Nest<3>& batch, const std::array<int64_t, 3>& offset) {
    arguments.a = at(p.a, offset[0], p.a_type);
    arguments.b = at(p.b, offset[1], p.b_type);
    arguments.c = at(p.c, offset[2], p.c_type);
    arguments.batch = walk_of(batch);
    gpu.launch(unit != nullptr ? mma_kernels.get(gpu, static_cast<size_t>(unit - kUnitKernels))
                               : gemm_kernels.get(gpu, kernel),
               {{static_cast<uint32_t>(tiles * batch.count), 1, 1}, kGemmThreads, 0}, arguments);
  });
}

size_t thin_type(DType dtype) {
  return dtype == DType::F32 ? 0 : dtype == DType::F16 ? 1 : dtype == DType::BF16 ? 2 : 3;
}

// Few rows, with b dense along one of its axes: reading b is what takes the time.
bool is_thin(const Product& p) {
  return p.m <= kThinRows && thin_type(p.a_type) < 3 && thin_type(p.b_type) < 3 &&
         (p.b_step == 1 || p.k == 1 || p.b_column == 1 || p.n == 1);
}

// y = the sum over parts of sums[matrix][part][row][column].
void add_parts(Gpu& gpu, const Product& p, const float* sums, int64_t parts) {
  ThinSumArgs sum{};
  sum.sums = sums;
  sum.y = p.c;
  sum.rows = static_cast<uint32_t>(p.m);
  sum.columns = static_cast<uint32_t>(p.n);
  sum.parts = static_cast<uint32_t>(parts);
  sum.y_type = element_of(p.c_type);
  sum.y_row = p.c_row;
  sum.y_column = p.c_column;
  sum.count = static_cast<uint32_t>(p.batch.count * p.m * p.n);
  const Walk<3> walk = walk_of(p.batch);
  sum.batch.rank = walk.rank;
  std::copy(std::begin(walk.dims), std::end(walk.dims), sum.batch.dims);
  std::copy(std::begin(walk.strides[2]), std::end(walk.strides[2]), sum.batch.strides[0]);
  gpu.launch(thin_sum_kernel.get(gpu, 0), {{blocks_for(sum.count, kMapThreads), 1, 1}, kMapThreads, 0}, sum);
}

void thin(Gpu& gpu, Backend& backend, const Product& p) {
  const bool dots = p.b_step == 1 || p.k == 1;
  const int64_t wave = gpu.properties().wave, waves = kThinThreads / wave;
  const int64_t each = dots ? waves * thin_columns(bytes_of(p.b_type)) : wave * kThinLine;
  if (ceil_div(p.n, each) > most_blocks(kThinThreads))
    return for_halves(p, kThinRows, each, [&](const Product& part) { thin(gpu, backend, part); });
  ThinArgs arguments{};
  arguments.rows = static_cast<uint32_t>(p.m);
  arguments.columns = static_cast<uint32_t>(p.n);
  arguments.k = static_cast<uint32_t>(p.k);
  arguments.x_type = element_of(p.a_type);
  arguments.y_type = element_of(p.c_type);
  arguments.x_row = p.a_row;
  arguments.x_step = p.a_step;
  arguments.w_step = p.b_step;
  arguments.w_column = p.b_column;
  arguments.y_row = p.c_row;
  arguments.y_column = p.c_column;
  arguments.blocks = blocks_for(p.n, each);
  // Enough blocks to keep memory busy; their number does not depend on the rows, so that neither does a row's
  // result.
  const int64_t wanted = 2 * int64_t{gpu.properties().units};
  const int64_t parts =
      std::clamp<int64_t>(wanted / (arguments.blocks * p.batch.count), 1, ceil_div(p.k, kLeastPart));
  arguments.part_steps = static_cast<uint32_t>(ceil_div(ceil_div(p.k, parts), kLeastPart) * kLeastPart);
  arguments.parts = blocks_for(p.k, arguments.part_steps);
  const size_t entry = (thin_type(p.b_type) * 2 + (dots ? 0 : 1)) * 2 + (p.m == 1 ? 0 : 1);
  const int64_t blocks = int64_t{arguments.blocks} * arguments.parts;
  for_batches(p.batch, std::max(blocks, ceil_div(p.m * p.n, int64_t{kMapThreads})),
              [&](const Nest<3>& batch, const std::array<int64_t, 3>& offset) {
                arguments.x = at(p.a, offset[0], p.a_type);
                arguments.w = at(p.b, offset[1], p.b_type);
                arguments.y = at(p.c, offset[2], p.c_type);
                arguments.batch = walk_of(batch);
                detail::Ref<Storage> sums;
                if (arguments.parts > 1) {
                  sums = backend.allocate(static_cast<size_t>(batch.count * arguments.parts * p.m * p.n) *
                                          sizeof(float));
                  arguments.sums = reinterpret_cast<float*>(sums->data());
                }
                gpu.launch(thin_kernels.get(gpu, entry),
                           {{static_cast<uint32_t>(blocks * batch.count), 1, 1}, kThinThreads, 0}, arguments);
                if (arguments.parts == 1) return;
                Product piece = p;
                piece.c = reinterpret_cast<std::byte*>(arguments.y);
                piece.batch = batch;
                add_parts(gpu, piece, arguments.sums, arguments.parts);
              });
}

void multiply(Gpu& gpu, Backend& backend, const Product& p, const UnitKernel* unit, const char* operation) {
  if (std::max({p.m, p.n, p.k}) > kMostSize)
    fail(ErrorKind::TooLarge, operation, p.m, " by ", p.k, " times ", p.k, " by ", p.n,
         ": a side is 2^31 or longer");
  if (gemm_as_conv(gpu, backend, p, is_tf32(unit))) return;
  if (is_tf32(unit)) return tiled(gpu, p, unit);
  if (gemm_hopper(gpu, p)) return;
  if (is_thin(p)) return thin(gpu, backend, p);
  const Product other = exchanged(p);
  if (is_thin(other)) return thin(gpu, backend, other);
  tiled(gpu, p, unit);
}

}  // namespace

Product exchanged(const Product& p) {
  Product out = p;
  std::swap(out.m, out.n);
  std::swap(out.a_type, out.b_type);
  std::swap(out.a, out.b);
  out.a_row = p.b_column;
  out.a_step = p.b_step;
  out.b_step = p.a_step;
  out.b_column = p.a_row;
  std::swap(out.c_row, out.c_column);
  std::swap(out.batch.strides[0], out.batch.strides[1]);
  return out;
}

Element element_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return Element::F32;
    case DType::F16:
      return Element::F16;
    case DType::BF16:
      return Element::BF16;
    case DType::F8E4M3:
      return Element::F8E4M3;
    case DType::F64:
      return Element::F64;
    case DType::U8:
      return Element::Bits8;
    case DType::I16:
      return Element::Bits16;
    case DType::U32:
    case DType::I32:
      return Element::Bits32;
    default:
      return Element::Bits64;
  }
}

GemmGrid gemm_grid(int64_t m, int64_t n, const GemmTile& tile, uint32_t band) {
  GemmGrid grid{};
  grid.down = blocks_for(m, tile.rows);
  grid.across = blocks_for(n, tile.columns);
  if (tiles_of(grid) > kMostBlocks)
    fail(ErrorKind::TooLarge, "matmul", m, " by ", n, " results in one product");
  grid.tiles = divisor_of(static_cast<uint32_t>(tiles_of(grid)));
  grid.band = divisor_of(static_cast<uint32_t>(std::min<int64_t>(int64_t{band} * grid.across, kMostBlocks)));
  return grid;
}

bool fills(const Gpu& gpu, int64_t m, int64_t n, int64_t batch, const GemmTile& tile) {
  return ceil_div(m, tile.rows) * ceil_div(n, tile.columns) * batch >= gpu.properties().units;
}

void gemm(Gpu& gpu, Backend& backend, const Product& p, const char* operation, bool reduced) {
  multiply(gpu, backend, p, unit_kernel(gpu, p, reduced), operation);
}

namespace {

// An operand whose matrices the copy engine can see: itself, or a copy with aligned rows.
OperandCopy with_aligned_rows(Backend& backend, const Operand& x) {
  const Layout& from = *x.layout;
  const int rank = from.rank();
  const int64_t line = 16 / bytes_of(x.dtype);
  bool seen = begins_at(x.data(), 16), repeats = false;
  for (int axis = 0; axis < rank - 2; ++axis) {
    if (from.dim(axis) == 1) continue;
    seen = seen && from.stride(axis) % line == 0;
    repeats = repeats || from.stride(axis) == 0;
  }
  const int64_t row = from.stride(rank - 2), column = from.stride(rank - 1);
  seen = seen && ((column == 1 && row % line == 0) || (row == 1 && column % line == 0));
  if (seen || repeats) return OperandCopy(x);
  std::vector<int64_t> strides(static_cast<size_t>(rank), 1);
  int64_t next = round_up(from.dim(rank - 1), line);
  for (int axis = rank - 2; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = next;
    next *= from.dim(axis);
  }
  return OperandCopy(backend, x, Layout(from.shape(), strides, 0), next);
}

Product product_of(const Operand& a, const Operand& b, const Target& out) {
  const Layout &left = *a.layout, &right = *b.layout, &result = *out.layout;
  const int row = result.rank() - 2, column = row + 1;
  const auto batch = [row](const Layout& layout) {
    return Layout(Shape(layout.shape().dims().first(static_cast<size_t>(row))),
                  layout.strides().first(static_cast<size_t>(row)), 0);
  };
  const Layout a_batch = batch(left), b_batch = batch(right), c_batch = batch(result);
  return Product{left.dim(row),
                 right.dim(column),
                 left.dim(column),
                 a.dtype,
                 b.dtype,
                 out.dtype,
                 a.data(),
                 b.data(),
                 out.data(),
                 left.stride(row),
                 left.stride(column),
                 right.stride(row),
                 right.stride(column),
                 result.stride(row),
                 result.stride(column),
                 Nest<3>({&a_batch, &b_batch, &c_batch})};
}

}  // namespace

void GpuBackend::matmul(const Operand& a, const Operand& b, const Target& out) {
  const Product product = product_of(a, b, out);
  const bool reduced_precision = reduced_precision_f32();  // which another thread may change
  const UnitKernel* unit = unit_kernel(gpu_, product, reduced_precision);
  const bool tf32 = is_tf32(unit);
  const blas::Choice choice = blas::choice();
  // What libraries are measured in is f32 throughout.
  if (!(tf32 && choice.mode == VendorMode::Auto) && blas::multiply(choice, gpu_, *this, product)) return;
  if (tf32 || std::min(product.m, product.n) <= kThinRows || !hopper_takes(gpu_, product))
    return multiply(gpu_, *this, product, unit, "matmul");
  const OperandCopy left = with_aligned_rows(*this, a), right = with_aligned_rows(*this, b);
  const Product aligned = product_of(left.operand(), right.operand(), out);
  multiply(gpu_, *this, aligned, unit_kernel(gpu_, aligned, reduced_precision), "matmul");
}

}  // namespace beeswax::gpu
