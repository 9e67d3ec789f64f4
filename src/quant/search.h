// SPDX-License-Identifier: Apache-2.0
// What the scale searches (search_affine.h, search_symmetric.h, search_weighted.h) share. A search minimizes
// the weighted squared error of a block, mostly of 256 elements; all its sums run in one fixed order over
// eight lanes (lanes.h), so that every instruction-set level gets the same bits.
#pragma once

#include "quant/block.h"
#include "quant/lanes.h"

namespace beeswax::quant {

inline constexpr int kSuperBlock = 256;

BW_FN float clamp_float(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// 2^power for -126 <= power <= 127.
BW_FN float exp2_int(int power) { return bit_cast<float>(static_cast<uint32_t>(power + 127) << 23); }

/// A block as the searches want it: magnitudes at most 2 and weights at most 2, both scaled by powers of two,
/// so that no sum overflows. Values = x * 2^exponent.
struct SearchBlock {
  enum Kind { kZero, kUsable, kUnholdable };
  float x[kSuperBlock];
  float w[kSuperBlock];
  int exponent;
  Kind kind;

  /// A scale found for x as the half to be stored: NaN where it overflows.
  BW_MEMBER_FN uint16_t to_half(float scale) const { return f16_from_float(scale * exp2_int(exponent)); }
  /// A stored half as a scale for x.
  BW_MEMBER_FN float from_half(uint16_t half) const { return f16_to_float(half) * exp2_int(-exponent); }
};

/// What a block's elements are multiplied with before a search.
struct SearchScale {
  SearchBlock::Kind kind;
  int exponent;
  bool weighted;  // not: every weight is 1
  float weight_scale;
};
/// Looks at a whole block of `count`. `importance` holds one weight per element, or is null for equal
/// weights; what is not a positive number counts as zero.
BW_FN SearchScale search_scale(const float* x, const float* importance, int count = kSuperBlock) {
  const int32_t amax = max_abs_bits(x, count);
  const int exponent = (amax >> 23) - 127;
  // Beyond these no format has a half scale: they reach from 2^-24 to 65504 * 128 * 32.
  const SearchBlock::Kind kind = amax >= kInfinityBits || exponent > 40 ? SearchBlock::kUnholdable
                                 : exponent < -40                       ? SearchBlock::kZero
                                                                        : SearchBlock::kUsable;
  int32_t heaviest = 0;
  if (importance != nullptr && kind == SearchBlock::kUsable) {
    for (int i = 0; i < count; ++i) {
      const int32_t bits = bit_cast<int32_t>(importance[i]);  // negative for what is below zero
      heaviest = bits > heaviest && bits < kInfinityBits ? bits : heaviest;
    }
  }
  int shift = (heaviest >> 23) - 127;
  shift = shift > 126 ? 126 : shift;
  const bool weighted = heaviest >= 0x00800000;  // else there are no weights, or none worth the name
  return {kind, exponent, weighted, weighted ? exp2_int(-shift) : 1.0f};
}
/// Elements [first, first + count) of a usable block. A weight is at least 2^-20 of the block's largest, so
/// that elements nobody asks for still come out near their value.
BW_FN void prepare_elements(const float* x, const float* importance, const SearchScale& scale, int first,
                            int count, SearchBlock* out) {
  const float down = exp2_int(-scale.exponent);
  for (int i = first; i < first + count; ++i) out->x[i] = x[i] * down;
  if (!scale.weighted) {
    for (int i = first; i < first + count; ++i) out->w[i] = 1.0f;
    return;
  }
  for (int i = first; i < first + count; ++i) {
    const int32_t bits = bit_cast<int32_t>(importance[i]);
    const float w = bits > 0 && bits < kInfinityBits ? importance[i] * scale.weight_scale : 0.0f;
    out->w[i] = w < 0x1p-20f ? 0x1p-20f : w;
  }
}
BW_FN void prepare_search(const float* x, const float* importance, SearchBlock* out) {
  const SearchScale scale = search_scale(x, importance);
  out->kind = scale.kind;
  out->exponent = scale.exponent;
  if (scale.kind == SearchBlock::kUsable) prepare_elements(x, importance, scale, 0, kSuperBlock, out);
}

}  // namespace beeswax::quant
