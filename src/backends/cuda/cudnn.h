// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/dnn/library.h"

namespace beeswax::cuda {

/// NVIDIA's cuDNN, release 8 or 9: BEESWAX_CUDNN_LIBRARY, or the system's.
const gpu::dnn::LibraryState& cudnn();

}  // namespace beeswax::cuda
