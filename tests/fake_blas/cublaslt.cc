// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcublasLt. Numbers are those of NVIDIA's documentation of cuBLAS
// (docs.nvidia.com/cuda/cublas, "cuBLASLt Datatypes Reference") and its headers.
#include <cstdint>
#include <cstdlib>
#include <map>

#define FAKE_LT(name) cublasLt##name

namespace {

struct Numbers {
  // cublasStatus_t
  static constexpr int not_initialized = 1, invalid_value = 7, execution_failed = 13, not_supported = 15;
  // cublasOperation_t
  static constexpr int plain = 0, turned = 1;
  // cublasComputeType_t
  static constexpr int compute_32f = 68, compute_64f = 70;
  // cublasLtMatmulDescAttributes_t, int32_t both
  static constexpr int turn_a = 3, turn_b = 4;
  // cublasLtMatrixLayoutAttribute_t: int32_t, int64_t
  static constexpr int batch = 5, batch_stride = 6;
  // cublasLtMatmulPreferenceAttributes_t: uint64_t, uint32_t, uint32_t for each of a, b, c, d
  static constexpr int most_workspace = 1, reductions = 3, first_alignment = 5, last_alignment = 8;
  static constexpr uintptr_t workspace_alignment = 256;

  static size_t product_bytes(int attribute) { return attribute == turn_a || attribute == turn_b ? 4 : 0; }
  static size_t layout_bytes(int attribute) {
    return attribute == batch ? 4 : attribute == batch_stride ? 8 : 0;
  }
  static size_t wish_bytes(int attribute) {
    if (attribute == most_workspace) return 8;
    return attribute == reductions || (attribute >= first_alignment && attribute <= last_alignment) ? 4 : 0;
  }
  // cublasLtReductionScheme_t: parts in the type of sums (2), not in place (1) or in the type of results (4).
  static bool repeats(const std::map<int, int64_t>& wishes) {
    const auto found = wishes.find(reductions);
    return found != wishes.end() && found->second == 2;
  }
  // The strictest algorithm that the told alignments allow: as the least of them.
  static uint16_t alignment(const std::map<int, int64_t>& wishes) {
    int64_t least = 256;
    for (int attribute = first_alignment; attribute <= last_alignment; ++attribute) {
      const auto found = wishes.find(attribute);
      if (found != wishes.end() && found->second < least) least = found->second;
    }
    return static_cast<uint16_t>(least);
  }
};

// cublasLtMatmulAlgo_t
struct Algorithm {
  uint64_t data[8];
};

}  // namespace

#include "fake_blas/lt.h"

static_assert(sizeof(Result) == 96);  // cublasLtMatmulHeuristicResult_t

BW_FAKE_EXPORT size_t cublasLtGetVersion() { return 120905; }
BW_FAKE_EXPORT const char* cublasLtGetStatusName(int status) {
  switch (status) {
    case 1:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 7:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case 13:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 14:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case 15:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "an unknown status";
  }
}
