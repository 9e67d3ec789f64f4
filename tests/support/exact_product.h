// SPDX-License-Identifier: Apache-2.0
// Products by their definition, and how far a result may be from it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/numbers.h"

namespace beeswax::test {

/// How far a product of `terms` terms may be from the exact sum: the accumulator's bound, and one rounding.
inline long double bound_of(DType dtype, int64_t terms, long double exact, long double magnitude,
                            long double unit_of_half = 0x1p-24L) {
  const bool half = dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F8E4M3;
  const long double unit = dtype == DType::F64 ? 0x1p-53L : half ? unit_of_half : 0x1p-24L;
  const auto k = static_cast<long double>(terms);
  long double bound = k * unit / (1 - k * unit) * magnitude;
  if (dtype != DType::F64 && dtype != DType::F32) bound += test::ulp(dtype, std::fabs(exact) + bound) / 2;
  return bound;
}

/// What [batch, m, k] x [batch, k, n] is, and the sums of the terms' magnitudes.
struct ExactProduct {
  Shape shape;
  int64_t terms;
  std::vector<long double> sums, magnitudes;

  ExactProduct(const Tensor& a, const Tensor& b)
      : shape({a.dim(0), a.dim(1), b.dim(2)}), terms(a.dim(2)), sums(count()), magnitudes(count()) {
    const int64_t m = a.dim(1), n = b.dim(2);
    const std::vector<double> x = a.to_doubles(), w = b.to_doubles();
    for (int64_t i = 0; i < shape.elem_count(); ++i) {
      const int64_t column = i % n, row = i / n % m, at = i / n / m;
      for (int64_t p = 0; p < terms; ++p) {
        const long double term =
            static_cast<long double>(x[static_cast<size_t>((at * m + row) * terms + p)]) *
            w[static_cast<size_t>((at * terms + p) * n + column)];
        sums[static_cast<size_t>(i)] += term;
        magnitudes[static_cast<size_t>(i)] += std::fabs(term);
      }
    }
  }
  size_t count() const { return static_cast<size_t>(shape.elem_count()); }
  /// `unit_of_half`: of the accumulator of f16, bf16 and f8e4m3, where matrix units cut what others round.
  void expect(const Tensor& got, const std::string& what, long double unit_of_half = 0x1p-24L) const {
    ASSERT_EQ(got.shape(), shape);
    const std::vector<double> y = got.to_doubles();
    for (size_t i = 0; i < count(); ++i)
      ASSERT_LE(std::fabs(y[i] - sums[i]), bound_of(got.dtype(), terms, sums[i], magnitudes[i], unit_of_half))
          << what << " at " << i;
  }
};
inline void expect_product(const Tensor& a, const Tensor& b, const Tensor& got) {
  ExactProduct(a, b).expect(got, a.describe() + " by " + b.describe());
}

}  // namespace beeswax::test
