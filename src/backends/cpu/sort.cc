// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::sort(const Operand&, bool, const Target&, const Target&) { fail(ErrorKind::Unsupported, "sort", "not on the CPU yet"); }

}  // namespace beeswax::cpu
