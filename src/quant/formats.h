// SPDX-License-Identifier: Apache-2.0
// All block formats, and what is the same for each: the value of one element and the scalar dot of a block
// with a block of its partner (quants.def names it). Adding a format: one row of quants.def, one header, one
// line here.
#pragma once

#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/q8_1.h"
#include "quant/q8_k.h"

namespace beeswax::quant {

#define BW_QUANT(Name, name, id, elements, bytes, ...) \
  static_assert(sizeof(Name) == (bytes) && Name::kElements == (elements));
#include "tables/quants.def"

/// Value of element i; the same bits as dequantize gives.
template <class Block>
BW_FN float element(const Block& block, int i) {
  if constexpr (Block::kElements == 32) {
    const float value = block_scale(block) * static_cast<float>(level(block, i));
    if constexpr (Block::kHasMin) return value + block_min(block);
    return value;
  } else {
    const int group = i >> 4;
    const float step = block_scale(block) * static_cast<float>(group_scale(block, group));
    const float value = step * static_cast<float>(level(block, i));
    if constexpr (Block::kHasMin)
      return value - block_min(block) * static_cast<float>(group_min(block, group));
    return value;
  }
}

/// Dot of a 32-element block with Q8_0 (formats without a minimum) or Q8_1.
template <class Block, class Partner>
  requires(Block::kElements == 32)
BW_FN float dot(const Block& block, const Partner& y) {
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += level(block, i) * y.qs[i];
  const float product = block_scale(block) * block_scale(y) * static_cast<float>(sum);
  if constexpr (Block::kHasMin) return product + block_min(block) * f16_to_float(y.s);
  return product;
}

/// Dot of a 256-element block with Q8_K; the sum of scaled levels is exact.
template <class Block>
  requires(Block::kElements == 256)
BW_FN float dot(const Block& block, const Q8_K& y) {
  int sum = 0, minima = 0;
  for (int group = 0; group < 16; ++group) {
    int part = 0;
    for (int l = 0; l < 16; ++l) part += level(block, group * 16 + l) * y.qs[group * 16 + l];
    sum += part * group_scale(block, group);
    if constexpr (Block::kHasMin) minima += group_min(block, group) * y.bsums[group];
  }
  const float product = block_scale(block) * y.d * static_cast<float>(sum);
  if constexpr (Block::kHasMin) return product - block_min(block) * y.d * static_cast<float>(minima);
  return product;
}

}  // namespace beeswax::quant
