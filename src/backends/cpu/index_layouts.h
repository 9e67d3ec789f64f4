// SPDX-License-Identifier: Apache-2.0
// What the files of indexing share.
#pragma once

#include "backends/index_layouts.h"

namespace beeswax::cpu {

/// Sums by ids (index_add.cc); the arguments are those of CpuBackend::scatter.
void scatter_add(const Operand& ids, const Operand& source, int axis, const Target& out);

}  // namespace beeswax::cpu
