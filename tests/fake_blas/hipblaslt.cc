// SPDX-License-Identifier: Apache-2.0
// A stand-in for libhipblaslt. Numbers are those of AMD's documentation: hipblasStatus_t, hipblasOperation_t
// and hipblasComputeType_t of hipFORT's module hipfort_hipblas_enums, hipDataType of HIP's library_types.h,
// and the attributes of hipBLASLt's "data type support" and hipblaslt.h
// (rocm.docs.amd.com/projects/hipBLASLt).
#include <cstdint>
#include <cstdlib>
#include <map>

#define FAKE_LT(name) hipblasLt##name

namespace {

struct Numbers {
  // hipblasStatus_t
  static constexpr int kNotInitialized = 1, kInvalidValue = 3, kExecutionFailed = 5, kNotSupported = 7;
  // hipblasOperation_t
  static constexpr int kPlain = 111, kTurned = 112;
  // hipblasComputeType_t
  static constexpr int kCompute32f = 2, kCompute64f = 7;
  // hipblasLtMatmulDescAttributes_t, int32_t both
  static constexpr int kTurnA = 0, kTurnB = 1;
  // hipblasLtMatrixLayoutAttribute_t: int32_t, int64_t
  static constexpr int kBatch = 0, kBatchStride = 1;
  // hipblasLtMatmulPreferenceAttributes_t: uint64_t
  static constexpr int kMostWorkspace = 1;
  static constexpr uintptr_t kWorkspaceAlignment = 16;

  static size_t product_bytes(int attribute) { return attribute == kTurnA || attribute == kTurnB ? 4 : 0; }
  static size_t layout_bytes(int attribute) {
    return attribute == kBatch ? 4 : attribute == kBatchStride ? 8 : 0;
  }
  static size_t wish_bytes(int attribute) { return attribute == kMostWorkspace ? 8 : 0; }
  static bool repeats(const std::map<int, int64_t>&) { return true; }
  static uint16_t alignment(const std::map<int, int64_t>&) { return 0; }
};

// hipblasLtMatmulAlgo_t: 16 opaque bytes and the size of its workspace
struct Algorithm {
  uint8_t data[16];
  size_t most_workspace_bytes;
};

}  // namespace

#include "fake_blas/lt.h"

static_assert(sizeof(Result) == 56);  // hipblasLtMatmulHeuristicResult_t

// HIPBLASLT_VERSION_MAJOR * 100000 + _MINOR * 100 + _PATCH
BW_FAKE_EXPORT int hipblasLtGetVersion(void* handle, int* version) {
  return call(__func__, [&](Blas& blas) -> int {
    if (!blas.is_alive(handle)) return blas.refuse(Numbers::kNotInitialized, "no handle");
    if (version == nullptr) return blas.refuse(Numbers::kInvalidValue, "no place for the version");
    *version = blas.control.version != 0 ? blas.control.version : 100000;
    return 0;
  });
}
