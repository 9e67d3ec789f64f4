// SPDX-License-Identifier: Apache-2.0
// The stand-in for libMIOpen. Numbers and rules are those of AMD's documentation, not of src/:
//   miopenStatus_t         rocm.docs.amd.com/projects/MIOpen/en/docs-6.1.2/doxygen/html/miopen_8h.html
//   miopenDataType_t       rocm.docs.amd.com/projects/MIOpen/en/latest/datatypes.html
//   modes, algorithms, attributes, and parameters in their order
//                          rocm.docs.amd.com/projects/MIOpen/en/docs-6.2.0/doxygen/html/group__convolutions.html
//   miopenConvSolution_t   .../docs-6.3.3/doxygen/html/structmiopen_conv_solution__t.html
//   the immediate mode     .../docs-6.2.2/how-to/find-and-immediate.html
// What is answered to wrong arguments follows ROCm/MIOpen's src/convolution.cpp, src/tensor.cpp and
// src/ocl/convolutionocl.cpp: BadParm for what does not fit together, NotImplemented where no solution is
// left.
#include <algorithm>

#include "fake_dnn/machine.h"

using fake_dnn::call;
using fake_dnn::call_release;
using fake_dnn::Kind;
using fake_dnn::Machine;
using fake_dnn::Object;
using fake_dnn::Tensor;
using fake_dnn::Type;

namespace {

constexpr int miopenStatusSuccess = 0, miopenStatusBadParm = 3, miopenStatusInternalError = 5,
              miopenStatusNotImplemented = 6, miopenStatusUnknownError = 7;
constexpr int miopenHalf = 0, miopenFloat = 1, miopenBFloat16 = 5;
constexpr int miopenConvolution = 0, miopenTranspose = 1;
constexpr int MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL = 0, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1;
constexpr int miopenConvolutionAlgoGEMM = 0, miopenConvolutionAlgoDirect = 1,
              miopenConvolutionAlgoWinograd = 3;

struct miopenConvSolution_t {
  float time;
  size_t workspace_size;
  uint64_t solution_id;
  int algorithm;
};

// A problem whose parts are alive, and belong together.
struct Problem {
  const Object* handle = nullptr;
  Tensor image, kernel, result;
  fake_dnn::Window window;
  int status = miopenStatusBadParm;
};

Problem problem_of(Machine& m, const void* handle, const void* image, const void* kernel, const void* conv,
                   const void* result) {
  Problem p;
  const Object *h = m.find(Kind::Handle, handle), *x = m.find(Kind::Tensor, image),
               *w = m.find(Kind::Tensor, kernel), *c = m.find(Kind::Convolution, conv),
               *y = m.find(Kind::Tensor, result);
  if (h == nullptr || x == nullptr || w == nullptr || c == nullptr || y == nullptr) return p;
  p.handle = h;
  p.image = x->tensor;
  p.kernel = w->tensor;
  p.result = y->tensor;
  p.window = c->window;
  if (!p.window.set || p.image.type == Type::None) {
    m.misuse("a descriptor that nothing was written into");
    return p;
  }
  if (const std::string what = misfit(p.image, p.kernel, p.result, p.window); !what.empty()) {
    m.misuse(what);
    return p;
  }
  if (!p.window.repeatable) m.misuse("results that need not repeat");
  if (p.image.type == Type::F16 && !p.window.plain_f16) m.misuse("f16 that may be taken to bf16");
  p.status = miopenStatusSuccess;
  return p;
}

// The solutions, fastest first. Winograd's takes square windows of 3; the product wants the windows side by
// side; the direct one takes what is left. "For group/depthwise convolution [...] only a dilation value of 1
// is supported", says the documentation of miopenInitConvolutionDescriptor.
std::vector<miopenConvSolution_t> solutions_of(const Machine& m, const Problem& p) {
  std::vector<miopenConvSolution_t> out;
  const auto& w = p.window;
  if (m.control.nothing || (w.groups > 1 && (w.dilation[0] > 1 || w.dilation[1] > 1))) return out;
  if (p.kernel.dims[2] == 3 && p.kernel.dims[3] == 3)
    out.push_back({0.5F, size_t{1} << 33, 11, miopenConvolutionAlgoWinograd});
  if (m.control.only_transforms) return out;
  if (w.groups == 1) {
    const int64_t columns = p.kernel.dims[1] * p.kernel.dims[2] * p.kernel.dims[3] * p.result.dims[2] *
                            p.result.dims[3] * (p.image.type == Type::F32 ? 4 : 2);
    out.push_back(
        {1.0F, static_cast<size_t>(columns) + m.control.workspace_bytes, 22, miopenConvolutionAlgoGEMM});
  }
  out.push_back({2.0F, m.control.workspace_bytes, 33, miopenConvolutionAlgoDirect});
  return out;
}

int count_solutions(Machine& m, const Problem& p, size_t* count) {
  if (p.status != miopenStatusSuccess) return p.status;
  *count = solutions_of(m, p).size();
  return *count == 0 ? miopenStatusNotImplemented : miopenStatusSuccess;
}

int list_solutions(Machine& m, const Problem& p, size_t most, size_t* count, miopenConvSolution_t* out) {
  if (p.status != miopenStatusSuccess) return p.status;
  const auto all = solutions_of(m, p);
  *count = std::min(most, all.size());
  std::copy_n(all.begin(), *count, out);
  return miopenStatusSuccess;
}

const miopenConvSolution_t* solution(const std::vector<miopenConvSolution_t>& all, uint64_t id) {
  for (const auto& s : all)
    if (s.solution_id == id) return &s;
  return nullptr;
}

int compile(Machine& m, const Problem& p, uint64_t id) {
  if (p.status != miopenStatusSuccess) return p.status;
  if (solution(solutions_of(m, p), id) == nullptr) return miopenStatusBadParm;
  ++m.control.compiled;
  return miopenStatusSuccess;
}

int run(Machine& m, const Problem& p, bool transposed, const void* from, const void* weights, void* to,
        void* workspace, size_t bytes, uint64_t id) {
  if (p.status != miopenStatusSuccess) return p.status;
  if (from == nullptr || weights == nullptr || to == nullptr) return miopenStatusBadParm;
  if ((workspace == nullptr) != (bytes == 0)) {
    m.misuse("a workspace and its size that do not match");
    return miopenStatusBadParm;
  }
  const auto all = solutions_of(m, p);
  const auto* chosen = solution(all, id);
  if (chosen == nullptr) return miopenStatusBadParm;
  if (bytes < chosen->workspace_size) {
    m.misuse("too small a workspace");
    return miopenStatusUnknownError;
  }
  return m.run(*p.handle, p.image, p.kernel, p.result, p.window, transposed, from, weights, to, workspace,
               bytes)
             ? miopenStatusSuccess
             : miopenStatusInternalError;
}

int make(const char* name, Kind kind, void** out) {
  return call(name, [&](Machine& m) {
    if (out == nullptr) return miopenStatusBadParm;
    *out = m.make({kind, {}, {}, nullptr});
    return miopenStatusSuccess;
  });
}

int destroy(const char* name, Kind kind, void* object) {
  return call_release(
      name, [&](Machine& m) { return m.release(kind, object) ? miopenStatusSuccess : miopenStatusBadParm; });
}

}  // namespace

FAKE_DNN_EXPORT const char* miopenGetErrorString(int status) {
  switch (status) {
    case miopenStatusSuccess:
      return "miopenStatusSuccess";
    case miopenStatusBadParm:
      return "miopenStatusBadParm";
    case miopenStatusInternalError:
      return "miopenStatusInternalError";
    case miopenStatusNotImplemented:
      return "miopenStatusNotImplemented";
    default:
      return "miopenStatusUnknownError";
  }
}
FAKE_DNN_EXPORT int miopenGetVersion(size_t* major, size_t* minor, size_t* patch) {
  *major = 3;
  *minor = 2;
  *patch = 1;
  return miopenStatusSuccess;
}

FAKE_DNN_EXPORT int miopenCreateWithStream(void** handle, void* stream) {
  return call(__func__, [&](Machine& m) {
    if (!m.has_stream(stream)) return miopenStatusBadParm;
    *handle = m.make({Kind::Handle, {}, {}, stream});
    return miopenStatusSuccess;
  });
}
FAKE_DNN_EXPORT int miopenDestroy(void* handle) { return destroy(__func__, Kind::Handle, handle); }

FAKE_DNN_EXPORT int miopenCreateTensorDescriptor(void** tensor) {
  return make(__func__, Kind::Tensor, tensor);
}
FAKE_DNN_EXPORT int miopenSet4dTensorDescriptor(void* tensor, int type, int n, int c, int h, int w) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Tensor, tensor);
    if (object == nullptr || n <= 0 || c <= 0 || h <= 0 || w <= 0) return miopenStatusBadParm;
    const Type known = type == miopenHalf       ? Type::F16
                       : type == miopenFloat    ? Type::F32
                       : type == miopenBFloat16 ? Type::BF16
                                                : Type::None;
    if (known == Type::None) {
      m.misuse("a type that convolutions do not take");
      return miopenStatusBadParm;
    }
    object->tensor = {known, {n, c, h, w}};
    return miopenStatusSuccess;
  });
}
FAKE_DNN_EXPORT int miopenDestroyTensorDescriptor(void* tensor) {
  return destroy(__func__, Kind::Tensor, tensor);
}

FAKE_DNN_EXPORT int miopenCreateConvolutionDescriptor(void** conv) {
  return make(__func__, Kind::Convolution, conv);
}
FAKE_DNN_EXPORT int miopenInitConvolutionDescriptor(void* conv, int mode, int pad_h, int pad_w, int stride_h,
                                                    int stride_w, int dilation_h, int dilation_w) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Convolution, conv);
    if (object == nullptr || pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 || dilation_h < 1 ||
        dilation_w < 1)
      return miopenStatusBadParm;
    if (mode != miopenConvolution) {
      // The transposing mode turns forward and backward round; nobody here means it.
      m.misuse(mode == miopenTranspose ? "the transposing mode" : "a mode that is not there");
      return miopenStatusBadParm;
    }
    object->window = {true,  {pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}, 1, 0,
                      false, false};
    return miopenStatusSuccess;
  });
}
FAKE_DNN_EXPORT int miopenSetConvolutionGroupCount(void* conv, int groups) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Convolution, conv);
    if (object == nullptr || !object->window.set || groups < 1) return miopenStatusBadParm;
    object->window.groups = groups;
    return miopenStatusSuccess;
  });
}
FAKE_DNN_EXPORT int miopenSetConvolutionAttribute(void* conv, int attribute, int value) {
  return call(__func__, [&](Machine& m) {
    Object* object = m.find(Kind::Convolution, conv);
    if (object == nullptr) return miopenStatusBadParm;
    if (attribute == MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL && value >= -1 && value <= 1)
      object->window.plain_f16 = value == 0;
    else if (attribute == MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC && value >= 0 && value <= 1)
      object->window.repeatable = value == 1;
    else
      return miopenStatusBadParm;
    return miopenStatusSuccess;
  });
}
FAKE_DNN_EXPORT int miopenDestroyConvolutionDescriptor(void* conv) {
  return destroy(__func__, Kind::Convolution, conv);
}

// Forward: the kernel comes before the image.
FAKE_DNN_EXPORT int miopenConvolutionForwardGetSolutionCount(void* handle, void* w, void* x, void* conv,
                                                             void* y, size_t* count) {
  return call(__func__,
              [&](Machine& m) { return count_solutions(m, problem_of(m, handle, x, w, conv, y), count); });
}
FAKE_DNN_EXPORT int miopenConvolutionForwardGetSolution(void* handle, void* w, void* x, void* conv, void* y,
                                                        size_t most, size_t* count,
                                                        miopenConvSolution_t* solutions) {
  return call(__func__, [&](Machine& m) {
    return list_solutions(m, problem_of(m, handle, x, w, conv, y), most, count, solutions);
  });
}
FAKE_DNN_EXPORT int miopenConvolutionForwardCompileSolution(void* handle, void* w, void* x, void* conv,
                                                            void* y, uint64_t id) {
  return call(__func__, [&](Machine& m) { return compile(m, problem_of(m, handle, x, w, conv, y), id); });
}
FAKE_DNN_EXPORT int miopenConvolutionForwardImmediate(void* handle, void* w, const void* w_data, void* x,
                                                      const void* x_data, void* conv, void* y, void* y_data,
                                                      void* workspace, size_t bytes, uint64_t id) {
  return call(__func__, [&](Machine& m) {
    return run(m, problem_of(m, handle, x, w, conv, y), false, x_data, w_data, y_data, workspace, bytes, id);
  });
}

// With respect to the image: the result's gradient comes first, the image's last.
FAKE_DNN_EXPORT int miopenConvolutionBackwardDataGetSolutionCount(void* handle, void* dy, void* w, void* conv,
                                                                  void* dx, size_t* count) {
  return call(__func__,
              [&](Machine& m) { return count_solutions(m, problem_of(m, handle, dx, w, conv, dy), count); });
}
FAKE_DNN_EXPORT int miopenConvolutionBackwardDataGetSolution(void* handle, void* dy, void* w, void* conv,
                                                             void* dx, size_t most, size_t* count,
                                                             miopenConvSolution_t* solutions) {
  return call(__func__, [&](Machine& m) {
    return list_solutions(m, problem_of(m, handle, dx, w, conv, dy), most, count, solutions);
  });
}
FAKE_DNN_EXPORT int miopenConvolutionBackwardDataCompileSolution(void* handle, void* dy, void* w, void* conv,
                                                                 void* dx, uint64_t id) {
  return call(__func__, [&](Machine& m) { return compile(m, problem_of(m, handle, dx, w, conv, dy), id); });
}
FAKE_DNN_EXPORT int miopenConvolutionBackwardDataImmediate(void* handle, void* dy, const void* dy_data,
                                                           void* w, const void* w_data, void* conv, void* dx,
                                                           void* dx_data, void* workspace, size_t bytes,
                                                           uint64_t id) {
  return call(__func__, [&](Machine& m) {
    return run(m, problem_of(m, handle, dx, w, conv, dy), true, dy_data, w_data, dx_data, workspace, bytes,
               id);
  });
}
