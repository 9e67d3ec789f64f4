// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::matmul(const Operand&, const Operand&, const Target&) { fail(ErrorKind::Unsupported, "matmul", "not on the CPU yet"); }

}  // namespace beeswax::cpu
