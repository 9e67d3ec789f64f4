// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/blas/blas.h"

namespace beeswax::hip {

/// AMD's hipBLASLt: BEESWAX_HIPBLASLT_LIBRARY, or the system's.
const gpu::blas::Library& hipblaslt();
/// The same for the software AMD GPU, which AMD's library does not know: only the file that the variable
/// names.
const gpu::blas::Library& emu_hipblaslt();

}  // namespace beeswax::hip
