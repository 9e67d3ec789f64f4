// SPDX-License-Identifier: Apache-2.0
// What convolutions promise, checked on the cases of conv_cases.h.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "support/conv_cases.h"
#include "support/numbers.h"

namespace beeswax::test {

struct ConvInputs {
  Tensor x, kernel;
  ConvInputs(const ConvCase& c, DType dtype, bool whole, uint32_t seed = 1)
      : x(tensor_of(small_numbers(c.x_shape().elem_count(), seed, whole), c.x_shape(), dtype)),
        kernel(tensor_of(small_numbers(c.kernel_shape().elem_count(), seed + 1, whole), c.kernel_shape(),
                         dtype)) {}
};

/// |got - exact| <= gamma_k |x||w| of the accumulator, and the one rounding to the dtype.
inline void expect_close(const ConvCase& c, DType dtype, const Tensor& got, const ConvCase::Exact& exact) {
  const long double unit = std::ldexp(1.0L, dtype == DType::F64 ? -53 : -24);
  const auto terms = static_cast<long double>(c.terms());
  const long double gamma = terms * unit / (1 - terms * unit);
  const bool narrow = dtype != DType::F64 && dtype != DType::F32;
  const std::vector<double> values = got.to_doubles();
  ASSERT_EQ(values.size(), exact.sum.size());
  for (size_t i = 0; i < values.size(); ++i) {
    long double bound = gamma * exact.magnitude[i];
    if (narrow) bound += ulp(dtype, std::fabs(exact.sum[i]) + bound) / 2;
    ASSERT_LE(std::fabs(values[i] - exact.sum[i]), bound)
        << c.describe() << " " << dtype_name(dtype) << " at " << i;
  }
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.to_bytes() == b.to_bytes();
}

/// Within the bound, and the same bits with other strides.
inline Tensor expect_close_and_same(const ConvCase& c, DType dtype, const ConvInputs& in) {
  const Tensor got = c.run(in.x, in.kernel);
  expect_close(c, dtype, got, c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
  EXPECT_TRUE(same_bits(c.run(strided_twin(in.x), strided_twin(in.kernel)), got)) << c.describe();
  return got;
}

}  // namespace beeswax::test
