// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/blas.h"

namespace beeswax::cuda {

std::span<const gpu::blas::Library* const> blas_libraries() { return {}; }

}  // namespace beeswax::cuda
