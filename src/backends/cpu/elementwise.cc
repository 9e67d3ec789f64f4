// SPDX-License-Identifier: Apache-2.0
// Elementwise operations over the chunked walk of chunks.h.
#include <atomic>

#include "backends/cpu/backend.h"
#include "backends/cpu/chunks.h"
#include "backends/cpu/gated.h"
#include "backends/cpu/kernels/binary.h"
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/storage_dtypes.h"
#include "core/fail.h"

namespace beeswax::cpu {
namespace {

UnaryLoop unary_loop(UnaryOp op, DType dtype) {
  const auto row = static_cast<size_t>(op);
  switch (dtype) {
    case DType::F32:
      return unary_float_kernels().f32[row];
    case DType::F64:
      return unary_double_kernels().f64[row];
    case DType::F16:
      return unary_f16_kernels().f16[row];
    case DType::BF16:
      return unary_bf16_kernels().bf16[row];
    case DType::F8E4M3:
      return unary_f8_kernels().f8e4m3[row];
    default:
      return unary_int_kernels().loops[compute_index(dtype)][row];
  }
}

constexpr std::string_view kBinaryNames[] = {
#define BW_BINARY(Name, method, ...) #method,
#include "tables/binary.def"
};

// The divisor without the axes along which it is repeated: its own elements.
Layout unrepeated(Layout layout) {
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (layout.stride(axis) == 0) layout = layout.narrow(axis, 0, 1);
  while (layout.rank() > 0 && layout.stride(0) == 0) layout = layout.squeeze(0);
  return layout;
}

// The place of the first zero divisor, for the message.
[[noreturn]] void report_zero_divisor(std::string_view name, const Argument& a, const Argument& b) {
  if (b.is_scalar())
    fail(ErrorKind::DivisionByZero, name, "integer division of ", a.operand.layout->shape(), " ",
         dtype_name(a.operand.dtype), " by the number 0");
  const Layout layout = unrepeated(*b.operand.layout);
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
  run_chunks<1>({&from}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    loop(in[0], y, count, past_caches);
  });
}

void CpuBackend::affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) {
  const AffineLoop loop = compare_kernels().affine[static_cast<size_t>(x.dtype)];
  // For narrow floats the numbers stay in f32: one rounding, at the end.
  const ScalarBytes factor(mul, compute_dtype(x.dtype));
  const ScalarBytes summand(add, compute_dtype(x.dtype));
  const Argument from{x, 0};
  run_chunks<1>({&from}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    loop(in[0], y, count, factor.data(), summand.data(), past_caches);
  });
}

void CpuBackend::unary(UnaryOp op, const Operand& x, double param, const Target& out) {
  const UnaryLoop loop = unary_loop(op, x.dtype);
  const Argument from{x, 0};
  run_chunks<1>({&from}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    loop(in[0], y, count, param, past_caches);
  });
}

void CpuBackend::binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) {
  const BinaryLoop loop = binary_kernels().loops[static_cast<size_t>(out.dtype)][static_cast<size_t>(op)];
  std::atomic<int64_t> broken{0};
  run_chunks<2>({&a, &b}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    if (const int64_t n = loop(in[0], in[1], y, count, past_caches); n != 0)
      broken.fetch_add(n, std::memory_order_relaxed);
  });
  if (broken.load() != 0) report_zero_divisor(kBinaryNames[static_cast<size_t>(op)], a, b);
}

Gated::Gated(UnaryOp op, DType dtype)
    : first_(unary_loop(op, dtype)),
      second_(binary_kernels().loops[static_cast<size_t>(dtype)][static_cast<size_t>(BinaryOp::Mul)]),
      element_bytes_(static_cast<int64_t>(dtype_bytes(dtype, 1))) {}

void Gated::operator()(const void* x, const void* factor, void* y, int64_t count, bool past_caches) const {
  alignas(64) std::byte gate[8192];
  const int64_t most = static_cast<int64_t>(sizeof gate) / element_bytes_;
  for (int64_t i = 0; i < count; i += most) {
    const int64_t now = std::min(most, count - i), at = i * element_bytes_;
    first_(static_cast<const std::byte*>(x) + at, gate, now, 0, false);
    second_(gate, static_cast<const std::byte*>(factor) + at, static_cast<std::byte*>(y) + at, now,
            past_caches);
  }
}

bool CpuBackend::gated(UnaryOp op, const Operand& x, const Operand& factor, const Target& out) {
  const Gated loop(op, out.dtype);
  const Argument a{x, 0}, b{factor, 0};
  run_chunks<2>({&a, &b}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    loop(in[0], in[1], y, count, past_caches);
  });
  return true;
}

void CpuBackend::compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) {
  const CompareLoop loop =
      compare_kernels().loops[static_cast<size_t>(a.operand.dtype)][static_cast<size_t>(op)];
  run_chunks<2>({&a, &b}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    loop(in[0], in[1], static_cast<uint8_t*>(y), count, past_caches);
  });
}

void CpuBackend::where(const Operand& condition, const Operand& on_true, const Operand& on_false,
                       const Target& out) {
  const Argument c{condition, 0};
  const Argument t{on_true, 0};
  const Argument f{on_false, 0};
  const WhereLoop loop =
      compare_kernels()
          .where[size_class(dtype_bytes(condition.dtype, 1))][size_class(dtype_bytes(out.dtype, 1))];
  run_chunks<3>({&c, &t, &f}, out, [&](const auto& in, void* y, int64_t count, bool past_caches) {
    loop(in[0], in[1], in[2], y, count, past_caches);
  });
}

}  // namespace beeswax::cpu
