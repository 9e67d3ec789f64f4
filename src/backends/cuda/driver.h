// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/driver.h"

namespace beeswax::cuda {

/// NVIDIA's driver: BEESWAX_CUDA_LIBRARY, or the system's libcuda.
const gpu::DriverState& cuda_driver();

}  // namespace beeswax::cuda
