// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::quantize(QuantType, const Operand&, std::span<const float>, Storage&) { fail(ErrorKind::Unsupported, "quantize", "not on the CPU yet"); }
void CpuBackend::dequantize(QuantType, const Storage&, const Target&) { fail(ErrorKind::Unsupported, "dequantize", "not on the CPU yet"); }
void CpuBackend::quantized_matmul(QuantType, const Operand&, const Storage&, const Target&) { fail(ErrorKind::Unsupported, "quantized_matmul", "not on the CPU yet"); }

}  // namespace beeswax::cpu
