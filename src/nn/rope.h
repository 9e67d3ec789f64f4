// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: pairs of a head's elements are rotated by angles that grow with the position.
// Su et al., "RoFormer", 2021.
#pragma once

#include <cstdint>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::nn {

/// How a model was stretched to contexts longer than it was first trained for.
struct RopeScaling {
  std::vector<double> factors = {};  ///< angle of pair i is divided by factors[i]; empty: by 1
  double magnitude = 1;              ///< what rotated elements are multiplied by
};

/// YaRN (Peng et al., 2023): pairs that turn more than `fast` times within the `trained` positions keep their
/// speed, those that turn less than `slow` times are slowed down by `factor`, and those between are blended.
/// `magnitude` 0 is the paper's: 1 + ln(factor) / 10.
struct Yarn {
  double factor = 1;
  int64_t trained = 0;
  double fast = 32, slow = 1;
  double magnitude = 0;
};
BW_API RopeScaling yarn_scaling(int64_t rotated, double base, const Yarn& yarn);

class BW_API Rope {
 public:
  Rope() = default;
  /// Rotates the first `rotated` elements of each head; angle of pair i at position p: p base^(-2i/rotated) /
  /// factors[i]. Angles are computed in f64 for positions below `positions`.
  Rope(int64_t rotated, int64_t positions, double base, RopePairs pairs, const RopeScaling& scaling = {},
       const Device& device = {});

  RopePairs pairs() const { return pairs_; }
  /// What elements are rotated by, [positions, 1, rotated / 2].
  const Tensor& cos() const { return cos_; }
  const Tensor& sin() const { return sin_; }

  /// x [tokens, heads, size], f32; the first token stands at `position`. Same shape.
  Tensor apply(const Tensor& x, int64_t position) const;

 private:
  RopePairs pairs_ = RopePairs::Neighbours;
  Tensor cos_, sin_;  // [positions, 1, rotated / 2]
};

}  // namespace beeswax::nn
