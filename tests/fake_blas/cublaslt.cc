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
  static constexpr int kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15;
  // cublasOperation_t
  static constexpr int kPlain = 0, kTurned = 1;
  // cublasComputeType_t
  static constexpr int kCompute32f = 68, kCompute64f = 70;
  // cublasLtMatmulDescAttributes_t, int32_t both
  static constexpr int kTurnA = 3, kTurnB = 4;
  // cublasLtMatrixLayoutAttribute_t: int32_t, int64_t
  static constexpr int kBatch = 5, kBatchStride = 6;
  // cublasLtMatmulPreferenceAttributes_t: uint64_t, uint32_t, uint32_t for each of a, b, c, d
  static constexpr int kMostWorkspace = 1, kReductions = 3, kFirstAlignment = 5, kLastAlignment = 8;
  static constexpr uintptr_t kWorkspaceAlignment = 256;

  static size_t product_bytes(int attribute) { return attribute == kTurnA || attribute == kTurnB ? 4 : 0; }
  static size_t layout_bytes(int attribute) {
    return attribute == kBatch ? 4 : attribute == kBatchStride ? 8 : 0;
  }
  static size_t wish_bytes(int attribute) {
    if (attribute == kMostWorkspace) return 8;
    return attribute == kReductions || (attribute >= kFirstAlignment && attribute <= kLastAlignment) ? 4 : 0;
  }
  // cublasLtReductionScheme_t: parts in the type of sums (2), not in place (1) or in the type of results (4).
  static bool repeats(const std::map<int, int64_t>& wishes) {
    const auto found = wishes.find(kReductions);
    return found != wishes.end() && found->second == 2;
  }
  // The strictest algorithm that the told alignments allow: as the least of them.
  static uint16_t alignment(const std::map<int, int64_t>& wishes) {
    int64_t least = 256;
    for (int attribute = kFirstAlignment; attribute <= kLastAlignment; ++attribute) {
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
