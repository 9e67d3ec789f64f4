// SPDX-License-Identifier: Apache-2.0
// What the cases of bw_gpu_bench are made of.
#pragma once

#include "beeswax/tensor.h"
#include "bench/gpu/cases.h"
#include "core/fail.h"

namespace beeswax::bench {

using Body = std::function<Tensor()>;

inline Tensor normal(const Shape& shape, DType dtype, const Device& device) {
  return Tensor::randn(shape, DType::F32, Device::cpu()).to_device(device).to_dtype(dtype);
}
/// Large inputs repeat a smaller random block, which the host makes quickly.
Tensor large(const Shape& shape, DType dtype, const Device& device);
Tensor ids_below(int64_t bound, const Shape& shape, const Device& device);
inline double bytes_of(DType dtype, double elements) {
  return elements * static_cast<double>(dtype_bytes(dtype, 1));
}
/// 64M, 1024K, 512.
std::string count_text(int64_t count);

/// An operation on one tensor, which reads and writes `passes` times its bytes.
GpuCase over(std::string name, const Shape& shape, DType dtype, double passes,
             std::function<Tensor(const Tensor&)> operation);

/// What peers.md of other engines does not list: other dtypes, shapes and strides.
std::vector<GpuCase> neighbour_cases(Sizes sizes);
/// Rows of lengths that are no powers of two.
std::vector<GpuCase> length_cases(Sizes sizes);
/// Matrix products, convolutions and quantized products.
std::vector<GpuCase> product_cases(Sizes sizes);

}  // namespace beeswax::bench
