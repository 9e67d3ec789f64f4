// SPDX-License-Identifier: Apache-2.0
// Tensors of elements that a file has in a narrower type than any dtype of ours.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "beeswax/tensor.h"
#include "core/storage.h"

namespace beeswax::io {

/// A tensor on the CPU of these elements, each as a To. `bytes` holds as many as the shape.
template <class From, class To>
Tensor widened(std::span<const std::byte> bytes, const Shape& shape) {
  Tensor out = Tensor::empty(shape, kDTypeOf<To>, Device::cpu());
  std::byte* to = out.storage().data();
  for (size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, bytes.data() + i * sizeof(From), sizeof(From));
    const To value = from;
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
  return out;
}

}  // namespace beeswax::io
