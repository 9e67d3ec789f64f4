// SPDX-License-Identifier: Apache-2.0
// What a tensor is, and the ways to the host.
#include "beeswax/tensor.h"

#include "backends/backend.h"
#include "core/fail.h"
#include "core/storage.h"
#include "ops/common.h"

namespace beeswax {

const TensorImpl& Tensor::impl() const {
  if (!impl_) fail(ErrorKind::InvalidArgument, "tensor", "the tensor is undefined (default-constructed)");
  return static_cast<const TensorImpl&>(*impl_);
}

const Layout& Tensor::layout() const { return impl().layout; }
DType Tensor::dtype() const { return impl().dtype; }
Device Tensor::device() const { return storage().device(); }
Storage& Tensor::storage() const { return *impl().storage; }
uint64_t Tensor::id() const { return impl().id; }
uint64_t Tensor::version() const { return storage().version(); }
int64_t Tensor::dim(int axis) const { return shape()[shape().axis(axis, "dim")]; }
int64_t Tensor::elem_count() const { return shape().elem_count(); }

std::string Tensor::describe() const { return join_text(shape(), " ", dtype_name(dtype()), " ", device()); }

Tensor Tensor::with_layout(const Layout& layout) const { return {impl().storage, layout, dtype()}; }

void Tensor::copy_to_host(void* out, DType expected) const {
  if (expected != dtype())
    fail(ErrorKind::DTypeMismatch, "to_vec", "the tensor ", describe(), " holds ", dtype_name(dtype()),
         ", not ", dtype_name(expected), "; cast with to_dtype first");
  const Tensor dense = contiguous();
  const size_t bytes = dtype_bytes(dtype(), static_cast<size_t>(elem_count()));
  const size_t offset = dtype_bytes(dtype(), static_cast<size_t>(dense.layout().offset()));
  Backend& backend = backend_for(device());
  backend.synchronize();
  backend.download(dense.storage(), offset, {static_cast<std::byte*>(out), bytes});
}

void Tensor::require_one_element() const {
  if (elem_count() != 1)
    fail(ErrorKind::ShapeMismatch, "to_scalar", "the tensor ", describe(),
         " does not have exactly one element");
}

std::vector<std::byte> Tensor::to_bytes() const {
  std::vector<std::byte> out(dtype_bytes(dtype(), static_cast<size_t>(elem_count())));
  copy_to_host(out.data(), dtype());
  return out;
}

std::vector<double> Tensor::to_doubles() const { return to_dtype(DType::F64).to_vec<double>(); }

Tensor Tensor::to_device(const Device& device) const {
  if (device == this->device()) return *this;
  Tensor out = empty(shape(), dtype(), device);
  const std::vector<std::byte> bytes = to_bytes();
  backend_for(device).upload(out.storage(), 0, bytes);
  return out;
}

void Device::synchronize() const { backend_for(*this).synchronize(); }

}  // namespace beeswax
