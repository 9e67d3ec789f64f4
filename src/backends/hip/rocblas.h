// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/blas/blas.h"

namespace beeswax::hip {

/// AMD's rocBLAS: BEESWAX_ROCBLAS_LIBRARY, or the system's.
const gpu::blas::Library& rocblas();
/// The same for the software AMD GPU, which AMD's library does not know: only the file that the variable
/// names.
const gpu::blas::Library& emu_rocblas();

}  // namespace beeswax::hip
