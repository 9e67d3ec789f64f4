// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::softmax(const Operand&, uint32_t, bool, const Target&) { fail(ErrorKind::Unsupported, "softmax", "not on the CPU yet"); }
void CpuBackend::norm(NormKind, const Operand&, const Operand&, const Operand&, double, const Target&) { fail(ErrorKind::Unsupported, "norm", "not on the CPU yet"); }
void CpuBackend::cumsum(const Operand&, int, const Target&) { fail(ErrorKind::Unsupported, "cumsum", "not on the CPU yet"); }

}  // namespace beeswax::cpu
