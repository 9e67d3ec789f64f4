// SPDX-License-Identifier: Apache-2.0
// Tensors as plain lists of element bits, for tests of operations that move elements or index them: reading,
// making, and laying out in memory in a random way. Index arithmetic here is done by hand, element by
// element.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::test {

using Raw = std::vector<uint64_t>;  // the bits of each element, zero-extended
using Random = std::mt19937_64;

inline int64_t pick(Random& random, int64_t lo, int64_t hi) {
  return std::uniform_int_distribution<int64_t>(lo, hi)(random);
}

/// The elements in row-major order.
inline Raw raw(const Tensor& x) {
  const std::vector<std::byte> bytes = x.to_bytes();
  const size_t size = dtype_bytes(x.dtype(), 1);
  Raw out(static_cast<size_t>(x.elem_count()), 0);
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], bytes.data() + i * size, size);
  return out;
}

inline std::vector<std::byte> raw_bytes(const Raw& values, DType dtype) {
  const size_t size = dtype_bytes(dtype, 1);
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(bytes.data() + i * size, &values[i], size);
  return bytes;
}

inline Tensor from_raw(const Raw& values, const Shape& shape, DType dtype,
                       const Device& device = Device::default_device()) {
  return Tensor::from_bytes(raw_bytes(values, dtype), shape, dtype, device);
}

/// Random bits: NaNs with payloads, infinities and subnormals included.
inline Raw random_raw(Random& random, int64_t count, DType dtype) {
  const int bits = dtype_bits(dtype);
  Raw out(static_cast<size_t>(count));
  for (uint64_t& value : out) value = bits == 64 ? random() : random() & ((uint64_t{1} << bits) - 1);
  return out;
}

/// Calls fn(index) for every index of `shape` in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& fn) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  const int64_t count = shape.elem_count();
  for (int64_t i = 0; i < count; ++i) {
    fn(index);
    for (int axis = shape.rank(); axis-- > 0;) {
      if (++index[static_cast<size_t>(axis)] < shape[axis]) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
}

/// The row-major number of an index.
inline size_t linear(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t out = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) out = out * shape[axis] + index[static_cast<size_t>(axis)];
  return static_cast<size_t>(out);
}

/// These elements as a view with an offset, axes in any order in memory, and gaps; or dense, one time in
/// three.
inline Tensor laid_out(Random& random, const Raw& values, const Shape& shape, DType dtype,
                       const Device& device = Device::default_device()) {
  if (pick(random, 0, 2) == 0) return from_raw(values, shape, dtype, device);
  std::vector<int> order(static_cast<size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  if (pick(random, 0, 1) == 0) std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(order.size(), 0);
  int64_t step = pick(random, 1, 2);
  for (size_t i = order.size(); i-- > 0;) {
    strides[static_cast<size_t>(order[i])] = step;
    step = step * std::max<int64_t>(1, shape[order[i]]) + (pick(random, 0, 2) == 0 ? 3 : 0);
  }
  const int64_t offset = pick(random, 0, 5);
  Raw memory = random_raw(random, offset + step + 1, dtype);
  size_t next = 0;
  for_each_index(shape, [&](const std::vector<int64_t>& index) {
    int64_t at = offset;
    for (size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * strides[axis];
    memory[static_cast<size_t>(at)] = values[next++];
  });
  const Tensor base = from_raw(memory, {static_cast<int64_t>(memory.size())}, dtype, device);
  return base.with_layout(Layout(shape, strides, offset));
}

inline Tensor random_tensor(Random& random, const Shape& shape, DType dtype) {
  return laid_out(random, random_raw(random, shape.elem_count(), dtype), shape, dtype);
}

inline Shape random_shape(Random& random, int rank, int64_t least, int64_t most) {
  Shape out;
  for (int axis = 0; axis < rank; ++axis) out.push_back(pick(random, least, most));
  return out;
}

}  // namespace beeswax::test
