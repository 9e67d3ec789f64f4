// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::pool(const PoolShape&, const Operand&, const Target&) { fail(ErrorKind::Unsupported, "pool", "not on the CPU yet"); }
void CpuBackend::upsample(const UpsampleShape&, const Operand&, const Target&) { fail(ErrorKind::Unsupported, "upsample", "not on the CPU yet"); }

}  // namespace beeswax::cpu
