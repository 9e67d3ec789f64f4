// SPDX-License-Identifier: Apache-2.0
// Inputs that matter for a dtype, and errors in units in the last place.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::test {

/// Precision (bits of the significand), smallest normal exponent and largest value of a float dtype.
struct FloatTraits {
  int precision;
  int min_exponent;
  double largest;
  bool has_infinity;
};

inline FloatTraits float_traits(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return {11, -14, 65504.0, true};
    case DType::BF16:
      return {8, -126, 3.3895313892515355e38, true};
    case DType::F8E4M3:
      return {4, -6, 448.0, false};
    case DType::F64:
      return {53, -1022, std::numeric_limits<double>::max(), true};
    default:
      return {24, -126, std::numeric_limits<float>::max(), true};
  }
}

/// The gap between neighbouring values of `dtype` around `value`.
inline long double ulp(DType dtype, long double value) {
  const FloatTraits traits = float_traits(dtype);
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = value == 0 ? traits.min_exponent : std::max(exponent - 1, traits.min_exponent);
  return std::ldexp(1.0L, exponent - traits.precision + 1);
}

/// |got - exact| in ulps of `dtype`; 0 where both are NaN, where both overflow alike, and infinity where only
/// one is NaN. A dtype without infinities saturates.
inline double ulp_error(DType dtype, double got, long double exact) {
  const FloatTraits traits = float_traits(dtype);
  const auto largest = static_cast<long double>(traits.largest);
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) == std::isnan(exact) ? 0 : HUGE_VAL;
  if (!traits.has_infinity) exact = std::fmin(std::fmax(exact, -largest), largest);
  // An infinite result stands for the first value that rounds to it.
  const long double overflow = largest + ulp(dtype, largest);
  const auto finite = [&](long double x) { return std::isinf(x) ? std::copysign(overflow, x) : x; };
  exact = std::fmin(std::fmax(finite(exact), -overflow), overflow);
  return static_cast<double>(std::fabs(finite(got) - exact) / ulp(dtype, exact));
}

/// Special values of any float dtype, as doubles (they round to the dtype when stored).
inline std::vector<double> special_floats(DType dtype) {
  const FloatTraits traits = float_traits(dtype);
  const double tiny = std::ldexp(1.0, traits.min_exponent);
  const double least = std::ldexp(1.0, traits.min_exponent - traits.precision + 1);
  std::vector<double> out;
  for (double x : {0.0,
                   0.5,
                   1.0,
                   1.5,
                   2.0,
                   2.5,
                   3.0,
                   0.1,
                   10.0,
                   tiny,
                   least,
                   3 * least,
                   tiny - least,
                   traits.largest,
                   std::sqrt(traits.largest),
                   88.0,
                   89.5,
                   700.0,
                   104.5,
                   1e-3,
                   1 + 4.0 * std::ldexp(1.0, -traits.precision)}) {
    out.push_back(x);
    out.push_back(-x);
  }
  if (traits.has_infinity) {
    out.push_back(HUGE_VAL);
    out.push_back(-HUGE_VAL);
  }
  out.push_back(std::nan(""));
  return out;
}

/// `count` numbers: the special ones, then uniform ones in [lo, hi), then ones of every exponent.
inline std::vector<double> float_inputs(DType dtype, size_t count, double lo, double hi, uint32_t seed) {
  std::vector<double> out = special_floats(dtype);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(lo, hi);
  const FloatTraits traits = float_traits(dtype);
  std::uniform_int_distribution<int> exponent(traits.min_exponent - traits.precision,
                                              std::ilogb(traits.largest));
  while (out.size() < count) {
    const double x = uniform(random);
    out.push_back(out.size() % 4 != 0 ? x
                                      : std::ldexp(1 + std::fabs(uniform(random)) / 1e9, exponent(random)));
  }
  out.resize(count);
  return out;
}

/// Whole numbers that an integer dtype holds: its edges, then uniform ones in [lo, hi].
inline std::vector<int64_t> int_inputs(DType dtype, size_t count, int64_t lo, int64_t hi, uint32_t seed) {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  switch (dtype) {
    case DType::U8:
      least = 0, most = 255;
      break;
    case DType::U32:
      least = 0, most = 4294967295;
      break;
    case DType::I16:
      least = -32768, most = 32767;
      break;
    case DType::I32:
      least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
      break;
    default:
      break;
  }
  std::vector<int64_t> out = {0, 1, 2, 3, least, most, least + 1, most - 1};
  if (least < 0) out.insert(out.end(), {-1, -2, -3});
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> uniform(std::max(lo, least), std::min(hi, most));
  while (out.size() < count) out.push_back(uniform(random));
  out.resize(count);
  return out;
}

/// Small numbers, so that sums of any dtype stay far from overflow.
inline std::vector<double> small_numbers(int64_t count, uint32_t seed, bool whole) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int> integer(-3, 3);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& x : out) x = whole ? integer(random) : real(random);
  return out;
}

/// A dense tensor of `dtype` holding these numbers, rounded.
inline Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype,
                        const Device& device = Device::default_device()) {
  return Tensor::from_vec(values, shape, device).to_dtype(dtype);
}
inline Tensor tensor_of(const std::vector<int64_t>& values, const Shape& shape, DType dtype,
                        const Device& device = Device::default_device()) {
  return Tensor::from_vec(values, shape, device).to_dtype(dtype);
}

/// The same elements behind other strides: transposed in memory, with gaps and an offset.
inline Tensor strided_twin(const Tensor& x) {
  const Tensor turned = x.rank() < 2 ? x : x.t();
  Shape doubled = turned.shape();
  doubled.push_back(2);
  const Tensor spread = turned.unsqueeze(-1).broadcast_as(doubled).copy().narrow(-1, 1, 1).squeeze(-1);
  return x.rank() < 2 ? spread : spread.t();
}

}  // namespace beeswax::test
