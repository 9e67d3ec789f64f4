// SPDX-License-Identifier: Apache-2.0
// Operations that have no GPU kernel yet: each says so.
#include "backends/gpu/backend.h"
#include "core/fail.h"

namespace beeswax::gpu {
namespace {
[[noreturn]] void missing(std::string_view operation) {
  fail(ErrorKind::Unsupported, operation, "has no GPU kernel yet; move the tensors to the CPU");
}
}  // namespace

void GpuBackend::random(const Target&, Distribution, double, double, uint64_t, uint64_t) {
  missing("random");
}
void GpuBackend::reduce(ReduceOp, const Operand&, uint32_t, const Target&) { missing("reduce"); }
void GpuBackend::arg_reduce(ArgReduceOp, const Operand&, uint32_t, const Target&) { missing("arg_reduce"); }
void GpuBackend::softmax(const Operand&, int, bool, const Target&) { missing("softmax"); }
void GpuBackend::norm(NormKind, const Operand&, const Operand&, const Operand&, double, const Target&) {
  missing("norm");
}
void GpuBackend::cumsum(const Operand&, int, const Target&) { missing("cumsum"); }
void GpuBackend::quantize(QuantType, const Operand&, std::span<const float>, Storage&) {
  missing("quantize");
}
void GpuBackend::dequantize(QuantType, const Storage&, const Target&) { missing("dequantize"); }
void GpuBackend::quantized_matmul(QuantType, const Operand&, const Storage&, const Target&) {
  missing("quantized_matmul");
}

}  // namespace beeswax::gpu
