// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/blas/blas.h"

namespace beeswax::cuda {

/// cuBLASLt: BEESWAX_CUBLASLT_LIBRARY, or the system's.
std::span<const gpu::blas::Library* const> blas_libraries();

}  // namespace beeswax::cuda
