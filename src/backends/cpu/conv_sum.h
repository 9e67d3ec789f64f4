// SPDX-License-Identifier: Apache-2.0
// ConvSum: what convolutions and transposed convolutions have in common on the CPU, a sum over channels and
// taps. Output (g, co, oy, ox) of an image is
//   sum over ci, ty, tx of kernel[g, co, ci, ty, tx] * x[g, ci, y.at(oy, ty), x.at(ox, tx)],
// where positions outside the input are zeros. The terms are numbered k = (ci * taps_y + ty) * taps_x + tx
// and added in the order of the matrix product (gemm.h): so the bits depend on the shape of the sum alone.
#pragma once

#include "backends/cpu/conv_tile.h"

namespace beeswax::cpu {

struct ConvSum : ConvInput {
  int64_t c_out;            // per group
  const std::byte* kernel;  // [groups * c_out][terms], dense
  std::byte* out;           // the groups' channels follow each other
  int64_t out_batch, out_channel, out_row, out_column;
};

/// Writes every output of the sum.
void conv_sum(const ConvSum& sum);

}  // namespace beeswax::cpu
