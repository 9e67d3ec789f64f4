// SPDX-License-Identifier: Apache-2.0
// Options of operations that take many.
#pragma once

#include <cstdint>

namespace beeswax {

/// The same value serves both axes of a 2-D convolution.
struct ConvOptions {
  int64_t padding = 0;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t groups = 1;
  int64_t output_padding = 0;  ///< transposed convolutions only
};

/// The comparisons of Tensor::cmp: Eq, Ne, Lt, Le, Gt and Ge.
enum class CompareOp {
#define BW_COMPARE(Name, ...) Name,
#include "tables/binary.def"
};

/// Which elements of an axis make a pair: neighbours (2i, 2i+1), or those of its halves (i, i + n/2).
enum class RopePairs { Neighbours, Halves };

}  // namespace beeswax
