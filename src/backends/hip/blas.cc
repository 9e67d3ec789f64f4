// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/blas.h"

#include <array>

#include "backends/hip/hipblaslt.h"
#include "backends/hip/rocblas.h"

namespace beeswax::hip {

std::span<const gpu::blas::Library* const> rocm_blas_libraries() {
  static const std::array<const gpu::blas::Library*, 2> libraries = {&hipblaslt(), &rocblas()};
  return libraries;
}

std::span<const gpu::blas::Library* const> emu_blas_libraries() {
  static const std::array<const gpu::blas::Library*, 2> libraries = {&emu_hipblaslt(), &emu_rocblas()};
  return libraries;
}

}  // namespace beeswax::hip
