// SPDX-License-Identifier: Apache-2.0
// What a tensor is, and the ways to the host.
#include "beeswax/tensor.h"

#include "backends/backend.h"
#include "core/fail.h"
#include "core/os/memory.h"
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

size_t Tensor::check_host_copy(std::string_view operation, DType expected) const try {
  if (expected != dtype())
    fail(ErrorKind::DTypeMismatch, operation, "the tensor ", describe(), " holds ", dtype_name(dtype()),
         ", not ", dtype_name(expected), "; cast with to_dtype first");
  const auto count = static_cast<size_t>(elem_count());
  // A view can have far more elements than its storage.
  const size_t bytes = ops::checked_bytes(shape(), dtype());
  if (bytes > os::physical_memory_bytes())
    fail(ErrorKind::OutOfMemory, operation, describe(), " takes ", bytes,
         " bytes, more than this machine's memory (", os::physical_memory_bytes(), " bytes)");
  return count;
} catch (...) {
  ops::rethrow_as(operation, {*this});
}

void Tensor::rethrow_as(std::string_view operation) const { ops::rethrow_as(operation, {*this}); }

namespace {

[[noreturn]] void fail_host_memory(std::string_view operation, const Tensor& x) {
  fail(ErrorKind::OutOfMemory, operation, x.describe(),
       " takes more bytes than the system has left of this machine's memory (", os::physical_memory_bytes(),
       " bytes)");
}

}  // namespace

void Tensor::refuse_host_copy(std::string_view operation) const {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    fail_host_memory(operation, *this);
  } catch (const std::length_error&) {
    fail_host_memory(operation, *this);
  } catch (...) {
    rethrow_as(operation);
  }
}

void Tensor::copy_to_host(void* out) const {
  const Tensor dense = contiguous();
  const size_t bytes = dtype_bytes(dtype(), static_cast<size_t>(elem_count()));
  const size_t offset = dtype_bytes(dtype(), static_cast<size_t>(dense.layout().offset()));
  backend_for(device()).download(dense.storage(), offset, {static_cast<std::byte*>(out), bytes});
}

void Tensor::require_one_element() const {
  if (elem_count() != 1)
    fail(ErrorKind::ShapeMismatch, "to_scalar", "the tensor ", describe(),
         " does not have exactly one element");
}

void Tensor::require_room(std::string_view operation, size_t room, size_t wanted) const {
  if (room != wanted)
    fail(ErrorKind::ShapeMismatch, operation, "the tensor ", describe(), " has ", wanted,
         " elements, the memory for them holds ", room);
}

void Tensor::require_rank(std::string_view operation, int rank) const {
  if (rank != this->rank())
    fail(ErrorKind::ShapeMismatch, operation, "expected rank ", rank, ", got ", describe());
}

void Tensor::fail_ragged(size_t expected, size_t got) {
  fail(ErrorKind::InvalidArgument, "of", "the lists are ragged: one has ", got,
       " elements, the first one of its level has ", expected);
}

std::vector<std::byte> Tensor::to_bytes() const try {
  const size_t bytes = dtype_bytes(dtype(), check_host_copy("to_bytes", dtype()));
  return on_host("to_bytes", [&] {
    std::vector<std::byte> out(bytes);
    copy_to_host(out.data());
    return out;
  });
} catch (...) {
  ops::rethrow_as("to_bytes", {*this});
}

std::vector<double> Tensor::to_doubles() const try {
  return to_dtype(DType::F64).to_vec<double>();
} catch (...) {
  rethrow_as("to_doubles");
}

Tensor Tensor::to_device(const Device& device) const try {
  if (device == this->device()) return *this;
  const Tensor dense = contiguous();
  Tensor out = empty(shape(), dtype(), device);
  const size_t bytes = dtype_bytes(dtype(), static_cast<size_t>(elem_count()));
  const size_t offset = dtype_bytes(dtype(), static_cast<size_t>(dense.layout().offset()));
  if (bytes == 0) return out;
  if (this->device().is_cpu()) {
    backend_for(device).upload(out.storage(), 0, {dense.storage().data() + offset, bytes});
  } else {
    backend_for(device).copy_from(dense.storage(), offset, out.storage(), bytes);
  }
  return out;
} catch (...) {
  ops::rethrow_as("to_device", {*this});
}

void Device::synchronize() const { backend_for(*this).synchronize(); }

}  // namespace beeswax
