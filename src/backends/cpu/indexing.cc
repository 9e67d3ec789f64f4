// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::index_select(const Operand&, const Operand&, int, const Target&) { fail(ErrorKind::Unsupported, "index_select", "not on the CPU yet"); }
void CpuBackend::gather(const Operand&, const Operand&, int, const Target&) { fail(ErrorKind::Unsupported, "gather", "not on the CPU yet"); }
void CpuBackend::scatter(ScatterMode, const Operand&, const Operand&, int, const Target&) { fail(ErrorKind::Unsupported, "scatter", "not on the CPU yet"); }
void CpuBackend::index_add(const Operand&, const Operand&, int, const Target&) { fail(ErrorKind::Unsupported, "index_add", "not on the CPU yet"); }

}  // namespace beeswax::cpu
