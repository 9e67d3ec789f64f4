// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/chunks.h"

#include "core/fail.h"

namespace beeswax::cpu {

size_t compute_index(DType compute) {
  switch (compute) {
#define BW_X(Name, ctype) \
  case DType::Name:       \
    return static_cast<size_t>(ComputeType::Name);
    BW_COMPUTE_TYPES(BW_X)
#undef BW_X
    default:
      fail(ErrorKind::Internal, "cpu", dtype_name(compute), " has no loops");
  }
}

ChunkInput::ChunkInput(const Argument& argument, DType wanted) {
  if (argument.is_scalar()) {
    // A number is rounded to the tensor's dtype first, then widened, so that it equals a tensor of that
    // number.
    alignas(8) std::byte widened[8];
    const ScalarBytes element(argument.scalar, argument.operand.dtype);
    const CastLoop convert = conversion(argument.operand.dtype, wanted);
    if (convert != nullptr) convert(element.data(), widened, 1);
    copy_kernels().gather[size_class(dtype_bytes(wanted, 1))](
        scalar_block_.data(), convert != nullptr ? widened : element.data(), 0, kMostChunk);
    return;
  }
  base_ = argument.operand.data();
  bytes_ = dtype_bytes(argument.operand.dtype, 1);
  conversion_ = conversion(argument.operand.dtype, wanted);
}

}  // namespace beeswax::cpu
