// SPDX-License-Identifier: Apache-2.0
#include "nn/rope.h"

#include <cmath>

#include "core/fail.h"

namespace beeswax::nn {

Rope::Rope(int64_t rotated, int64_t positions, double base, RopePairs pairs,
           const std::vector<double>& factors)
    : rotated_(rotated), pairs_(pairs) {
  const int64_t half = rotated / 2;
  if (rotated <= 0 || rotated % 2 != 0)
    fail(ErrorKind::InvalidArgument, "rope", "rotates ", rotated,
         " elements of a head; an even number is needed");
  if (!factors.empty() && static_cast<int64_t>(factors.size()) != half)
    fail(ErrorKind::InvalidArgument, "rope", "has ", factors.size(), " frequency factors for ", half,
         " pairs");
  std::vector<float> cosines, sines;
  cosines.reserve(static_cast<size_t>(positions * half));
  sines.reserve(static_cast<size_t>(positions * half));
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t i = 0; i < half; ++i) {
      const double divisor = factors.empty() ? 1 : factors[static_cast<size_t>(i)];
      const double angle = static_cast<double>(p) *
                           std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(rotated)) /
                           divisor;
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  cos_ = Tensor::from_vec(cosines, {positions, 1, half});
  sin_ = Tensor::from_vec(sines, {positions, 1, half});
}

Tensor Rope::apply(const Tensor& x, int64_t position) const {
  const int64_t tokens = x.dim(0), heads = x.dim(1), size = x.dim(2), half = rotated_ / 2;
  const Tensor cos = cos_.narrow(0, position, tokens);
  const Tensor sin = sin_.narrow(0, position, tokens);
  const Tensor turned = size == rotated_ ? x : x.narrow(2, 0, rotated_);
  Tensor out;
  if (pairs_ == RopePairs::Neighbours) {
    const Tensor pairs = turned.reshape({tokens, heads, half, 2});
    const Tensor a = pairs.get_on_dim(3, 0), b = pairs.get_on_dim(3, 1);
    out = Tensor::stack({a * cos - b * sin, a * sin + b * cos}, 3).reshape({tokens, heads, rotated_});
  } else {
    const Tensor a = turned.narrow(2, 0, half), b = turned.narrow(2, half, half);
    out = Tensor::cat({a * cos - b * sin, a * sin + b * cos}, 2);
  }
  return size == rotated_ ? out : Tensor::cat({out, x.narrow(2, rotated_, size - rotated_)}, 2);
}

}  // namespace beeswax::nn
