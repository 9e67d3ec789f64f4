// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::reduce(ReduceOp, const Operand&, uint32_t, const Target&) { fail(ErrorKind::Unsupported, "reduce", "not on the CPU yet"); }
void CpuBackend::arg_reduce(ArgReduceOp, const Operand&, uint32_t, const Target&) { fail(ErrorKind::Unsupported, "arg_reduce", "not on the CPU yet"); }

}  // namespace beeswax::cpu
