// SPDX-License-Identifier: Apache-2.0
// Elementwise operations over the chunked walk of chunks.h.
#include <atomic>

#include "backends/cpu/backend.h"
#include "backends/cpu/chunks.h"
#include "backends/cpu/kernels/binary.h"
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/storage_dtypes.h"
#include "core/fail.h"

namespace beeswax::cpu {
namespace {

UnaryLoop unary_loop(UnaryOp op, DType dtype) {
  const auto row = static_cast<size_t>(op);
  const DType compute = compute_dtype(dtype);
  if (compute == DType::F64) return unary_double_kernels().f64[row];
  if (compute != DType::F32) return unary_int_kernels().loops[compute_index(compute)][row];
  return dtype == DType::F32 ? unary_float_kernels().f32[row] : unary_float_kernels().half[row];
}

constexpr std::string_view kBinaryNames[] = {
#define BW_BINARY(Name, method, ...) #method,
#include "tables/binary.def"
};

// The place of the first zero divisor, for the message.
[[noreturn]] void report_zero_divisor(std::string_view name, const Argument& b) {
  if (b.is_scalar()) fail(ErrorKind::DivisionByZero, name, "integer division by the number 0");
  const Layout& layout = *b.operand.layout;
  const Nest<1> nest({&layout});
  const size_t bytes = dtype_bytes(b.operand.dtype, 1);
  NestPosition<1> position(nest, 0);
  const std::array<std::byte, 8> zero{};
  int64_t at = 0;
  for (; at < nest.count; ++at, position.advance(1))
    if (std::memcmp(b.operand.data() + position.offset(0) * static_cast<int64_t>(bytes), zero.data(),
                    bytes) == 0)
      break;
  fail(ErrorKind::DivisionByZero, name, "integer division by zero at element ", at, " of the divisor ",
       layout.shape(), " ", dtype_name(b.operand.dtype));
}

}  // namespace

void CpuBackend::cast(const Operand& x, const Target& out) {
  if (dtype_is_storage(x.dtype) || dtype_is_storage(out.dtype)) return cast_storage(x, out);
  const Argument from{x, 0};
  const CastLoop loop = conversion(x.dtype, out.dtype);
  run_chunks<1>({&from}, {x.dtype}, out, out.dtype,
                [&](const auto& in, void* y, int64_t count) { loop(in[0], y, count); });
}

void CpuBackend::affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) {
  const DType compute = compute_dtype(x.dtype);
  const AffineLoop loop = compare_kernels().affine[compute_index(compute)];
  // For narrow floats the numbers stay in f32: one rounding, at the end.
  const ScalarBytes factor(mul, compute);
  const ScalarBytes summand(add, compute);
  const Argument from{x, 0};
  run_chunks<1>({&from}, {compute}, out, compute, [&](const auto& in, void* y, int64_t count) {
    loop(in[0], y, count, factor.data(), summand.data());
  });
}

void CpuBackend::unary(UnaryOp op, const Operand& x, double param, const Target& out) {
  const DType compute = compute_dtype(x.dtype);
  const UnaryLoop loop = unary_loop(op, x.dtype);
  const Argument from{x, 0};
  run_chunks<1>({&from}, {compute}, out, compute,
                [&](const auto& in, void* y, int64_t count) { loop(in[0], y, count, param); });
}

void CpuBackend::binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) {
  const DType compute = compute_dtype(out.dtype);
  const BinaryLoop loop = binary_kernels().loops[compute_index(compute)][static_cast<size_t>(op)];
  std::atomic<int64_t> broken{0};
  run_chunks<2>({&a, &b}, {compute, compute}, out, compute, [&](const auto& in, void* y, int64_t count) {
    if (const int64_t n = loop(in[0], in[1], y, count); n != 0)
      broken.fetch_add(n, std::memory_order_relaxed);
  });
  if (broken.load() != 0) report_zero_divisor(kBinaryNames[static_cast<size_t>(op)], b);
}

void CpuBackend::compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) {
  const DType compute = compute_dtype(a.operand.dtype);
  const CompareLoop loop = compare_kernels().loops[compute_index(compute)][static_cast<size_t>(op)];
  run_chunks<2>({&a, &b}, {compute, compute}, out, DType::U8, [&](const auto& in, void* y, int64_t count) {
    loop(in[0], in[1], static_cast<uint8_t*>(y), count);
  });
}

void CpuBackend::where(const Operand& condition, const Operand& on_true, const Operand& on_false,
                       const Target& out) {
  const Argument c{condition, 0};
  const Argument t{on_true, 0};
  const Argument f{on_false, 0};
  const auto mask_loop = compare_kernels().mask[size_class(dtype_bytes(condition.dtype, 1))];
  const auto select = compare_kernels().select[size_class(dtype_bytes(out.dtype, 1))];
  run_chunks<3>({&c, &t, &f}, {condition.dtype, out.dtype, out.dtype}, out, out.dtype,
                [&](const auto& in, void* y, int64_t count) {
                  alignas(64) uint8_t mask[1024];
                  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
                  const auto wide = static_cast<int64_t>(dtype_bytes(condition.dtype, 1));
                  for (int64_t at = 0; at < count; at += 1024) {
                    const int64_t run = std::min<int64_t>(1024, count - at);
                    mask_loop(static_cast<const std::byte*>(in[0]) + at * wide, mask, run);
                    select(mask, static_cast<const std::byte*>(in[1]) + at * bytes,
                           static_cast<const std::byte*>(in[2]) + at * bytes,
                           static_cast<std::byte*>(y) + at * bytes, run);
                  }
                });
}

}  // namespace beeswax::cpu
