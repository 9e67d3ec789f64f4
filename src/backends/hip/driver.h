// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/driver.h"

namespace beeswax::hip {

/// AMD's runtime: BEESWAX_HIP_LIBRARY, or the system's libamdhip64.
const gpu::DriverState& rocm_driver();
/// The software AMD GPU, which stands beside our library.
const gpu::DriverState& emu_driver();

}  // namespace beeswax::hip
