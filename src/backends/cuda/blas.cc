// SPDX-License-Identifier: Apache-2.0
// cuBLASLt behind gpu::blas::Library, nothing else. Numbers of its enumerations are those of cublasLt.h and
// cublas_api.h, the same from CUDA 11 to 13.
#include "backends/cuda/blas.h"

#include <array>

#include "backends/gpu/api_load.h"
#include "backends/gpu/blas/lt.h"
#include "core/fail.h"

namespace beeswax::cuda {
namespace {

using gpu::Need;
using gpu::blas::LtApi;

constexpr gpu::blas::LtNumbers kNumbers = {
    .plain = 0,         // CUBLAS_OP_N
    .turned = 1,        // _T
    .compute_f32 = 68,  // CUBLAS_COMPUTE_32F: no tf32
    .compute_f64 = 70,
    .turn_a = 3,  // CUBLASLT_MATMUL_DESC_TRANSA
    .turn_b = 4,
    .batch = 5,           // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
    .batch_stride = 6,    // _STRIDED_BATCH_OFFSET
    .most_workspace = 1,  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
    .reductions = 3,      // _REDUCTION_SCHEME_MASK
    .a_alignment = 5,     // _MIN_ALIGNMENT_A_BYTES
    .b_alignment = 6,
    .c_alignment = 7,
    .d_alignment = 8,
    .algorithm_bytes = 64,
    .not_supported = 15,  // CUBLAS_STATUS_NOT_SUPPORTED
};

std::string words(const LtApi& api, int status) {
  const char* name = api.status_name == nullptr ? nullptr : api.status_name(status);
  return join_text(name == nullptr ? "cuBLAS status" : name, " (", status, ")");
}

class Cublaslt final : public gpu::blas::Library {
 public:
  Cublaslt()
      : library_({"cuBLASLt",
                  "BEESWAX_CUBLASLT_LIBRARY",
                  {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so",
                   "/usr/local/cuda/lib64/libcublasLt.so"},
                  "install NVIDIA's cuBLAS (of the CUDA toolkit, or pip's nvidia-cublas)"}) {
    api_.words = &words;
    library_.load([this](gpu::Symbols& symbols) {
#define BW_LT(name, cublaslt, hipblaslt, parameters)  \
  symbols.find(api_.name, #cublaslt, Need::Required); \
  api_.name##_name = #cublaslt;
#include "backends/gpu/blas/lt_api.def"
      symbols.find(api_.status_name, "cublasLtGetStatusName", Need::Optional);
      symbols.find(version_, "cublasLtGetVersion", Need::Optional);
    });
  }
  std::string_view product() const override { return "cuBLASLt"; }
  std::string reason() const override { return library_.reason(); }
  std::string title() const override {
    if (version_ == nullptr) return std::string(product());
    const size_t version = version_();  // 120905 is 12.9.5
    return join_text(product(), " ", version / 10000, ".", version / 100 % 100, ".", version % 100);
  }
  const char* function() const override { return api_.multiply_name; }
  std::unique_ptr<gpu::blas::Handle> start() const override { return gpu::blas::start_lt(api_, kNumbers); }

 private:
  gpu::OptionalLibrary library_;
  LtApi api_;
  size_t (*version_)() = nullptr;
};

}  // namespace

std::span<const gpu::blas::Library* const> blas_libraries() {
  static const Cublaslt library;
  static const std::array<const gpu::blas::Library*, 1> libraries = {&library};
  return libraries;
}

}  // namespace beeswax::cuda
