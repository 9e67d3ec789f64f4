// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/blas.h"

#include <array>

#include "backends/hip/rocblas.h"

namespace beeswax::hip {

std::span<const gpu::blas::Library* const> rocm_blas_libraries() {
  static const std::array<const gpu::blas::Library*, 1> libraries = {&rocblas()};
  return libraries;
}

std::span<const gpu::blas::Library* const> emu_blas_libraries() {
  static const std::array<const gpu::blas::Library*, 1> libraries = {&emu_rocblas()};
  return libraries;
}

}  // namespace beeswax::hip
