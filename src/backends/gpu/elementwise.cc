// SPDX-License-Identifier: Apache-2.0
// Affine, unary, binary, compare, where and cast: each is one launch of its dense or its strided kernel.
#include "backends/gpu/launch.h"

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

// Entries of a table come in pairs: the dense kernel and the strided one.
std::string_view suffix(size_t index) { return index % 2 == 0 ? "" : "_strided"; }
bool is_float(size_t dtype) { return dtype_is_float(static_cast<DType>(dtype)); }

KernelTable unary_kernels(std::size(kUnary) * kDTypes * 2, [](size_t i) -> KernelTable::Name {
  const size_t dtype = i / 2 % kDTypes, op = i / 2 / kDTypes;
  if (!kForNumbers[op] && !is_float(dtype)) return {"", ""};
  return {join_text("unary_", kUnary[op], "_", name_of(dtype), suffix(i)), kUnary[op]};
});
KernelTable binary_kernels(std::size(kBinary) * kDTypes * 2, [](size_t i) -> KernelTable::Name {
  const size_t dtype = i / 2 % kDTypes, op = i / 2 / kDTypes;
  if (!kBinaryForNumbers[op] && !is_float(dtype)) return {"", ""};
  return {join_text("binary_", kBinary[op], "_", name_of(dtype), suffix(i)), kBinary[op]};
});
KernelTable compare_kernels(std::size(kCompare) * kDTypes * 2, [](size_t i) -> KernelTable::Name {
  const size_t dtype = i / 2 % kDTypes, op = i / 2 / kDTypes;
  return {join_text("compare_", kCompare[op], "_", name_of(dtype), suffix(i)), kCompare[op]};
});
KernelTable affine_kernels(kDTypes * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("affine_", name_of(i / 2), suffix(i)), "affine"};
});
KernelTable cast_kernels(kDTypes* kDTypes * 2, [](size_t i) -> KernelTable::Name {
  const size_t to = i / 2 % kDTypes, from = i / 2 / kDTypes;
  if (from == to) return {"", ""};
  return {join_text("cast_", name_of(from), "_", name_of(to), suffix(i)), "to_dtype"};
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

// One input and one dense output.
template <class Strided>
void map_one(Gpu& gpu, KernelTable& table, size_t entry, const Operand& x, const Target& out,
             Strided arguments) {
  const Nest<1> nest({x.layout});
  const int bytes = bytes_of(x.dtype), out_bytes = bytes_of(out.dtype);
  for_each_part(nest, [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
    arguments.dense.x = at(x.data(), offset[0], x.dtype);
    arguments.dense.y = at(out.data(), first, out.dtype);
    arguments.dense.count = static_cast<uint32_t>(part.count);
    launch_part(gpu, table, entry, part, arguments, dense_shape(part.count, {bytes}, out_bytes));
  });
}

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; }

// Two inputs, numbers among them, and one dense output. `packs`: the strided kernels know packs.
void map_two(Gpu& gpu, KernelTable& table, size_t entry, const Argument& a, const Argument& b,
             const Target& out, bool packs) {
  const DType dtype = a.is_scalar() ? b.operand.dtype : a.operand.dtype;
  const auto layout = [&](const Argument& x) { return x.is_scalar() ? out.layout : x.operand.layout; };
  const Nest<2> nest({layout(a), layout(b)});
  BinaryStridedArgs arguments{};
  if (a.is_scalar()) arguments.dense.a_value = bits_of(a.scalar, dtype);
  if (b.is_scalar()) arguments.dense.b_value = bits_of(b.scalar, dtype);
  const int bytes = bytes_of(dtype), out_bytes = bytes_of(out.dtype);
  for_each_part(nest, [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t first) {
    const auto from = [&](const Argument& x, int64_t place) -> const void* {
      return x.is_scalar() ? nullptr : at(x.operand.data(), place, dtype);
    };
    arguments.dense.a = from(a, offset[0]);
    arguments.dense.b = from(b, offset[1]);
    arguments.dense.y = at(out.data(), first, out.dtype);
    arguments.dense.count = static_cast<uint32_t>(part.count);
    arguments.dense.first = first;
    arguments.dense.report = reporter(gpu, table.get(gpu, entry));
    const int pack = packed_elements(bytes);
    const bool aligned =
        is_aligned(arguments.dense.a) && is_aligned(arguments.dense.b) && is_aligned(arguments.dense.y);
    if (packs && !(part.dense(0) && part.dense(1)) && pack_walk(part, pack, aligned, &arguments.walk)) {
      arguments.dense.count = static_cast<uint32_t>(part.count / pack);
      const int64_t in_block = int64_t{kMapThreads} * kPackedPacks;
      gpu.launch(table.get(gpu, entry + 1), {{blocks_for(part.count / pack, in_block), 1, 1}, kMapThreads, 0},
                 arguments);
      return;
    }
    arguments.walk.packed = 0;
    launch_part(gpu, table, entry, part, arguments, dense_shape(part.count, {bytes}, out_bytes));
  });
}

}  // namespace

void GpuBackend::cast(const Operand& x, const Target& out) {
  if (dtype_is_storage(x.dtype) || dtype_is_storage(out.dtype)) return cast_storage(x, out);
  map_one(gpu_, cast_kernels, (index_of(x.dtype) * kDTypes + index_of(out.dtype)) * 2, x, out,
          CastStridedArgs{});
}

void GpuBackend::affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) {
  AffineStridedArgs arguments{};
  // For narrow floats the numbers stay in f32: one rounding, at the end.
  arguments.dense.mul = bits_of(mul, compute_dtype(x.dtype));
  arguments.dense.add = bits_of(add, compute_dtype(x.dtype));
  map_one(gpu_, affine_kernels, index_of(x.dtype) * 2, x, out, arguments);
}

void GpuBackend::unary(UnaryOp op, const Operand& x, double param, const Target& out) {
  UnaryStridedArgs arguments{};
  arguments.dense.param = param;
  map_one(gpu_, unary_kernels, (static_cast<size_t>(op) * kDTypes + index_of(x.dtype)) * 2, x, out,
          arguments);
}

void GpuBackend::binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) {
  map_two(gpu_, binary_kernels, (static_cast<size_t>(op) * kDTypes + index_of(out.dtype)) * 2, a, b, out,
          op != BinaryOp::Pow);
}

void GpuBackend::compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) {
  const DType dtype = a.is_scalar() ? b.operand.dtype : a.operand.dtype;
  map_two(gpu_, compare_kernels, (static_cast<size_t>(op) * kDTypes + index_of(dtype)) * 2, a, b, out, false);
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
