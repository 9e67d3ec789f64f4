// SPDX-License-Identifier: Apache-2.0
#include "fake_dnn/machine.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fake_dnn {
namespace {

// A float of so many bits behind the point, and its exponents.
struct Format {
  int bits, least, most;
};
constexpr Format kHalf = {10, -14, 15}, kBrain = {7, -126, 127};

double value_of(uint16_t raw, const Format& f) {
  const int exponent = (raw & 0x7fff) >> f.bits, fraction = raw & ((1 << f.bits) - 1);
  double value = 0;
  if (exponent == f.most - f.least + 2)
    value = fraction != 0 ? std::nan("") : HUGE_VAL;
  else if (exponent == 0)
    value = std::ldexp(fraction, f.least - f.bits);
  else
    value = std::ldexp(fraction + (1 << f.bits), exponent - 1 + f.least - f.bits);
  return (raw & 0x8000) != 0 ? -value : value;
}

uint16_t raw_of(double value, const Format& f) {
  const int sign = std::signbit(value) ? 0x8000 : 0, special = (f.most - f.least + 2) << f.bits;
  if (std::isnan(value)) return static_cast<uint16_t>(special | 1);
  value = std::fabs(value);
  if (std::isinf(value)) return static_cast<uint16_t>(sign | special);
  const int exponent = value == 0 ? f.least : std::max(std::ilogb(value), f.least);
  // Nearest, ties to even, which carries into the exponent by itself.
  const auto units = static_cast<int64_t>(std::nearbyint(std::ldexp(value, f.bits - exponent)));
  const int64_t raw = (static_cast<int64_t>(exponent - f.least) << f.bits) + units;
  return static_cast<uint16_t>(sign | std::min<int64_t>(raw, special));
}

std::vector<double> numbers_of(const Tensor& tensor, const std::vector<char>& bytes) {
  std::vector<double> out(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < out.size(); ++i) {
    if (tensor.type == Type::F32) {
      float value = 0;
      std::memcpy(&value, &bytes[i * 4], 4);
      out[i] = value;
    } else {
      uint16_t raw = 0;
      std::memcpy(&raw, &bytes[i * 2], 2);
      out[i] = value_of(raw, tensor.type == Type::F16 ? kHalf : kBrain);
    }
  }
  return out;
}

std::vector<char> bytes_of(const Tensor& tensor, const std::vector<double>& numbers) {
  std::vector<char> out(tensor.bytes());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (tensor.type == Type::F32) {
      const auto value = static_cast<float>(numbers[i]);
      std::memcpy(&out[i * 4], &value, 4);
    } else {
      const uint16_t raw = raw_of(numbers[i], tensor.type == Type::F16 ? kHalf : kBrain);
      std::memcpy(&out[i * 2], &raw, 2);
    }
  }
  return out;
}

// Calls term(image, kernel, result) with flat indices for each product; positions over padding are -1.
template <class Term>
void each_term(const Tensor& image, const Tensor& kernel, const Tensor& result, const Window& window,
               const Term& term) {
  const int64_t channels = kernel.dims[1], in_group = kernel.dims[0] / window.groups;
  for (int64_t n = 0; n < result.dims[0]; ++n)
    for (int64_t k = 0; k < result.dims[1]; ++k)
      for (int64_t y = 0; y < result.dims[2]; ++y)
        for (int64_t x = 0; x < result.dims[3]; ++x)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < kernel.dims[2]; ++i)
              for (int64_t j = 0; j < kernel.dims[3]; ++j) {
                const int64_t row = y * window.stride[0] - window.padding[0] + i * window.dilation[0];
                const int64_t column = x * window.stride[1] - window.padding[1] + j * window.dilation[1];
                const bool inside = row >= 0 && row < image.dims[2] && column >= 0 && column < image.dims[3];
                const int64_t channel = k / in_group * channels + c;
                term(inside ? ((n * image.dims[1] + channel) * image.dims[2] + row) * image.dims[3] + column
                            : -1,
                     ((k * channels + c) * kernel.dims[2] + i) * kernel.dims[3] + j,
                     ((n * result.dims[1] + k) * result.dims[2] + y) * result.dims[3] + x);
              }
}

}  // namespace

std::string misfit(const Tensor& image, const Tensor& kernel, const Tensor& result, const Window& window) {
  if (image.type != kernel.type || image.type != result.type) return "types differ";
  if (image.dims[0] != result.dims[0]) return "batches differ";
  if (result.dims[1] != kernel.dims[0]) return "the result's channels are not the kernel's";
  if (window.groups < 1 || image.dims[1] % window.groups != 0 || kernel.dims[0] % window.groups != 0)
    return "channels do not divide into groups";
  if (image.dims[1] / window.groups != kernel.dims[1]) return "the image's channels are not the kernel's";
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t reach = window.dilation[axis] * (kernel.dims[axis + 2] - 1) + 1;
    const int64_t room = image.dims[axis + 2] + 2 * window.padding[axis] - reach;
    if (room < 0 || room / window.stride[axis] + 1 != result.dims[axis + 2])
      return "the result's size does not follow";
  }
  return "";
}

// The functions by which the stand-in reaches the device's memory, of whichever vendor.
struct Machine::Driver {
  int (*hip_copy)(void*, const void*, size_t, int, void*) = nullptr;
  int (*to_device)(void*, const void*, size_t, void*) = nullptr;
  int (*to_host)(void*, const void*, size_t, void*) = nullptr;
  int (*wait)(void*) = nullptr;

  Driver() {
    const char* path = std::getenv("FAKE_DNN_DRIVER");
    void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) {
      std::fprintf(stderr, "FAKE_DNN_DRIVER names no driver that this process uses\n");
      std::abort();
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    };
    find(hip_copy, "hipMemcpyAsync");
    find(to_device, "cuMemcpyHtoDAsync_v2");
    find(to_host, "cuMemcpyDtoHAsync_v2");
    find(wait, hip_copy != nullptr ? "hipStreamSynchronize" : "cuStreamSynchronize");
  }
  bool read(std::vector<char>& to, const void* from, void* stream) const {
    const int error = hip_copy != nullptr ? hip_copy(to.data(), from, to.size(), 2, stream)
                                          : to_host(to.data(), from, to.size(), stream);
    return error == 0 && wait(stream) == 0;
  }
  bool write(void* to, const std::vector<char>& from, void* stream) const {
    const int error = hip_copy != nullptr ? hip_copy(to, from.data(), from.size(), 1, stream)
                                          : to_device(to, from.data(), from.size(), stream);
    return error == 0 && wait(stream) == 0;
  }
};

Machine& Machine::get() {
  static Machine* machine = new Machine;  // the last calls may come from destructors of statics
  return *machine;
}

Machine::Machine() = default;

Machine::Driver& Machine::driver() {
  static Driver driver;
  return driver;
}

int Machine::enter(const char* name) {
  if (control.fail_nth == 0 || (control.fail_call[0] != 0 && std::strcmp(control.fail_call, name) != 0))
    return 0;
  if (--control.fail_nth > 0) return 0;
  std::snprintf(control.failed, sizeof(control.failed), "%s", name);
  return control.fail_status;
}

int64_t& Machine::count(Kind kind) {
  int64_t* const counts[] = {&control.handles, &control.tensors, &control.kernels, &control.convolutions};
  return *counts[static_cast<size_t>(kind)];
}

void Machine::misuse(const std::string& what) {
  ++control.misuses;
  std::snprintf(control.misuse, sizeof(control.misuse), "%s", what.c_str());
}

void* Machine::make(const Object& object) {
  void* address = ::operator new(1);  // an address of its own
  ++count(object.kind);
  objects_.emplace(address, object);
  return address;
}

Object* Machine::find(Kind kind, const void* object) {
  const auto found = objects_.find(object);
  if (found != objects_.end() && found->second.kind == kind) return &found->second;
  misuse("an object that is not alive, or of another kind");
  return nullptr;
}

bool Machine::release(Kind kind, void* object) {
  if (find(kind, object) == nullptr) return false;
  objects_.erase(object);
  ::operator delete(object);
  --count(kind);
  return true;
}

bool Machine::has_stream(void* stream) { return driver().wait(stream) == 0; }

bool Machine::run(const Object& handle, const Tensor& image, const Tensor& kernel, const Tensor& result,
                  const Window& window, bool transposed, const void* from, const void* weights, void* to,
                  void* workspace, size_t workspace_bytes) {
  const Tensor &input = transposed ? result : image, &output = transposed ? image : result;
  std::vector<char> x(input.bytes()), w(kernel.bytes()), garbage(workspace_bytes, char{0x5a});
  void* stream = handle.stream;
  if (driver().wait(stream) != 0 || !driver().read(x, from, stream) || !driver().read(w, weights, stream))
    return false;
  if (!garbage.empty() && !driver().write(workspace, garbage, stream)) return false;
  const std::vector<double> xs = numbers_of(input, x), ws = numbers_of(kernel, w);
  std::vector<double> sums(static_cast<size_t>(output.count()));
  each_term(image, kernel, result, window, [&](int64_t at_image, int64_t at_kernel, int64_t at_result) {
    const double weight = ws[static_cast<size_t>(at_kernel)];
    if (!transposed) {
      sums[static_cast<size_t>(at_result)] +=
          weight * (at_image < 0 ? 0.0 : xs[static_cast<size_t>(at_image)]);
    } else if (at_image >= 0) {
      sums[static_cast<size_t>(at_image)] += weight * xs[static_cast<size_t>(at_result)];
    }
  });
  if (!driver().write(to, bytes_of(output, sums), stream)) return false;
  ++control.runs;
  control.transposed += transposed ? 1 : 0;
  control.in_workspace += static_cast<int64_t>(workspace_bytes);
  return true;
}

}  // namespace fake_dnn

FAKE_DNN_EXPORT fake_dnn::Control* fake_dnn_control() { return &fake_dnn::Machine::get().control; }
