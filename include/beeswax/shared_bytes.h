// SPDX-License-Identifier: Apache-2.0
// Tensors and weights on the CPU that look into memory of another owner, a mapped file say, instead of
// copying it. They and their views keep the owner as long as they live. The memory is only read: methods
// ending in _set refuse such tensors (Aliasing); write to a copy().
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "beeswax/qtensor.h"
#include "beeswax/tensor.h"

namespace beeswax {

/// A dense tensor of these elements, as Tensor::from_bytes takes them. A copy where the bytes are not aligned
/// to the elements, and where there is no owner.
BW_API Tensor tensor_from_shared_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                       const Shape& shape, DType dtype);

/// A weight of these blocks, as QTensor::from_bytes takes them; blocks need no alignment. A copy where there
/// is no owner.
BW_API QTensor qtensor_from_shared_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                         const Shape& shape, QuantType type);

}  // namespace beeswax
