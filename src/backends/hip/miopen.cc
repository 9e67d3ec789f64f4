// SPDX-License-Identifier: Apache-2.0
// libMIOpen behind gpu::dnn::ConvLibrary, nothing else. In its immediate mode: MIOpen names solutions from
// its database and heuristics, and the first is taken. (Its find step times every candidate on the user's
// machine.)
#include "backends/hip/miopen.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/gpu/api_load.h"
#include "backends/gpu/dnn/owned.h"
#include "backends/hip/driver.h"
#include "backends/hip/runtime.h"
#include "core/fail.h"

namespace beeswax::hip {
namespace {

using gpu::dnn::Conv;
using gpu::dnn::ConvHandle;
using gpu::dnn::Plan;
using gpu::dnn::Sizes;

// What include/miopen/miopen.h of ROCm/MIOpen declares, commit 003eaf5.
struct MiopenSolution {  // miopenConvSolution_t
  float milliseconds;
  size_t workspace_bytes;
  uint64_t id;
  int algorithm;
};
enum Status { kSuccess = 0, kNotImplemented = 6, kUnsupportedOp = 8 };  // miopenStatus_t
enum DataType { kHalf = 0, kFloat = 1, kBFloat16 = 5 };                 // miopenDataType_t
enum Mode { kCrossCorrelation = 0 };                                    // miopenConvolutionMode_t
enum Attribute { kFp16Alternative = 0, kDeterministic = 1 };            // miopenConvolutionAttrib_t
enum Algorithm { kGemm = 0, kDirect = 1, kImplicitGemm = 5 };           // miopenConvAlgorithm_t

struct Api {
#define BW_MIOPEN(name, need, parameters) int(*name) parameters = nullptr;
#include "backends/hip/miopen_api.def"
  const char* (*miopenGetErrorString)(int) = nullptr;
};

// What all parts of one library share.
struct Library {
  Api api;
  std::string title;

  std::string words(std::string_view function, int status) const {
    const char* text = api.miopenGetErrorString(status);
    return join_text(function, " says ", text == nullptr ? "nothing" : text, " (", status, ")");
  }
  // `of` is what it was about, where that may be the reason.
  void check(int status, std::string_view function, std::string_view of = "") const {
    if (status != kSuccess)
      fail(ErrorKind::Device, "conv", title, ": ", words(function, status), of.empty() ? "" : " of ", of);
  }
};

using Handle = gpu::dnn::Owned<Api, &Api::miopenDestroy>;
using TensorDescriptor = gpu::dnn::Owned<Api, &Api::miopenDestroyTensorDescriptor>;
using ConvDescriptor = gpu::dnn::Owned<Api, &Api::miopenDestroyConvolutionDescriptor>;

int type_of(DType dtype) { return dtype == DType::F16 ? kHalf : dtype == DType::BF16 ? kBFloat16 : kFloat; }

// Winograd and Fourier transforms keep no bound on the error of one result.
bool keeps_bound(int algorithm) {
  return algorithm == kGemm || algorithm == kDirect || algorithm == kImplicitGemm;
}

class MiopenPlan final : public Plan {
 public:
  MiopenPlan(const Library& library, void* handle, const Conv& conv)
      : library_(library),
        handle_(handle),
        transposed_(conv.transposed),
        image_(library.api),
        kernel_(library.api),
        result_(library.api),
        conv_(library.api) {
    describe(image_, conv.dtype, image_of(conv));
    describe(kernel_, conv.dtype, kernel_of(conv));
    describe(result_, conv.dtype, result_of(conv));
    const Api& api = library_.api;
    library_.check(api.miopenCreateConvolutionDescriptor(conv_.out()), "miopenCreateConvolutionDescriptor");
    library_.check(
        api.miopenInitConvolutionDescriptor(conv_.get(), kCrossCorrelation, conv.h_padding, conv.w_padding,
                                            conv.h_stride, conv.w_stride, conv.h_dilation, conv.w_dilation),
        "miopenInitConvolutionDescriptor", conv.to_string());
    library_.check(api.miopenSetConvolutionGroupCount(conv_.get(), conv.groups),
                   "miopenSetConvolutionGroupCount", conv.to_string());
    // The same bits each time; and f16 as f16 where some chips would take it to bf16.
    for (const auto& [attribute, value] : {std::pair<int, int>{kDeterministic, 1}, {kFp16Alternative, 0}})
      library_.check(api.miopenSetConvolutionAttribute(conv_.get(), attribute, value),
                     "miopenSetConvolutionAttribute");
  }

  /// Whether MIOpen does the convolution; picks and compiles how.
  bool choose(const Conv& conv) {
    size_t count = 0;
    if (!is_done(solution_count(&count), conv, "miopenConvolutionForwardGetSolutionCount",
                 "miopenConvolutionBackwardDataGetSolutionCount") ||
        count == 0)
      return false;
    std::vector<MiopenSolution> solutions(count);
    if (!is_done(list_solutions(&count, solutions.data()), conv, "miopenConvolutionForwardGetSolution",
                 "miopenConvolutionBackwardDataGetSolution"))
      return false;
    solutions.resize(std::min(count, solutions.size()));
    for (const MiopenSolution& solution : solutions) {  // the fastest comes first
      if (!keeps_bound(solution.algorithm) || solution.workspace_bytes > gpu::dnn::kMostWorkspace) continue;
      solution_ = solution;
      return is_done(compile(), conv, "miopenConvolutionForwardCompileSolution",
                     "miopenConvolutionBackwardDataCompileSolution");
    }
    return false;
  }

  size_t workspace_bytes() const override { return solution_.workspace_bytes; }

  std::string run(const void* x, const void* w, void* y, void* workspace) const override {
    const Api& api = library_.api;
    const int status =
        transposed_ ? api.miopenConvolutionBackwardDataImmediate(handle_, result_.get(), x, kernel_.get(), w,
                                                                 conv_.get(), image_.get(), y, workspace,
                                                                 solution_.workspace_bytes, solution_.id)
                    : api.miopenConvolutionForwardImmediate(handle_, kernel_.get(), w, image_.get(), x,
                                                            conv_.get(), result_.get(), y, workspace,
                                                            solution_.workspace_bytes, solution_.id);
    return status == kSuccess ? ""
                              : library_.words(either("miopenConvolutionForwardImmediate",
                                                      "miopenConvolutionBackwardDataImmediate"),
                                               status);
  }

 private:
  const char* either(const char* forward, const char* backward) const {
    return transposed_ ? backward : forward;
  }
  void describe(TensorDescriptor& tensor, DType dtype, const Sizes& sizes) const {
    const Api& api = library_.api;
    library_.check(api.miopenCreateTensorDescriptor(tensor.out()), "miopenCreateTensorDescriptor");
    library_.check(
        api.miopenSet4dTensorDescriptor(tensor.get(), type_of(dtype), sizes.n, sizes.c, sizes.h, sizes.w),
        "miopenSet4dTensorDescriptor");
  }
  // Whether a step of the choice succeeded; false where MIOpen has no way, an Error where it fails.
  bool is_done(int status, const Conv& conv, const char* forward, const char* backward) const {
    if (status == kNotImplemented || status == kUnsupportedOp) return false;
    if (status != kSuccess) library_.check(status, either(forward, backward), conv.to_string());
    return true;
  }
  int solution_count(size_t* count) const {
    const Api& api = library_.api;
    return transposed_ ? api.miopenConvolutionBackwardDataGetSolutionCount(
                             handle_, result_.get(), kernel_.get(), conv_.get(), image_.get(), count)
                       : api.miopenConvolutionForwardGetSolutionCount(handle_, kernel_.get(), image_.get(),
                                                                      conv_.get(), result_.get(), count);
  }
  int list_solutions(size_t* count, MiopenSolution* out) const {
    const Api& api = library_.api;
    return transposed_
               ? api.miopenConvolutionBackwardDataGetSolution(handle_, result_.get(), kernel_.get(),
                                                              conv_.get(), image_.get(), *count, count, out)
               : api.miopenConvolutionForwardGetSolution(handle_, kernel_.get(), image_.get(), conv_.get(),
                                                         result_.get(), *count, count, out);
  }
  int compile() const {
    const Api& api = library_.api;
    return transposed_ ? api.miopenConvolutionBackwardDataCompileSolution(
                             handle_, result_.get(), kernel_.get(), conv_.get(), image_.get(), solution_.id)
                       : api.miopenConvolutionForwardCompileSolution(
                             handle_, kernel_.get(), image_.get(), conv_.get(), result_.get(), solution_.id);
  }

  const Library& library_;
  void* handle_;
  bool transposed_;
  TensorDescriptor image_, kernel_, result_;
  ConvDescriptor conv_;
  MiopenSolution solution_{};
};

class MiopenHandle final : public ConvHandle {
 public:
  MiopenHandle(const Library& library, gpu::StreamHandle stream) : library_(library), handle_(library.api) {
    library_.check(library_.api.miopenCreateWithStream(handle_.out(), stream), "miopenCreateWithStream");
  }
  std::unique_ptr<Plan> plan(const Conv& conv) override {
    auto made = std::make_unique<MiopenPlan>(library_, handle_.get(), conv);
    if (!made->choose(conv)) return nullptr;
    return made;
  }

 private:
  const Library& library_;
  Handle handle_;
};

class Miopen final : public gpu::dnn::ConvLibrary {
 public:
  Miopen(std::vector<std::string> names, const gpu::DriverState& driver)
      : file_({"MIOpen", "BEESWAX_MIOPEN_LIBRARY", std::move(names),
               "install AMD's (ROCm's package miopen-hip)"}) {
    Api& api = library_.api;
    const bool found = file_.load([&](gpu::Symbols& symbols) {
#define BW_MIOPEN(name, need, parameters) symbols.find(api.name, #name, gpu::Need::need);
#include "backends/hip/miopen_api.def"
      symbols.find(api.miopenGetErrorString, "miopenGetErrorString", gpu::Need::Required);
    });
    state_.reason = found ? runtime_refusal(file_.library(), driver) : file_.reason();
    if (!state_.reason.empty()) return;
    size_t major = 0, minor = 0, patch = 0;
    const bool told = api.miopenGetVersion(&major, &minor, &patch) == kSuccess;
    library_.title = told ? join_text("MIOpen ", major, ".", minor, ".", patch) : "MIOpen";
    state_.library = this;
  }
  std::string title() const override { return library_.title; }
  std::unique_ptr<ConvHandle> open(gpu::StreamHandle stream) const override {
    return std::make_unique<MiopenHandle>(library_, stream);
  }
  const gpu::dnn::LibraryState& state() const { return state_; }

 private:
  gpu::OptionalLibrary file_;
  Library library_;
  gpu::dnn::LibraryState state_;
};

}  // namespace

const gpu::dnn::LibraryState& miopen() {
  static const Miopen library({"libMIOpen.so.1", "libMIOpen.so", "/opt/rocm/lib/libMIOpen.so.1"},
                              rocm_driver());
  return library.state();
}

const gpu::dnn::LibraryState& miopen_on_emu() {
  static const Miopen library({}, emu_driver());
  return library.state();
}

}  // namespace beeswax::hip
