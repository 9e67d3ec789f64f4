// SPDX-License-Identifier: Apache-2.0
// What the stand-ins share: objects that are alive, faults, the device's memory, and the sums.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fake_dnn/fake_dnn.h"

#define FAKE_DNN_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake_dnn {

enum class Type { None, F16, F32, BF16 };

/// A tensor of four dense axes; a kernel's are [result channels, image channels of a group, h, w].
struct Tensor {
  Type type = Type::None;
  int64_t dims[4] = {};
  int64_t count() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  size_t bytes() const { return static_cast<size_t>(count()) * (type == Type::F32 ? 4 : 2); }
};

struct Window {
  bool set = false;
  int64_t padding[2] = {}, stride[2] = {}, dilation[2] = {};
  int64_t groups = 1;
  int math = 0;
  bool repeatable = false, plain_f16 = false;
};

/// A plain convolution: image and kernel give the result. Empty, or what does not fit.
std::string misfit(const Tensor& image, const Tensor& kernel, const Tensor& result, const Window& window);

enum class Kind { Handle, Tensor, Kernel, Convolution };

struct Object {
  Kind kind;
  Tensor tensor;
  Window window;
  void* stream = nullptr;
};

class Machine {
 public:
  static Machine& get();
  Control control{};
  std::mutex mutex;

  /// 0, or what the fault says.
  int enter(const char* name);
  void* make(const Object& object);
  /// The object, or null and a misuse.
  Object* find(Kind kind, const void* object);
  bool release(Kind kind, void* object);
  void misuse(const std::string& what);

  /// Whether the driver knows the stream.
  bool has_stream(void* stream);
  /// Does a convolution after the stream's work: forward, or from the result's side to the image's. What lies
  /// in the workspace is overwritten. False where the driver refused a copy: memory that is not there.
  bool run(const Object& handle, const Tensor& image, const Tensor& kernel, const Tensor& result,
           const Window& window, bool transposed, const void* from, const void* weights, void* to,
           void* workspace, size_t workspace_bytes);

 private:
  Machine();
  struct Driver;
  Driver& driver();
  int64_t& count(Kind kind);
  std::map<const void*, Object> objects_;
};

/// The body of an exported function: work(machine) gives a status.
template <class Work>
int call(const char* name, const Work& work) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  const int fault = machine.enter(name);
  return fault != 0 ? fault : work(machine);
}

/// The body of a function that releases: it does so in any case.
template <class Work>
int call_release(const char* name, const Work& work) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  const int fault = machine.enter(name);
  const int status = work(machine);
  return fault != 0 ? fault : status;
}

}  // namespace fake_dnn
