// SPDX-License-Identifier: Apache-2.0
// rocBLAS behind gpu::blas::Library, nothing else. Numbers of its enumerations are those of rocblas-types.h.
#include "backends/hip/rocblas.h"

#include <array>
#include <mutex>

#include "backends/gpu/api_load.h"
#include "backends/hip/runtime.h"
#include "core/fail.h"

namespace beeswax::hip {
namespace {

using gpu::Need;
using gpu::StreamHandle;
using gpu::blas::ColumnProduct;

struct Api {
#define BW_ROCBLAS(name, need, parameters) int(*name) parameters = nullptr;
#include "backends/hip/rocblas_api.def"
  const char* (*rocblas_status_to_string)(int) = nullptr;
};

constexpr int kSizeIncreased = 9, kSizeUnchanged = 10;  // rocblas_status: answers to a question of size
constexpr int kNotImplemented = 2, kExcludedFromBuild = 14, kArchMismatch = 15;
constexpr int kPlain = 111, kTurned = 112;  // rocblas_operation
constexpr int kHostPointers = 0;            // rocblas_pointer_mode
constexpr int kNoAtomics = 0;               // rocblas_atomics_mode: results repeat themselves
constexpr int kF32 = 151;                   // rocblas_datatype
constexpr int kStandard = 0;                // rocblas_gemm_algo
// A handle with memory of its caller never asks the driver for any, so it always gets some.
constexpr size_t kLeastWorkspace = 256;

int type_of(DType type) {
  switch (type) {
    case DType::F16:
      return 150;
    case DType::F64:
      return 152;
    case DType::BF16:
      return 168;
    default:
      return kF32;
  }
}

class RocblasHandle final : public gpu::blas::Handle {
 public:
  explicit RocblasHandle(const Api& api) : api_(api) {
    check(api_.rocblas_create_handle(&handle_), "rocblas_create_handle");
    try {
      check(api_.rocblas_set_pointer_mode(handle_, kHostPointers), "rocblas_set_pointer_mode");
      check(api_.rocblas_set_atomics_mode(handle_, kNoAtomics), "rocblas_set_atomics_mode");
    } catch (...) {
      api_.rocblas_destroy_handle(handle_);
      throw;
    }
  }
  ~RocblasHandle() override { api_.rocblas_destroy_handle(handle_); }
  RocblasHandle(const RocblasHandle&) = delete;
  RocblasHandle& operator=(const RocblasHandle&) = delete;

  std::optional<size_t> workspace(const ColumnProduct& product) override {
    const std::scoped_lock lock(mutex_);
    check(api_.rocblas_start_device_memory_size_query(handle_), "rocblas_start_device_memory_size_query");
    const int status = gemm(product);
    size_t bytes = 0;
    const int stopped = api_.rocblas_stop_device_memory_size_query(handle_, &bytes);
    // Left within the question, the handle would answer it instead of multiplying.
    if (stopped != 0) api_.rocblas_stop_device_memory_size_query(handle_, &bytes);
    check(stopped, "rocblas_stop_device_memory_size_query");
    if (status == kNotImplemented || status == kExcludedFromBuild || status == kArchMismatch)
      return std::nullopt;
    if (status != kSizeIncreased && status != kSizeUnchanged)
      check(status, "rocblas_gemm_strided_batched_ex");
    return std::max(bytes, kLeastWorkspace);
  }

  std::string multiply(const ColumnProduct& product, void* workspace, size_t bytes,
                       StreamHandle stream) override {
    const std::scoped_lock lock(mutex_);
    if (const int status = api_.rocblas_set_stream(handle_, stream); status != 0)
      return words("rocblas_set_stream", status);
    if (const int status = api_.rocblas_set_workspace(handle_, workspace, bytes); status != 0)
      return words("rocblas_set_workspace", status);
    const int status = gemm(product);
    return status == 0 ? "" : words("rocblas_gemm_strided_batched_ex", status);
  }

 private:
  int gemm(const ColumnProduct& p) const {
    const bool wide = p.type == DType::F64;
    constexpr float kOne = 1, kZero = 0;
    constexpr double kWideOne = 1, kWideZero = 0;
    const void* alpha = wide ? static_cast<const void*>(&kWideOne) : &kOne;
    const void* beta = wide ? static_cast<const void*>(&kWideZero) : &kZero;
    const int type = type_of(p.type);
    const auto narrow = [](int64_t size) { return static_cast<int32_t>(size); };
    void* c = const_cast<std::byte*>(p.c.data);
    return api_.rocblas_gemm_strided_batched_ex(
        handle_, p.a.turned ? kTurned : kPlain, p.b.turned ? kTurned : kPlain, narrow(p.m), narrow(p.n),
        narrow(p.k), alpha, p.a.data, type, narrow(p.a.leading), p.a.batch_stride, p.b.data, type,
        narrow(p.b.leading), p.b.batch_stride, beta, c, type, narrow(p.c.leading), p.c.batch_stride, c, type,
        narrow(p.c.leading), p.c.batch_stride, narrow(p.batch), wide ? type : kF32, kStandard, 0, 0);
  }
  std::string words(std::string_view function, int status) const {
    const char* text = api_.rocblas_status_to_string(status);
    return join_text(function, " says ", text == nullptr ? "nothing" : text, " (", status, ")");
  }
  void check(int status, std::string_view function) const {
    if (status != 0) fail(ErrorKind::Device, "matmul", words(function, status));
  }

  const Api& api_;
  void* handle_ = nullptr;
  std::mutex mutex_;  // a handle has one stream and one workspace
};

class Rocblas final : public gpu::blas::Library {
 public:
  Rocblas(std::vector<std::string> names, const gpu::DriverState& driver)
      : library_({"rocBLAS", "BEESWAX_ROCBLAS_LIBRARY", std::move(names),
                  "install ROCm's rocblas (Debian's package librocblas0)"}) {
    library_.load([this](gpu::Symbols& symbols) {
#define BW_ROCBLAS(name, need, parameters) symbols.find(api_.name, #name, Need::need);
#include "backends/hip/rocblas_api.def"
      symbols.find(api_.rocblas_status_to_string, "rocblas_status_to_string", Need::Required);
    });
    reason_ = library_.is_usable() ? runtime_refusal(library_.library(), driver) : library_.reason();
  }
  std::string_view product() const override { return "rocBLAS"; }
  std::string reason() const override { return reason_; }
  std::string title() const override {
    std::array<char, 64> version{};
    const bool told = api_.rocblas_get_version_string != nullptr &&
                      api_.rocblas_get_version_string(version.data(), version.size()) == 0;
    return told ? join_text(product(), " ", version.data()) : std::string(product());
  }
  const char* function() const override { return "rocblas_gemm_strided_batched_ex"; }
  std::unique_ptr<gpu::blas::Handle> start() const override { return std::make_unique<RocblasHandle>(api_); }

 private:
  gpu::OptionalLibrary library_;
  Api api_;
  std::string reason_;
};

}  // namespace

const gpu::blas::Library& rocblas() {
  static const Rocblas library(
      std::vector<std::string>{"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0",
                               "librocblas.so", "/opt/rocm/lib/librocblas.so"},
      rocm_driver());
  return library;
}

const gpu::blas::Library& emu_rocblas() {
  static const Rocblas library(std::vector<std::string>{}, emu_driver());
  return library;
}

}  // namespace beeswax::hip
