// SPDX-License-Identifier: Apache-2.0
// The stand-in for libcudnn. Numbers and rules are not those of src/ but of
//   github.com/elwasif/HIP, docs/markdown/CUDNN_API_supported_by_HIP.md    enumerations with their values,
//   statuses of 8 docs.rs/rcudnn, cudnnMathType_t and others in their order
//   docs.nvidia.com/deeplearning/cudnn/latest/api/cudnn-cnn-library.html   the functions, what they refuse,
//   which ways
//                                                                          back are deterministic
//   docs.nvidia.com/deeplearning/cudnn/latest/api/cudnn-graph-library.html statuses of 9
// Wrong arguments are BAD_PARAM, what there is no algorithm for is NOT_SUPPORTED.
#include <algorithm>
#include <cstdio>

#include "fake_dnn/machine.h"

using fake_dnn::call;
using fake_dnn::call_release;
using fake_dnn::Kind;
using fake_dnn::Machine;
using fake_dnn::Object;
using fake_dnn::Tensor;
using fake_dnn::Type;

namespace {

constexpr int CUDNN_STATUS_SUCCESS = 0;
constexpr int CUDNN_DATA_FLOAT = 0, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9;
constexpr int CUDNN_TENSOR_NCHW = 0;
constexpr int CUDNN_CROSS_CORRELATION = 1;
constexpr int CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2,
              CUDNN_FMA_MATH = 3;
constexpr int CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1;
constexpr int CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0,
              CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM = 1, CUDNN_CONVOLUTION_FWD_ALGO_FFT = 4,
              CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD = 6;
constexpr int CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 = 1,
              CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD = 4;

bool is_9(const Machine& m) { return m.control.version == 0 || m.control.version >= 90000; }
int bad_parameter(const Machine& m) { return is_9(m) ? 2000 : 3; }
int internal_error(const Machine& m) { return is_9(m) ? 4000 : 4; }
int not_supported(const Machine& m, int detail) { return is_9(m) ? 3000 + detail : 9; }

struct cudnnConvolutionFwdAlgoPerf_t {  // and of the ways back
  int algo;
  int status;
  float time;
  size_t memory;
  int determinism;
  int mathType;
  int reserved[3];
};

struct Problem {
  const Object* handle = nullptr;
  Tensor image, kernel, result;
  fake_dnn::Window window;
  int status;
};

Problem problem_of(Machine& m, const void* handle, const void* image, const void* kernel, const void* conv,
                   const void* result) {
  Problem p;
  p.status = bad_parameter(m);
  const Object *h = m.find(Kind::Handle, handle), *x = m.find(Kind::Tensor, image),
               *w = m.find(Kind::Kernel, kernel), *c = m.find(Kind::Convolution, conv),
               *y = m.find(Kind::Tensor, result);
  if (h == nullptr || x == nullptr || w == nullptr || c == nullptr || y == nullptr) return p;
  p.handle = h;
  p.image = x->tensor;
  p.kernel = w->tensor;
  p.result = y->tensor;
  p.window = c->window;
  if (h->stream == nullptr) m.misuse("a handle without the device's stream");
  if (!p.window.set || p.image.type == Type::None) {
    m.misuse("a descriptor that nothing was written into");
    return p;
  }
  if (const std::string what = misfit(p.image, p.kernel, p.result, p.window); !what.empty()) {
    m.misuse(what);
    return p;
  }
  // On this kind of card every other way may cut f32 to tf32.
  if (p.image.type == Type::F32 && p.window.math != CUDNN_FMA_MATH) m.misuse("f32 that may be cut to tf32");
  if (p.window.math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION) m.misuse("operands that may be cut");
  p.status = CUDNN_STATUS_SUCCESS;
  return p;
}

size_t workspace_of(const Machine& m, const Problem& p, int algorithm) {
  if (algorithm == 0 && m.control.workspace_bytes == 0) return 0;
  return static_cast<size_t>(p.kernel.count()) * 4 + m.control.workspace_bytes;
}

// Fastest first: transforms, ways that add in any order, one that fails after all, and what src/ may take.
std::vector<cudnnConvolutionFwdAlgoPerf_t> ways_of(const Machine& m, const Problem& p, bool transposed) {
  std::vector<cudnnConvolutionFwdAlgoPerf_t> out;
  const auto add = [&](int algorithm, int status, int determinism, int math) {
    out.push_back({algorithm,
                   status,
                   static_cast<float>(out.size()),
                   workspace_of(m, p, algorithm),
                   determinism,
                   math,
                   {}});
  };
  const int math = p.image.type == Type::F32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  if (transposed) {
    add(CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, 0, CUDNN_DETERMINISTIC, math);
    add(CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, 0, CUDNN_NON_DETERMINISTIC, math);
    if (!m.control.only_transforms) add(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, 0, CUDNN_DETERMINISTIC, math);
    return out;
  }
  add(CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, 0, CUDNN_DETERMINISTIC, math);
  add(CUDNN_CONVOLUTION_FWD_ALGO_FFT, not_supported(m, 2), CUDNN_DETERMINISTIC, math);
  if (m.control.only_transforms) return out;
  add(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, 0, CUDNN_DETERMINISTIC, math);
  add(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0, CUDNN_DETERMINISTIC,
      p.image.type == Type::F32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH);
  return out;
}

int list_ways(Machine& m, const Problem& p, bool transposed, int most, int* count,
              cudnnConvolutionFwdAlgoPerf_t* out) {
  if (p.status != CUDNN_STATUS_SUCCESS) return p.status;
  if (most < 1 || count == nullptr || out == nullptr) return bad_parameter(m);
  if (m.control.nothing) return not_supported(m, 2);
  const auto ways = ways_of(m, p, transposed);
  *count = std::min(most, static_cast<int>(ways.size()));
  std::copy_n(ways.begin(), *count, out);
  return CUDNN_STATUS_SUCCESS;
}

// What heuristics named may turn out not to be done.
const cudnnConvolutionFwdAlgoPerf_t* way(const std::vector<cudnnConvolutionFwdAlgoPerf_t>& ways,
                                         const Problem& p, bool transposed, int algorithm) {
  const bool is_dilated = p.window.dilation[0] > 1 || p.window.dilation[1] > 1;
  if (!transposed && is_dilated && algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
    return nullptr;
  for (const auto& w : ways)
    if (w.algo == algorithm && w.status == CUDNN_STATUS_SUCCESS) return &w;
  return nullptr;
}

int size_workspace(Machine& m, const Problem& p, bool transposed, int algorithm, size_t* bytes) {
  if (p.status != CUDNN_STATUS_SUCCESS) return p.status;
  const auto ways = ways_of(m, p, transposed);
  const auto* chosen = way(ways, p, transposed, algorithm);
  if (chosen == nullptr) return not_supported(m, 0);
  *bytes = chosen->memory;
  return CUDNN_STATUS_SUCCESS;
}

int run(Machine& m, const Problem& p, bool transposed, const void* alpha, const void* from,
        const void* weights, int algorithm, void* workspace, size_t bytes, const void* beta, void* to) {
  if (p.status != CUDNN_STATUS_SUCCESS) return p.status;
  if (alpha == nullptr || beta == nullptr || from == nullptr || weights == nullptr || to == nullptr)
    return bad_parameter(m);
  // Factors are floats of the host for these types.
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) {
    m.misuse("factors other than 1 and 0");
    return bad_parameter(m);
  }
  const auto ways = ways_of(m, p, transposed);
  const auto* chosen = way(ways, p, transposed, algorithm);
  if (chosen == nullptr) return not_supported(m, 0);
  if (chosen->determinism != CUDNN_DETERMINISTIC) m.misuse("an algorithm that does not repeat its bits");
  if (p.window.math != chosen->mathType && p.image.type != Type::F32)
    m.misuse("an algorithm of another precision");
  if (bytes < chosen->memory || (chosen->memory > 0 && workspace == nullptr)) {
    m.misuse("too small a workspace");
    return bad_parameter(m);
  }
  return m.run(*p.handle, p.image, p.kernel, p.result, p.window, transposed, from, weights, to, workspace,
               bytes)
             ? CUDNN_STATUS_SUCCESS
             : internal_error(m);
}

int make(const char* name, Kind kind, void** out) {
  return call(name, [&](Machine& m) {
    if (out == nullptr) return bad_parameter(m);
    *out = m.make({kind, {}, {}, nullptr});
    return CUDNN_STATUS_SUCCESS;
  });
}

int destroy(const char* name, Kind kind, void* object) {
  return call_release(
      name, [&](Machine& m) { return m.release(kind, object) ? CUDNN_STATUS_SUCCESS : bad_parameter(m); });
}

int describe(const char* name, Kind kind, void* tensor, int format, int type, int a, int b, int c, int d) {
  return call(name, [&](Machine& m) {
    Object* object = m.find(kind, tensor);
    if (object == nullptr || a <= 0 || b <= 0 || c <= 0 || d <= 0) return bad_parameter(m);
    const Type known = type == CUDNN_DATA_HALF       ? Type::F16
                       : type == CUDNN_DATA_FLOAT    ? Type::F32
                       : type == CUDNN_DATA_BFLOAT16 ? Type::BF16
                                                     : Type::None;
    if (known == Type::None || format != CUDNN_TENSOR_NCHW) {
      m.misuse("a type or a layout that nobody here means");
      return bad_parameter(m);
    }
    object->tensor = {known, {a, b, c, d}};
    return CUDNN_STATUS_SUCCESS;
  });
}

}  // namespace

FAKE_DNN_EXPORT size_t cudnnGetVersion() {
  const int64_t version = Machine::get().control.version;
  return version == 0 ? 91900 : static_cast<size_t>(version);
}
FAKE_DNN_EXPORT const char* cudnnGetErrorString(int status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case 4:
    case 4000:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    default:
      return "CUDNN_STATUS_BAD_PARAM";
  }
}
FAKE_DNN_EXPORT void cudnnGetLastErrorString(char* message, size_t bytes) {
  std::snprintf(message, bytes, "as it was asked to");
}

FAKE_DNN_EXPORT int cudnnCreate(void** handle) { return make(__func__, Kind::Handle, handle); }
FAKE_DNN_EXPORT int cudnnDestroy(void* handle) { return destroy(__func__, Kind::Handle, handle); }
FAKE_DNN_EXPORT int cudnnSetStream(void* handle, void* stream) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Handle, handle);
    if (object == nullptr || !m.has_stream(stream)) return bad_parameter(m);
    object->stream = stream;
    return CUDNN_STATUS_SUCCESS;
  });
}

FAKE_DNN_EXPORT int cudnnCreateTensorDescriptor(void** tensor) {
  return make(__func__, Kind::Tensor, tensor);
}
FAKE_DNN_EXPORT int cudnnSetTensor4dDescriptor(void* tensor, int format, int type, int n, int c, int h,
                                               int w) {
  return describe(__func__, Kind::Tensor, tensor, format, type, n, c, h, w);
}
FAKE_DNN_EXPORT int cudnnDestroyTensorDescriptor(void* tensor) {
  return destroy(__func__, Kind::Tensor, tensor);
}
FAKE_DNN_EXPORT int cudnnCreateFilterDescriptor(void** filter) {
  return make(__func__, Kind::Kernel, filter);
}
// Here the type comes before the format.
FAKE_DNN_EXPORT int cudnnSetFilter4dDescriptor(void* filter, int type, int format, int k, int c, int h,
                                               int w) {
  return describe(__func__, Kind::Kernel, filter, format, type, k, c, h, w);
}
FAKE_DNN_EXPORT int cudnnDestroyFilterDescriptor(void* filter) {
  return destroy(__func__, Kind::Kernel, filter);
}

FAKE_DNN_EXPORT int cudnnCreateConvolutionDescriptor(void** conv) {
  return make(__func__, Kind::Convolution, conv);
}
FAKE_DNN_EXPORT int cudnnSetConvolution2dDescriptor(void* conv, int pad_h, int pad_w, int stride_h,
                                                    int stride_w, int dilation_h, int dilation_w, int mode,
                                                    int compute_type) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Convolution, conv);
    if (object == nullptr || pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 || dilation_h < 1 ||
        dilation_w < 1)
      return bad_parameter(m);
    if (mode != CUDNN_CROSS_CORRELATION || compute_type != CUDNN_DATA_FLOAT) {
      m.misuse("a turned kernel, or sums in another type than f32");
      return bad_parameter(m);
    }
    object->window = {
        true,  {pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}, 1, CUDNN_DEFAULT_MATH,
        false, false};
    return CUDNN_STATUS_SUCCESS;
  });
}
FAKE_DNN_EXPORT int cudnnSetConvolutionGroupCount(void* conv, int groups) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Convolution, conv);
    if (object == nullptr || !object->window.set || groups < 1) return bad_parameter(m);
    object->window.groups = groups;
    return CUDNN_STATUS_SUCCESS;
  });
}
FAKE_DNN_EXPORT int cudnnSetConvolutionMathType(void* conv, int math) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Convolution, conv);
    if (object == nullptr || math < CUDNN_DEFAULT_MATH || math > CUDNN_FMA_MATH) return bad_parameter(m);
    object->window.math = math;
    return CUDNN_STATUS_SUCCESS;
  });
}
FAKE_DNN_EXPORT int cudnnDestroyConvolutionDescriptor(void* conv) {
  return destroy(__func__, Kind::Convolution, conv);
}

// Forward: image, kernel, result.
FAKE_DNN_EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(void* handle, void* x, void* w, void* conv,
                                                           void* y, int most, int* count,
                                                           cudnnConvolutionFwdAlgoPerf_t* found) {
  return call(__func__, [&](Machine& m) {
    return list_ways(m, problem_of(m, handle, x, w, conv, y), false, most, count, found);
  });
}
FAKE_DNN_EXPORT int cudnnGetConvolutionForwardWorkspaceSize(void* handle, void* x, void* w, void* conv,
                                                            void* y, int algorithm, size_t* bytes) {
  return call(__func__, [&](Machine& m) {
    return size_workspace(m, problem_of(m, handle, x, w, conv, y), false, algorithm, bytes);
  });
}
FAKE_DNN_EXPORT int cudnnConvolutionForward(void* handle, const void* alpha, void* x, const void* x_data,
                                            void* w, const void* w_data, void* conv, int algorithm,
                                            void* workspace, size_t bytes, const void* beta, void* y,
                                            void* y_data) {
  return call(__func__, [&](Machine& m) {
    return run(m, problem_of(m, handle, x, w, conv, y), false, alpha, x_data, w_data, algorithm, workspace,
               bytes, beta, y_data);
  });
}

// With respect to the image: kernel, the result's gradient, the image's.
FAKE_DNN_EXPORT int cudnnGetConvolutionBackwardDataAlgorithm_v7(void* handle, void* w, void* dy, void* conv,
                                                                void* dx, int most, int* count,
                                                                cudnnConvolutionFwdAlgoPerf_t* found) {
  return call(__func__, [&](Machine& m) {
    return list_ways(m, problem_of(m, handle, dx, w, conv, dy), true, most, count, found);
  });
}
FAKE_DNN_EXPORT int cudnnGetConvolutionBackwardDataWorkspaceSize(void* handle, void* w, void* dy, void* conv,
                                                                 void* dx, int algorithm, size_t* bytes) {
  return call(__func__, [&](Machine& m) {
    return size_workspace(m, problem_of(m, handle, dx, w, conv, dy), true, algorithm, bytes);
  });
}
FAKE_DNN_EXPORT int cudnnConvolutionBackwardData(void* handle, const void* alpha, void* w, const void* w_data,
                                                 void* dy, const void* dy_data, void* conv, int algorithm,
                                                 void* workspace, size_t bytes, const void* beta, void* dx,
                                                 void* dx_data) {
  return call(__func__, [&](Machine& m) {
    return run(m, problem_of(m, handle, dx, w, conv, dy), true, alpha, dy_data, w_data, algorithm, workspace,
               bytes, beta, dx_data);
  });
}
