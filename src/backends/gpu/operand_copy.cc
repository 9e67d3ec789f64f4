// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/operand_copy.h"

#include "backends/gpu/launch.h"

namespace beeswax::gpu {

OperandCopy::OperandCopy(Backend& backend, const Operand& x, const Layout& layout, int64_t elements)
    : layout_(layout), storage_(backend.allocate(dtype_bytes(x.dtype, static_cast<size_t>(elements)))) {
  operand_ = {storage_.get(), &layout_, x.dtype};
  backend.copy(x, {storage_.get(), &layout_, x.dtype});
}

OperandCopy dense_or_copy(Backend& backend, const Operand& x, int64_t alignment) {
  const Shape& shape = x.layout->shape();
  const int64_t count = shape.elem_count();
  if (count == 0 || (x.layout->is_contiguous() && begins_at(x.data(), alignment))) return OperandCopy(x);
  return OperandCopy(backend, x, Layout(shape), count);
}

}  // namespace beeswax::gpu
