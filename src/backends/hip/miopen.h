// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/dnn/library.h"

namespace beeswax::hip {

/// AMD's MIOpen: BEESWAX_MIOPEN_LIBRARY, or the system's.
const gpu::dnn::LibraryState& miopen();
/// The software GPU runs what BEESWAX_MIOPEN_LIBRARY names: the system's MIOpen belongs to AMD's driver.
const gpu::dnn::LibraryState& miopen_on_emu();

}  // namespace beeswax::hip
