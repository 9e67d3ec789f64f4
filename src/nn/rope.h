// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: pairs of a head's elements are rotated by angles that grow with the position.
// Su et al., "RoFormer", 2021.
#pragma once

#include <cstdint>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::nn {

/// Which elements make a pair: neighbours (2i, 2i+1), or i and i + n/2.
enum class RopePairs { Neighbours, Halves };

class BW_API Rope {
 public:
  Rope() = default;
  /// Rotates the first `rotated` elements of each head; angle of pair i at position p: p base^(-2i/rotated) /
  /// factors[i]. `factors` may be empty. Angles are computed in f64 for positions below `positions`.
  Rope(int64_t rotated, int64_t positions, double base, RopePairs pairs,
       const std::vector<double>& factors = {});

  /// x [tokens, heads, size], f32; the first token stands at `position`. Same shape.
  Tensor apply(const Tensor& x, int64_t position) const;

 private:
  int64_t rotated_ = 0;
  RopePairs pairs_ = RopePairs::Neighbours;
  Tensor cos_, sin_;  // [positions, 1, rotated / 2]
};

}  // namespace beeswax::nn
