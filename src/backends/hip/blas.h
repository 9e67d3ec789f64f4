// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/blas/blas.h"

namespace beeswax::hip {

/// hipBLASLt, then rocBLAS: the files that BEESWAX_HIPBLASLT_LIBRARY and BEESWAX_ROCBLAS_LIBRARY name, or the
/// system's.
std::span<const gpu::blas::Library* const> rocm_blas_libraries();
/// For the software AMD GPU, which AMD's own libraries do not know: only what the variables name.
std::span<const gpu::blas::Library* const> emu_blas_libraries();

}  // namespace beeswax::hip
