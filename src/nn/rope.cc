// SPDX-License-Identifier: Apache-2.0
#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/fail.h"

namespace beeswax::nn {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// The pair, as a fraction, that turns `turns` times within `positions`.
double pair_that_turns(double turns, int64_t rotated, double base, int64_t positions) {
  return static_cast<double>(rotated) * std::log(static_cast<double>(positions) / (turns * kTurn)) /
         (2 * std::log(base));
}

}  // namespace

RopeScaling yarn_scaling(int64_t rotated, double base, const Yarn& yarn) {
  if (!(yarn.factor > 0) || yarn.trained <= 0 || !(base > 1) || !(yarn.fast > 0) || !(yarn.slow > 0))
    fail(ErrorKind::InvalidArgument, "rope", "YaRN by ", yarn.factor, " of ", yarn.trained,
         " positions, base ", base, ", turns ", yarn.fast, " and ", yarn.slow, ": all must be positive");
  double first = std::floor(pair_that_turns(yarn.fast, rotated, base, yarn.trained));
  double last = std::ceil(pair_that_turns(yarn.slow, rotated, base, yarn.trained));
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(rotated - 1));
  if (first == last) last += 0.001;
  RopeScaling out;
  for (int64_t i = 0; i < rotated / 2; ++i) {
    const double slowed = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    out.factors.push_back(1 / (slowed / yarn.factor + (1 - slowed)));
  }
  out.magnitude = yarn.magnitude > 0 ? yarn.magnitude : yarn.factor > 1 ? 1 + 0.1 * std::log(yarn.factor) : 1;
  return out;
}

Rope::Rope(int64_t rotated, int64_t positions, double base, RopePairs pairs, const RopeScaling& scaling,
           const Device& device)
    : pairs_(pairs) {
  const int64_t half = rotated / 2;
  const std::vector<double>& factors = scaling.factors;
  if (rotated <= 0 || rotated % 2 != 0)
    fail(ErrorKind::InvalidArgument, "rope", "rotates ", rotated,
         " elements of a head; an even number is needed");
  if (!factors.empty() && static_cast<int64_t>(factors.size()) != half)
    fail(ErrorKind::InvalidArgument, "rope", "has ", factors.size(), " frequency factors for ", half,
         " pairs");
  std::vector<float> cosines, sines;
  cosines.reserve(static_cast<size_t>(positions * half));
  sines.reserve(static_cast<size_t>(positions * half));
  std::vector<double> speeds;
  for (int64_t i = 0; i < half; ++i)
    speeds.push_back(std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(rotated)) /
                     (factors.empty() ? 1 : factors[static_cast<size_t>(i)]));
  for (int64_t p = 0; p < positions; ++p) {
    for (const double speed : speeds) {
      const double angle = static_cast<double>(p) * speed;
      cosines.push_back(static_cast<float>(std::cos(angle) * scaling.magnitude));
      sines.push_back(static_cast<float>(std::sin(angle) * scaling.magnitude));
    }
  }
  cos_ = Tensor::from_vec(cosines, {positions, 1, half}, device);
  sin_ = Tensor::from_vec(sines, {positions, 1, half}, device);
}

Tensor Rope::apply(const Tensor& x, int64_t position) const {
  return x.rope(cos_.narrow(0, position, x.dim(0)), sin_.narrow(0, position, x.dim(0)), pairs_);
}

}  // namespace beeswax::nn
