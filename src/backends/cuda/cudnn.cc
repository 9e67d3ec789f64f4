// SPDX-License-Identifier: Apache-2.0
// libcudnn behind gpu::dnn::ConvLibrary, nothing else. Its heuristics name algorithms, and the first that
// keeps our promises is taken; nothing is timed.
#include "backends/cuda/cudnn.h"

#include <algorithm>
#include <array>
#include <span>

#include "backends/gpu/api_load.h"
#include "backends/gpu/dnn/owned.h"
#include "core/fail.h"

namespace beeswax::cuda {
namespace {

using gpu::dnn::Conv;
using gpu::dnn::ConvHandle;
using gpu::dnn::Plan;
using gpu::dnn::Sizes;

// What cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h of cuDNN 9.19 declare; release 8 numbers alike,
// but for statuses.
struct CudnnAlgorithm {  // cudnnConvolutionFwdAlgoPerf_t, and cudnnConvolutionBwdDataAlgoPerf_t
  int algorithm, status;
  float milliseconds;
  size_t workspace_bytes;
  int determinism, math, reserved[3];
};
enum Status { kSuccess = 0, kArchMismatch8 = 6, kNotSupported8 = 9 };      // cudnnStatus_t
enum DataType { kFloat = 0, kHalf = 2, kBFloat16 = 9 };                    // cudnnDataType_t
enum Format { kNchw = 0 };                                                 // cudnnTensorFormat_t
enum Mode { kCrossCorrelation = 1 };                                       // cudnnConvolutionMode_t
enum Determinism { kDeterministic = 1 };                                   // cudnnDeterminism_t
enum Math { kDefaultMath = 0, kTensorMath = 1, kFmaMath = 3 };             // cudnnMathType_t
enum Forward { kImplicit = 0, kPrecomputed = 1, kGemm = 2, kDirect = 3 };  // cudnnConvolutionFwdAlgo_t
enum BackwardData { kFirst = 0, kSecond = 1 };                             // cudnnConvolutionBwdDataAlgo_t
constexpr size_t kMostAlgorithms = 8;
constexpr size_t kLeastVersion = 8000;

struct Api {
#define BW_CUDNN(name, need, parameters) int(*name) parameters = nullptr;
#include "backends/cuda/cudnn_api.def"
  size_t (*cudnnGetVersion)() = nullptr;
  const char* (*cudnnGetErrorString)(int) = nullptr;
  void (*cudnnGetLastErrorString)(char*, size_t) = nullptr;
};

// What all parts of the library share.
struct Library {
  Api api;
  std::string title;
  bool is_9 = false;

  std::string words(std::string_view function, int status) const {
    const char* text = api.cudnnGetErrorString(status);
    std::array<char, 256> more{};  // release 9 says what was wrong
    if (api.cudnnGetLastErrorString != nullptr) api.cudnnGetLastErrorString(more.data(), more.size() - 1);
    return join_text(function, " says ", text == nullptr ? "nothing" : text, " (", status, ")",
                     more.front() == 0 ? "" : ": ", more.data());
  }
  // `of` is what it was about, where that may be the reason.
  void check(int status, std::string_view function, std::string_view of = "") const {
    if (status != kSuccess)
      fail(ErrorKind::Device, "conv", title, ": ", words(function, status), of.empty() ? "" : " of ", of);
  }
  // Whether a status says that there is no way; release 9 has many such.
  bool is_unsupported(int status) const {
    return is_9 ? status / 1000 == 3 : status == kNotSupported8 || status == kArchMismatch8;
  }
};

using Handle = gpu::dnn::Owned<Api, &Api::cudnnDestroy>;
using TensorDescriptor = gpu::dnn::Owned<Api, &Api::cudnnDestroyTensorDescriptor>;
using FilterDescriptor = gpu::dnn::Owned<Api, &Api::cudnnDestroyFilterDescriptor>;
using ConvDescriptor = gpu::dnn::Owned<Api, &Api::cudnnDestroyConvolutionDescriptor>;

int type_of(DType dtype) { return dtype == DType::F16 ? kHalf : dtype == DType::BF16 ? kBFloat16 : kFloat; }

// Winograd and Fourier transforms keep no bound on the error of one result.
bool keeps_bound(int algorithm, bool transposed) {
  if (transposed) return algorithm == kFirst || algorithm == kSecond;
  return algorithm == kImplicit || algorithm == kPrecomputed || algorithm == kGemm || algorithm == kDirect;
}

class CudnnPlan final : public Plan {
 public:
  CudnnPlan(const Library& library, void* handle, const Conv& conv)
      : library_(library),
        handle_(handle),
        transposed_(conv.transposed),
        image_(library.api),
        result_(library.api),
        kernel_(library.api),
        conv_(library.api) {
    const Api& api = library_.api;
    describe(image_, conv.dtype, image_of(conv));
    describe(result_, conv.dtype, result_of(conv));
    const Sizes kernel = kernel_of(conv);
    library_.check(api.cudnnCreateFilterDescriptor(kernel_.out()), "cudnnCreateFilterDescriptor");
    library_.check(api.cudnnSetFilter4dDescriptor(kernel_.get(), type_of(conv.dtype), kNchw, kernel.n,
                                                  kernel.c, kernel.h, kernel.w),
                   "cudnnSetFilter4dDescriptor");
    library_.check(api.cudnnCreateConvolutionDescriptor(conv_.out()), "cudnnCreateConvolutionDescriptor");
    library_.check(api.cudnnSetConvolution2dDescriptor(conv_.get(), conv.h_padding, conv.w_padding,
                                                       conv.h_stride, conv.w_stride, conv.h_dilation,
                                                       conv.w_dilation, kCrossCorrelation, kFloat),
                   "cudnnSetConvolution2dDescriptor", conv.to_string());
    library_.check(api.cudnnSetConvolutionGroupCount(conv_.get(), conv.groups),
                   "cudnnSetConvolutionGroupCount", conv.to_string());
    // Any other choice allows f32 to be cut to tf32.
    set_math(conv.dtype == DType::F32 ? kFmaMath : kTensorMath);
  }

  /// Whether cuDNN does the convolution; picks how.
  bool choose(const Conv& conv) {
    // Its gradients of f16 are beyond the bound (9.19.0 on an H200, every algorithm that repeats itself).
    if (transposed_ && conv.dtype == DType::F16) return false;
    std::array<CudnnAlgorithm, kMostAlgorithms> found{};
    int count = 0;
    const int status = list_algorithms(found.data(), &count);
    if (library_.is_unsupported(status)) return false;
    library_.check(
        status,
        either("cudnnGetConvolutionForwardAlgorithm_v7", "cudnnGetConvolutionBackwardDataAlgorithm_v7"),
        conv.to_string());
    const auto known = static_cast<size_t>(std::clamp<int>(count, 0, kMostAlgorithms));
    for (const CudnnAlgorithm& way : std::span(found).first(known)) {  // the fastest comes first
      if (way.status != kSuccess || way.determinism != kDeterministic ||
          !keeps_bound(way.algorithm, transposed_))
        continue;
      if (conv.dtype != DType::F32) {
        set_math(way.math);
      } else if (way.math != kFmaMath && way.math != kDefaultMath) {
        continue;
      }
      algorithm_ = way.algorithm;
      const int sized = workspace_size(&workspace_bytes_);
      if (library_.is_unsupported(sized)) continue;
      library_.check(
          sized,
          either("cudnnGetConvolutionForwardWorkspaceSize", "cudnnGetConvolutionBackwardDataWorkspaceSize"),
          conv.to_string());
      if (workspace_bytes_ <= gpu::dnn::kMostWorkspace) return true;
    }
    return false;
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }

  std::string run(const void* x, const void* w, void* y, void* workspace) const override {
    const Api& api = library_.api;
    const float one = 1, zero = 0;
    const int status =
        transposed_
            ? api.cudnnConvolutionBackwardData(handle_, &one, kernel_.get(), w, result_.get(), x, conv_.get(),
                                               algorithm_, workspace, workspace_bytes_, &zero, image_.get(),
                                               y)
            : api.cudnnConvolutionForward(handle_, &one, image_.get(), x, kernel_.get(), w, conv_.get(),
                                          algorithm_, workspace, workspace_bytes_, &zero, result_.get(), y);
    return status == kSuccess
               ? ""
               : library_.words(either("cudnnConvolutionForward", "cudnnConvolutionBackwardData"), status);
  }

 private:
  const char* either(const char* forward, const char* backward) const {
    return transposed_ ? backward : forward;
  }
  void describe(TensorDescriptor& tensor, DType dtype, const Sizes& sizes) const {
    const Api& api = library_.api;
    library_.check(api.cudnnCreateTensorDescriptor(tensor.out()), "cudnnCreateTensorDescriptor");
    library_.check(api.cudnnSetTensor4dDescriptor(tensor.get(), kNchw, type_of(dtype), sizes.n, sizes.c,
                                                  sizes.h, sizes.w),
                   "cudnnSetTensor4dDescriptor");
  }
  void set_math(int math) const {
    library_.check(library_.api.cudnnSetConvolutionMathType(conv_.get(), math),
                   "cudnnSetConvolutionMathType");
  }
  int list_algorithms(CudnnAlgorithm* out, int* count) const {
    const Api& api = library_.api;
    return transposed_ ? api.cudnnGetConvolutionBackwardDataAlgorithm_v7(
                             handle_, kernel_.get(), result_.get(), conv_.get(), image_.get(),
                             static_cast<int>(kMostAlgorithms), count, out)
                       : api.cudnnGetConvolutionForwardAlgorithm_v7(
                             handle_, image_.get(), kernel_.get(), conv_.get(), result_.get(),
                             static_cast<int>(kMostAlgorithms), count, out);
  }
  int workspace_size(size_t* bytes) const {
    const Api& api = library_.api;
    return transposed_
               ? api.cudnnGetConvolutionBackwardDataWorkspaceSize(
                     handle_, kernel_.get(), result_.get(), conv_.get(), image_.get(), algorithm_, bytes)
               : api.cudnnGetConvolutionForwardWorkspaceSize(handle_, image_.get(), kernel_.get(),
                                                             conv_.get(), result_.get(), algorithm_, bytes);
  }

  const Library& library_;
  void* handle_;
  bool transposed_;
  TensorDescriptor image_, result_;
  FilterDescriptor kernel_;
  ConvDescriptor conv_;
  int algorithm_ = 0;
  size_t workspace_bytes_ = 0;
};

class CudnnHandle final : public ConvHandle {
 public:
  CudnnHandle(const Library& library, gpu::StreamHandle stream) : library_(library), handle_(library.api) {
    library_.check(library_.api.cudnnCreate(handle_.out()), "cudnnCreate");
    library_.check(library_.api.cudnnSetStream(handle_.get(), stream), "cudnnSetStream");
  }
  std::unique_ptr<Plan> plan(const Conv& conv) override {
    auto made = std::make_unique<CudnnPlan>(library_, handle_.get(), conv);
    if (!made->choose(conv)) return nullptr;
    return made;
  }

 private:
  const Library& library_;
  Handle handle_;
};

constexpr std::string_view kAdvice = "install NVIDIA's cuDNN 8 or 9";

class Cudnn final : public gpu::dnn::ConvLibrary {
 public:
  Cudnn()
      : file_({"cuDNN",
               "BEESWAX_CUDNN_LIBRARY",
               {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so", "/usr/local/cuda/lib64/libcudnn.so"},
               kAdvice}) {
    Api& api = library_.api;
    const bool found = file_.load([&](gpu::Symbols& symbols) {
#define BW_CUDNN(name, need, parameters) symbols.find(api.name, #name, gpu::Need::need);
#include "backends/cuda/cudnn_api.def"
      symbols.find(api.cudnnGetVersion, "cudnnGetVersion", gpu::Need::Required);
      symbols.find(api.cudnnGetErrorString, "cudnnGetErrorString", gpu::Need::Required);
      symbols.find(api.cudnnGetLastErrorString, "cudnnGetLastErrorString", gpu::Need::Optional);
    });
    state_.reason = file_.reason();
    if (!found) return;
    // 9.19.0 is 91900, 8.9.7 is 8907.
    const size_t version = api.cudnnGetVersion();
    library_.is_9 = version >= 90000;
    const size_t thousand = library_.is_9 ? 10000 : 1000;
    library_.title =
        join_text("cuDNN ", version / thousand, ".", version % thousand / 100, ".", version % 100);
    if (version < kLeastVersion) {
      state_.reason = join_text(file_.library().name(), " is ", library_.title, ", too old; ", kAdvice);
      return;
    }
    state_.library = this;
  }
  std::string title() const override { return library_.title; }
  std::unique_ptr<ConvHandle> open(gpu::StreamHandle stream) const override {
    return std::make_unique<CudnnHandle>(library_, stream);
  }
  const gpu::dnn::LibraryState& state() const { return state_; }

 private:
  gpu::OptionalLibrary file_;
  Library library_;
  gpu::dnn::LibraryState state_;
};

}  // namespace

const gpu::dnn::LibraryState& cudnn() {
  static const Cudnn library;
  return library.state();
}

}  // namespace beeswax::cuda
