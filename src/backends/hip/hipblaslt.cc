// SPDX-License-Identifier: Apache-2.0
// hipBLASLt behind gpu::blas::Library, nothing else. Numbers of its enumerations are those of hipblaslt.h,
// hipblas-common.h and library_types.h since ROCm 6.3 (hipBLASLt 0.10): earlier releases had others.
#include "backends/hip/hipblaslt.h"

#include "backends/gpu/api_load.h"
#include "backends/gpu/blas/lt.h"
#include "backends/hip/runtime.h"
#include "core/fail.h"

namespace beeswax::hip {
namespace {

using gpu::Need;
using gpu::blas::LtApi;

constexpr gpu::blas::LtNumbers kNumbers = {
    .plain = 111,      // HIPBLAS_OP_N
    .turned = 112,     // _T
    .compute_f32 = 2,  // HIPBLAS_COMPUTE_32F
    .compute_f64 = 7,
    .turn_a = 0,  // HIPBLASLT_MATMUL_DESC_TRANSA
    .turn_b = 1,
    .batch = 0,           // HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT
    .batch_stride = 1,    // _STRIDED_BATCH_OFFSET
    .most_workspace = 1,  // HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
    .reductions = gpu::blas::kNoAttribute,
    .a_alignment = gpu::blas::kNoAttribute,
    .b_alignment = gpu::blas::kNoAttribute,
    .c_alignment = gpu::blas::kNoAttribute,
    .d_alignment = gpu::blas::kNoAttribute,
    .algorithm_bytes = 24,
    .not_supported = 7,  // HIPBLAS_STATUS_NOT_SUPPORTED
};
constexpr int kLeastVersion = 1000;  // 0.10.0

std::string words(const LtApi&, int status) {
  constexpr const char* kNames[] = {"SUCCESS",       "NOT_INITIALIZED",   "ALLOC_FAILED",   "INVALID_VALUE",
                                    "MAPPING_ERROR", "EXECUTION_FAILED",  "INTERNAL_ERROR", "NOT_SUPPORTED",
                                    "ARCH_MISMATCH", "HANDLE_IS_NULLPTR", "INVALID_ENUM",   "UNKNOWN"};
  const bool known = status >= 0 && static_cast<size_t>(status) < std::size(kNames);
  return join_text("HIPBLAS_STATUS_", known ? kNames[status] : "?", " (", status, ")");
}

class Hipblaslt final : public gpu::blas::Library {
 public:
  Hipblaslt(std::vector<std::string> names, const gpu::DriverState& driver)
      : library_({"hipBLASLt", "BEESWAX_HIPBLASLT_LIBRARY", std::move(names), "install ROCm's hipblaslt"}) {
    api_.words = &words;
    library_.load([this](gpu::Symbols& symbols) {
#define BW_LT(name, cublaslt, hipblaslt, parameters)   \
  symbols.find(api_.name, #hipblaslt, Need::Required); \
  api_.name##_name = #hipblaslt;
#include "backends/gpu/blas/lt_api.def"
      symbols.find(version_, "hipblasLtGetVersion", Need::Required);
    });
    reason_ = library_.is_usable() ? runtime_refusal(library_.library(), driver) : library_.reason();
  }
  std::string_view product() const override { return "hipBLASLt"; }
  std::string reason() const override { return reason_; }
  std::string title() const override { return std::string(product()); }
  const char* function() const override { return api_.multiply_name; }

  std::unique_ptr<gpu::blas::Handle> start() const override {
    // Only a handle tells the version.
    void* handle = nullptr;
    int version = 0;
    int status = api_.create(&handle);
    if (status != 0) fail(ErrorKind::Device, "matmul", api_.create_name, " says ", words(api_, status));
    status = version_(handle, &version);
    api_.destroy(handle);
    if (status != 0) fail(ErrorKind::Device, "matmul", "hipblasLtGetVersion says ", words(api_, status));
    if (version < kLeastVersion)
      fail(ErrorKind::Device, "matmul", library_.library().name(), " is too old: it is hipBLASLt ",
           version / 100000, ".", version / 100 % 1000, ", and 0.10 is needed; update ROCm to 6.3 or newer");
    return gpu::blas::start_lt(api_, kNumbers);
  }

 private:
  gpu::OptionalLibrary library_;
  LtApi api_;
  int (*version_)(void*, int*) = nullptr;
  std::string reason_;
};

}  // namespace

const gpu::blas::Library& hipblaslt() {
  static const Hipblaslt library(std::vector<std::string>{"libhipblaslt.so.1", "libhipblaslt.so.0",
                                                          "libhipblaslt.so", "/opt/rocm/lib/libhipblaslt.so"},
                                 rocm_driver());
  return library;
}

const gpu::blas::Library& emu_hipblaslt() {
  static const Hipblaslt library(std::vector<std::string>{}, emu_driver());
  return library;
}

}  // namespace beeswax::hip
