// SPDX-License-Identifier: Apache-2.0
// Affine, unary, binary, compare, where and cast: each is one launch of a kernel. Unary and cast have dense
// kernels only, and copy other operands first.

#include "backends/gpu/launch.h"
#include "backends/gpu/operand_copy.h"
#include "backends/gpu/turn.h"
#include "tables/unary_packs.h"

namespace beeswax::gpu {
namespace {

constexpr bool kForNumbers[] = {
#define BW_UNARY(Name, method, dtypes, ...) std::string_view(#dtypes) == "Number",
#define BW_UNARY_PARAM(Name, method, param, dtypes, ...) std::string_view(#dtypes) == "Number",
#include "tables/unary.def"
};
constexpr const char* kUnary[] = {
#define BW_UNARY(Name, method, ...) #method,
#define BW_UNARY_PARAM(Name, method, ...) #method,
#include "tables/unary.def"
};
constexpr bool kUnaryCostly[] = {
#define BW_UNARY(Name, method, dtypes, expr, half, ...) unary_is_costly(#expr, #half),
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ...) unary_is_costly(#expr, #half),
#include "tables/unary.def"
};
constexpr bool kBinaryForNumbers[] = {
#define BW_BINARY(Name, method, dtypes, ...) std::string_view(#dtypes) == "Number",
#include "tables/binary.def"
};
constexpr const char* kBinary[] = {
#define BW_BINARY(Name, method, ...) #method,
#include "tables/binary.def"
};
constexpr const char* kCompare[] = {
#define BW_COMPARE(Name, method, ...) #method,
#include "tables/binary.def"
};

// Entries of tables with strided kernels come in pairs: the dense kernel and the strided one.
std::string_view suffix(size_t index) { return index % 2 == 0 ? "" : "_strided"; }
bool is_float(size_t dtype) { return dtype_is_float(static_cast<DType>(dtype)); }

KernelTable unary_kernels(std::size(kUnary) * kDTypes, [](size_t i) -> KernelTable::Name {
  const size_t dtype = i % kDTypes, op = i / kDTypes;
  if (!kForNumbers[op] && !is_float(dtype)) return {"", ""};
  return {join_text("unary_", kUnary[op], "_", name_of(dtype)), kUnary[op]};
});
// In threes: dense, strided, and where an operand lies across the result.
KernelTable binary_kernels(std::size(kBinary) * kDTypes * 3, [](size_t i) -> KernelTable::Name {
  const size_t dtype = i / 3 % kDTypes, op = i / 3 / kDTypes;
  if (!kBinaryForNumbers[op] && !is_float(dtype)) return {"", ""};
  constexpr std::string_view kSuffix[] = {"", "_strided", "_turned"};
  return {join_text("binary_", kBinary[op], "_", name_of(dtype), kSuffix[i % 3]), kBinary[op]};
});
KernelTable compare_kernels(std::size(kCompare) * kDTypes * 2, [](size_t i) -> KernelTable::Name {
  const size_t dtype = i / 2 % kDTypes, op = i / 2 / kDTypes;
  return {join_text("compare_", kCompare[op], "_", name_of(dtype), suffix(i)), kCompare[op]};
});
KernelTable affine_kernels(kDTypes * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("affine_", name_of(i / 2), suffix(i)), "affine"};
});
KernelTable cast_kernels(kDTypes* kDTypes, [](size_t i) -> KernelTable::Name {
  const size_t to = i % kDTypes, from = i / kDTypes;
  if (from == to) return {"", ""};
  return {join_text("cast_", name_of(from), "_", name_of(to)), "to_dtype"};
});
KernelTable where_kernels(4 * 4 * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("where_", 1 << (i / 8), "_", 1 << (i / 2 % 4), suffix(i)), "where"};
});

// Launches one part of an operation: `arguments` takes the strided kernel's walk only where it is needed.
template <int n, class Strided>
void launch_part(Gpu& gpu, KernelTable& table, size_t entry, const Nest<n>& nest, Strided& arguments,
                 const LaunchShape& dense) {
  bool is_dense = true;
  for (size_t k = 0; k < n; ++k) is_dense = is_dense && nest.dense(k);
  if (is_dense) {
    gpu.launch(table.get(gpu, entry), dense, arguments.dense);
  } else {
    arguments.walk = walk_of(nest);
    gpu.launch(table.get(gpu, entry + 1), strided_shape(nest.count), arguments);
  }
}

// One dense input and one dense output; arguments.x, y and count are filled in.
template <class Arguments>
void map_dense_parts(Gpu& gpu, const Kernel& kernel, const std::byte* x, DType dtype, const Target& out,
                     Arguments arguments, int packs = 1) {
  const int64_t count = out.layout->shape().elem_count();
  for (int64_t first = 0; first < count; first += most_elements()) {
    const int64_t part = std::min(most_elements(), count - first);
    arguments.x = at(x, first, dtype);
    arguments.y = at(out.data(), first, out.dtype);
    arguments.count = static_cast<uint32_t>(part);
    gpu.launch(kernel, dense_shape(part, {bytes_of(dtype)}, bytes_of(out.dtype), packs), arguments);
  }
}

// What the kernels of two operands are given of them, whatever their layout.
BinaryArgs numbers_of(const Argument& a, const Argument& b, DType dtype) {
  BinaryArgs arguments{};
  if (a.is_scalar()) arguments.a_value = bits_of(a.scalar, dtype);
  if (b.is_scalar()) arguments.b_value = bits_of(b.scalar, dtype);
  return arguments;
}
DType dtype_of(const Argument& a, const Argument& b) {
  return a.is_scalar() ? b.operand.dtype : a.operand.dtype;
}

}  // namespace

void GpuBackend::cast(const Operand& x, const Target& out) {
  if (dtype_is_storage(x.dtype) || dtype_is_storage(out.dtype)) return cast_storage(x, out);
  const OperandCopy dense = dense_or_copy(*this, x);
  map_dense_parts(gpu_, cast_kernels.get(gpu_, index_of(x.dtype) * kDTypes + index_of(out.dtype)),
                  dense.data(), x.dtype, out, CastArgs{});
}

void GpuBackend::affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) {
  AffineStridedArgs arguments{};
  // For narrow floats the numbers stay in f32: one rounding, at the end.
  arguments.dense.mul = bits_of(mul, compute_dtype(x.dtype));
  arguments.dense.add = bits_of(add, compute_dtype(x.dtype));
  for_each_part(Nest<1>({x.layout}),
                [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
                  arguments.dense.x = at(x.data(), offset[0], x.dtype);
                  arguments.dense.y = at(out.data(), first, out.dtype);
                  arguments.dense.count = static_cast<uint32_t>(part.count);
                  launch_part(gpu_, affine_kernels, index_of(x.dtype) * 2, part, arguments,
                              dense_shape(part.count, {bytes_of(x.dtype)}, bytes_of(out.dtype)));
                });
}

void GpuBackend::unary(UnaryOp op, const Operand& x, double param, const Target& out) {
  UnaryArgs arguments{};
  arguments.param = param;
  const OperandCopy dense = dense_or_copy(*this, x);
  map_dense_parts(gpu_, unary_kernels.get(gpu_, static_cast<size_t>(op) * kDTypes + index_of(x.dtype)),
                  dense.data(), x.dtype, out, arguments,
                  unary_packs(kUnaryCostly[static_cast<size_t>(op)], bytes_of(x.dtype)));
}

namespace {

// Whether strided operands may go by packs: kBySingles of kernels/binary.h.
bool in_packs(BinaryOp op, DType dtype) {
  return op != BinaryOp::Pow && !(op == BinaryOp::Div && !dtype_is_float(dtype));
}

const void* place_of(const Argument& x, int64_t offset, DType dtype) {
  return x.is_scalar() ? nullptr : at(x.operand.data(), offset, dtype);
}

const Layout* layout_of(const Argument& x, const Target& out) {
  return x.is_scalar() ? out.layout : x.operand.layout;
}
Nest<3> nest_by(const Argument& x, const Argument& other, const Target& out) {
  return Nest<3>({layout_of(x, out), layout_of(other, out), out.layout});
}

// The operation whose entries begin at `entry`, where one operand lies across the result; `second`: b does.
// The nest is of that operand, the other one and the result.
void launch_turned(Gpu& gpu, size_t entry, const Nest<3>& nest, const Turn& turn, const Argument& a,
                   const Argument& b, bool second, const Target& out) {
  const int64_t side = transpose_tile(bytes_of(out.dtype));
  const TurnedTile tile{side, side};
  const Kernel& kernel = binary_kernels.get(gpu, entry + 2);
  BinaryTurnedArgs arguments{numbers_of(a, b, out.dtype), {}, second};
  for_each_turned(nest, turn, tile, [&](const Nest<3>& part, const std::array<int64_t, 3>& offset) {
    BinaryArgs& dense = arguments.dense;
    dense.a = place_of(a, offset[second ? 1 : 0], out.dtype);
    dense.b = place_of(b, offset[second ? 0 : 1], out.dtype);
    dense.y = at(out.data(), offset[2], out.dtype);
    dense.first = offset[2];
    dense.report = reporter(gpu, kernel);
    const auto rows = static_cast<size_t>(turn.rows), columns = static_cast<size_t>(turn.columns);
    TurnedArgs& turned = arguments.turned;
    turned.rows = static_cast<uint32_t>(part.dims[rows]);
    turned.columns = static_cast<uint32_t>(part.dims[columns]);
    turned.row_tiles = divisor_of(blocks_for(part.dims[rows], side));
    turned.column_tiles = divisor_of(blocks_for(part.dims[columns], side));
    for (size_t k = 0; k < 3; ++k) turned.rows_stride[k] = part.strides[k][rows];
    for (size_t k = 0; k < 2; ++k) turned.columns_stride[k] = part.strides[k][columns];
    turned.batch = batch_of(part, turn);
    gpu.launch(kernel, {{static_cast<uint32_t>(tiles_of(part, turn, tile)), 1, 1}, kTileThreads, 0},
               arguments);
  });
}

// An operation of two operands, neither of which lies across the result: `table` has its dense kernel at
// `entry` and the strided one behind that.
void map_two(Gpu& gpu, KernelTable& table, size_t entry, bool by_packs, const Argument& a, const Argument& b,
             const Target& out) {
  const DType dtype = dtype_of(a, b);
  const int bytes = bytes_of(dtype), pack = packed_elements(bytes);
  const Nest<2> nest({layout_of(a, out), layout_of(b, out)});
  BinaryStridedArgs arguments{numbers_of(a, b, dtype), {}};
  for_each_part(nest, [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t first) {
    BinaryArgs& dense = arguments.dense;
    dense.a = place_of(a, offset[0], dtype);
    dense.b = place_of(b, offset[1], dtype);
    dense.y = at(out.data(), first, out.dtype);
    dense.count = static_cast<uint32_t>(part.count);
    dense.first = first;
    dense.report = reporter(gpu, table.get(gpu, entry));
    arguments.walk.packed = 0;
    const bool aligned = begins_at(dense.a, 16) && begins_at(dense.b, 16) && begins_at(dense.y, 16);
    if (by_packs && !(part.dense(0) && part.dense(1)) && pack_walk(part, pack, aligned, &arguments.walk)) {
      dense.count = static_cast<uint32_t>(part.count / pack);
      const int64_t in_block = int64_t{kMapThreads} * kPackedPacks;
      gpu.launch(table.get(gpu, entry + 1), {{blocks_for(part.count / pack, in_block), 1, 1}, kMapThreads, 0},
                 arguments);
      return;
    }
    launch_part(gpu, table, entry, part, arguments, dense_shape(part.count, {bytes}, bytes_of(out.dtype)));
  });
}

// Whether an element stands in several places along an axis.
bool repeats(const Layout& layout) {
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (layout.stride(axis) == 0 && layout.shape()[axis] > 1) return true;
  return false;
}

}  // namespace

void GpuBackend::binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) {
  const DType dtype = out.dtype;
  const size_t entry = (static_cast<size_t>(op) * kDTypes + index_of(dtype)) * 3;
  const Nest<2> nest({layout_of(a, out), layout_of(b, out)});
  if (!(nest.dense(0) && nest.dense(1))) {
    const Nest<3> by_a = nest_by(a, b, out), by_b = nest_by(b, a, out);
    const Turn turn_a = a.is_scalar() ? Turn{} : turn_of(by_a, 2, 0);
    const Turn turn_b = b.is_scalar() ? Turn{} : turn_of(by_b, 2, 0);
    if (turn_a.rows >= 0 && turn_b.rows >= 0)  // one tile at a time is turned
      return binary(op, {dense_or_copy(*this, a.operand).operand(), 0}, b, out);
    if (turn_a.rows >= 0) return launch_turned(gpu_, entry, by_a, turn_a, a, b, false, out);
    if (turn_b.rows >= 0) return launch_turned(gpu_, entry, by_b, turn_b, a, b, true, out);
  }
  map_two(gpu_, binary_kernels, entry, in_packs(op, dtype), a, b, out);
}

void GpuBackend::compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) {
  const DType dtype = dtype_of(a, b);
  // What lies across the result is turned first, unless it repeats: then it is small and stays in caches.
  const auto straight = [&](const Argument& x, const Argument& other) {
    const bool lies_across =
        !x.is_scalar() && !repeats(*x.operand.layout) && turn_of(nest_by(x, other, out), 2, 0).rows >= 0;
    return lies_across ? dense_or_copy(*this, x.operand) : OperandCopy(x.operand);
  };
  const OperandCopy first = straight(a, b), second = straight(b, a);
  map_two(gpu_, compare_kernels, (static_cast<size_t>(op) * kDTypes + index_of(dtype)) * 2, true,
          {first.operand(), a.scalar}, {second.operand(), b.scalar}, out);
}

void GpuBackend::where(const Operand& condition, const Operand& on_true, const Operand& on_false,
                       const Target& out) {
  const Nest<3> nest({condition.layout, on_true.layout, on_false.layout});
  const size_t entry = (size_index(condition.dtype) * 4 + size_index(out.dtype)) * 2;
  const int bytes = bytes_of(condition.dtype), out_bytes = bytes_of(out.dtype);
  WhereStridedArgs arguments{};
  for_each_part(nest, [&](const Nest<3>& part, const std::array<int64_t, 3>& offset, int64_t first) {
    arguments.dense.condition = at(condition.data(), offset[0], condition.dtype);
    arguments.dense.on_true = at(on_true.data(), offset[1], on_true.dtype);
    arguments.dense.on_false = at(on_false.data(), offset[2], on_false.dtype);
    arguments.dense.y = at(out.data(), first, out.dtype);
    arguments.dense.count = static_cast<uint32_t>(part.count);
    launch_part(gpu_, where_kernels, entry, part, arguments, dense_shape(part.count, {bytes}, out_bytes));
  });
}

}  // namespace beeswax::gpu
