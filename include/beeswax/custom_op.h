// SPDX-License-Identifier: Apache-2.0
// CustomOp: a Tensor operation of one's own, made of a function for the CPU and of a kernel for GPUs.
//
//     const CustomOp square("square",
//         {.cpu = [](const CpuCall& call) {
//            const auto x = call.input<float>(0);
//            const auto y = call.output<float>();
//            for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] * x[i];
//          },
//          .source = R"(__global__ void square(const float* x, float* y, int n) {
//            const int i = blockIdx.x * blockDim.x + threadIdx.x;
//            if (i < n) y[i] = x[i] * x[i];
//          })",
//          .launch = [](const Kernel& kernel, std::span<const Tensor> x, const Tensor& y) {
//            const int n = static_cast<int>(y.elem_count());
//            kernel.launch({.grid = {(n + 255u) / 256}, .block = {256}}, x[0], output(y), n);
//          }});
//     const Tensor y = square({x});
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "beeswax/kernel.h"
#include "beeswax/tensor.h"

namespace beeswax {

/// What the CPU function of a CustomOp works on: dense elements in row-major order.
class BW_API CpuCall {
 public:
  CpuCall(const std::string& operation, std::span<const Tensor> inputs, const Tensor& output)
      : operation_(operation), inputs_(inputs), output_(output) {}

  size_t input_count() const { return inputs_.size(); }
  const Shape& input_shape(size_t i) const { return input_tensor(i).shape(); }
  DType input_dtype(size_t i) const { return input_tensor(i).dtype(); }
  const Shape& output_shape() const { return output_.shape(); }

  /// The elements of input i, of the output. DTypeMismatch unless T is the dtype's type.
  template <class T>
  std::span<const T> input(size_t i) const {
    const std::span<std::byte> bytes = elements(input_tensor(i), kDTypeOf<T>);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> output() const {
    const std::span<std::byte> bytes = elements(output_, kDTypeOf<T>);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  const Tensor& input_tensor(size_t i) const;
  std::span<std::byte> elements(const Tensor& tensor, DType expected) const;
  const std::string& operation_;
  std::span<const Tensor> inputs_;
  const Tensor& output_;
};

/// The shape and dtype of an operation's result.
struct OutputSpec {
  Shape shape;
  DType dtype;
};

/// The parts of a CustomOp; those of a side that is not needed may be left out.
struct CustomOpParts {
  /// From inputs to the result's shape and dtype, throwing where they do not fit; where it is empty, the
  /// result is like the first input.
  std::function<OutputSpec(std::span<const Tensor> inputs)> output{};
  std::function<void(const CpuCall& call)> cpu{};
  std::string source{};  ///< of the kernel
  std::string kernel{};  ///< its name in the source; the operation's where empty
  /// Launches the kernel on dense inputs and the result, which holds at least one element.
  std::function<void(const Kernel& kernel, std::span<const Tensor> inputs, const Tensor& output)> launch{};
  KernelOptions options{};
};

/// Copies are the same operation; it may be called from many threads.
class BW_API CustomOp {
 public:
  CustomOp(std::string name, CustomOpParts parts);
  // Copies are the same operation, and moving copies: no object is without one.
  CustomOp(const CustomOp&) = default;
  CustomOp& operator=(const CustomOp&) = default;

  const std::string& name() const;
  /// A new tensor on the inputs' device, of which there is at least one. The kernel is compiled at the first
  /// call on a device. Throws DeviceMismatch where inputs lie on different devices, Unsupported where the
  /// part for their device is missing, and what the parts throw.
  Tensor operator()(std::span<const Tensor> inputs) const;
  Tensor operator()(std::initializer_list<Tensor> inputs) const {
    return (*this)(std::span<const Tensor>(inputs.begin(), inputs.size()));
  }

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace beeswax
