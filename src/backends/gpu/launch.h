// SPDX-License-Identifier: Apache-2.0
// What the methods of GpuBackend share: blocks of elementwise kernels, names of kernels, numbers as element
// bytes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "backends/convert_scalar.h"
#include "backends/gpu/backend.h"
#include "backends/gpu/walk.h"
#include "beeswax/dtype.h"
#include "core/divide.h"
#include "core/fail.h"
#include "tables/gpu_limits.h"

namespace beeswax::gpu {

inline constexpr size_t kDTypes = kArithmeticDTypeCount;
inline size_t index_of(DType dtype) { return static_cast<size_t>(dtype); }
inline std::string_view name_of(size_t dtype) { return dtype_name(static_cast<DType>(dtype)); }
inline int bytes_of(DType dtype) { return static_cast<int>(dtype_bytes(dtype, 1)); }
/// 0 to 3 for elements of 1, 2, 4 and 8 bytes.
inline size_t size_index(DType dtype) {
  return static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(bytes_of(dtype))));
}

inline uint32_t blocks_for(int64_t elements, int64_t in_block) {
  return static_cast<uint32_t>(ceil_div(elements, in_block));
}
/// The launch of map_dense for `count` elements, by the bytes of its operands' elements and the packs of a
/// thread.
inline LaunchShape dense_shape(int64_t count, std::initializer_list<int> inputs, int output, int packs = 1) {
  const int narrowest = std::min(std::min(inputs), output), widest = std::max(std::max(inputs), output);
  const int64_t in_block = int64_t{kMapThreads} * map_elements(narrowest, widest, output) * packs;
  return {{blocks_for(count, in_block), 1, 1}, kMapThreads, 0};
}
/// The launch of map_strided.
inline LaunchShape strided_shape(int64_t count) {
  return {{blocks_for(count, int64_t{kMapThreads} * kStridedElements), 1, 1}, kMapThreads, 0};
}

/// The bytes of a number as one element of a dtype.
inline uint64_t bits_of(const Scalar& value, DType dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, ScalarBytes(value, dtype).data(), sizeof(bits));
  return bits;
}

/// Where an element lies; `offset` in elements.
inline std::byte* at(const std::byte* data, int64_t offset, DType dtype) {
  return const_cast<std::byte*>(data) + offset * bytes_of(dtype);
}

/// What a kernel that can find errors reports them with.
inline Reporter reporter(const Gpu& gpu, const Kernel& kernel) {
  return {gpu.error_slot(), reinterpret_cast<uint64_t>(&kernel)};
}

}  // namespace beeswax::gpu
