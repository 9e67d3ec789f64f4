// SPDX-License-Identifier: Apache-2.0
// cuBLASLt and hipBLASLt, which are alike but for names and numbers: the vendors' folders fill these tables.
#pragma once

#include "backends/gpu/blas/blas.h"

namespace beeswax::gpu::blas {

/// The functions, and what each is called for messages.
struct LtApi {
#define BW_LT(name, cublaslt, hipblaslt, parameters) \
  int(*name) parameters = nullptr;                   \
  const char* name##_name = "";
#include "backends/gpu/blas/lt_api.def"
  /// The vendor's words for a status.
  std::string (*words)(const LtApi& api, int status) = nullptr;
  const char* (*status_name)(int) = nullptr;  ///< where the library has one
};

constexpr int kNoAttribute = -1;

/// Numbers of the vendor's enumerations. Types of elements have the same in both.
struct LtNumbers {
  int plain, turned;               ///< operations
  int compute_f32, compute_f64;    ///< types of sums
  int turn_a, turn_b;              ///< attributes of a product
  int batch, batch_stride;         ///< attributes of a layout
  int most_workspace, reductions;  ///< attributes of a wish
  int a_alignment, b_alignment, c_alignment, d_alignment;
  size_t algorithm_bytes;  ///< that a result of a search begins with; a size and a status follow
  int not_supported;       ///< a status
};

std::unique_ptr<Handle> start_lt(const LtApi& api, const LtNumbers& numbers);

}  // namespace beeswax::gpu::blas
