// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::cast(const Operand&, const Target&) { fail(ErrorKind::Unsupported, "cast", "not on the CPU yet"); }
void CpuBackend::affine(const Operand&, const Scalar&, const Scalar&, const Target&) { fail(ErrorKind::Unsupported, "affine", "not on the CPU yet"); }
void CpuBackend::unary(UnaryOp, const Operand&, double, const Target&) { fail(ErrorKind::Unsupported, "unary", "not on the CPU yet"); }
void CpuBackend::binary(BinaryOp, const Argument&, const Argument&, const Target&) { fail(ErrorKind::Unsupported, "binary", "not on the CPU yet"); }
void CpuBackend::compare(CompareOp, const Argument&, const Argument&, const Target&) { fail(ErrorKind::Unsupported, "compare", "not on the CPU yet"); }
void CpuBackend::where(const Operand&, const Operand&, const Operand&, const Target&) { fail(ErrorKind::Unsupported, "where", "not on the CPU yet"); }

}  // namespace beeswax::cpu
