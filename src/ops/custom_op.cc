// SPDX-License-Identifier: Apache-2.0
#include "beeswax/custom_op.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "ops/common.h"

namespace beeswax {

struct CustomOp::Impl {
  std::string name;
  CustomOpParts parts;
  std::shared_mutex mutex;
  std::vector<Kernel> kernels;  // one for each device that was used

  // The kernel on a device; compiled at the first call.
  Kernel kernel_on(const Device& device) {
    const auto find = [&] { return std::ranges::find(kernels, device, &Kernel::device); };
    {
      const std::shared_lock lock(mutex);
      if (const auto found = find(); found != kernels.end()) return *found;
    }
    const Kernel made =
        Kernel::compile(device, parts.source, parts.kernel.empty() ? name : parts.kernel, parts.options);
    const std::scoped_lock lock(mutex);
    if (find() == kernels.end()) kernels.push_back(made);
    return made;
  }
};

namespace {

Tensor result_of(std::string_view name, const OutputSpec& spec, const Device& device) try {
  return Tensor::empty(spec.shape, spec.dtype, device);
} catch (...) {
  ops::rethrow_as(name, {});
}

std::vector<Tensor> dense_of(std::string_view name, std::span<const Tensor> inputs) try {
  std::vector<Tensor> dense;
  for (const Tensor& input : inputs) dense.push_back(input.contiguous());
  return dense;
} catch (...) {
  ops::rethrow_as(name, {});
}

}  // namespace

CustomOp::CustomOp(std::string name, CustomOpParts parts) : impl_(std::make_shared<Impl>()) {
  impl_->name = std::move(name);
  impl_->parts = std::move(parts);
}

const std::string& CustomOp::name() const { return impl_->name; }

Tensor CustomOp::operator()(std::span<const Tensor> inputs) const {
  const std::string_view name = impl_->name;
  const CustomOpParts& parts = impl_->parts;
  if (inputs.empty())
    fail(ErrorKind::InvalidArgument, name, "it takes at least one tensor, which says the device");
  for (const Tensor& input : inputs) {
    if (!input.defined()) fail(ErrorKind::InvalidArgument, name, "an input refers to no tensor");
    ops::check_same_device(name, inputs[0], input);
  }
  const Device device = inputs[0].device();
  if (device.is_cpu() && !parts.cpu)
    fail(ErrorKind::Unsupported, name, "it has no function for the CPU; move the inputs to a GPU");
  if (!device.is_cpu() && (!parts.launch || parts.source.empty()))
    fail(ErrorKind::Unsupported, name, "it has no kernel for ", device, "; move the inputs to the CPU");
  const OutputSpec spec =
      parts.output ? parts.output(inputs) : OutputSpec{inputs[0].shape(), inputs[0].dtype()};
  Tensor out = result_of(name, spec, device);
  if (out.elem_count() == 0) return out;
  const std::vector<Tensor> dense = dense_of(name, inputs);
  if (device.is_cpu()) {
    parts.cpu(CpuCall(impl_->name, dense, out));
  } else {
    parts.launch(impl_->kernel_on(device), dense, out);
  }
  return out;
}

const Tensor& CpuCall::input_tensor(size_t i) const {
  if (i >= inputs_.size())
    fail(ErrorKind::InvalidArgument, std::string_view(operation_), "its function asks for input ", i,
         ", and the call has ", inputs_.size());
  return inputs_[i];
}

std::span<std::byte> CpuCall::elements(const Tensor& tensor, DType expected) const {
  if (tensor.dtype() != expected)
    fail(ErrorKind::DTypeMismatch, std::string_view(operation_), "its function for the CPU takes ",
         dtype_name(expected), ", and got ", tensor.describe(), "; cast with to_dtype");
  const Target target = ops::target(tensor);
  return {target.data(), ops::checked_bytes(tensor.shape(), tensor.dtype())};
}

}  // namespace beeswax
