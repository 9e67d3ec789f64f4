// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax::cpu {

void CpuBackend::conv(const ConvShape&, const Operand&, const Operand&, const Target&) { fail(ErrorKind::Unsupported, "conv", "not on the CPU yet"); }
void CpuBackend::conv_transpose(const ConvShape&, const Operand&, const Operand&, const Target&) { fail(ErrorKind::Unsupported, "conv_transpose", "not on the CPU yet"); }

}  // namespace beeswax::cpu
