// SPDX-License-Identifier: Apache-2.0
// Scale search for the formats with blocks of 32 (Q4_0, Q5_0: x = d q; Q4_1, Q5_1: x = d q + m), for where
// elements have weights; without them their formulas stand.
//
// Candidate steps quantize the block, and for the levels that come out the best step (and minimum) follows by
// least squares. What is found is compared, as the halves that it becomes, with what the formula gives, so
// the weighted error is never larger than the formula's. That is the error with the weights that the search
// computes with, none of them less than 2^-20 of the block's largest; with smaller weights as they are given
// it can be larger.
#pragma once

#include "quant/search_affine.h"
#include "quant/search_symmetric.h"

namespace beeswax::quant {

/// A block as its search reads it: magnitudes and weights at most 2, scaled by powers of two. Nothing is
/// copied: device code has no memory for that.
struct WeightedBlock {
  const float* x;
  const float* importance;
  float down, up, weight_scale;

  BW_MEMBER_FN Lanes values(int i) const { return Lanes::load(x + i) * Lanes::all(down); }
  /// No weight counts as less than 2^-20 of the largest.
  BW_MEMBER_FN Lanes weights(int i) const {
    return (Lanes::load(importance + i) * Lanes::all(weight_scale)).clamped(0x1p-20f, 2.0f);
  }
};

/// Whether there is something to search for: a usable block, and weights.
BW_FN bool prepare_weighted(const float* x, const float* importance, WeightedBlock* out) {
  if (importance == nullptr) return false;
  const SearchScale scale = search_scale(x, importance, 32);
  if (scale.kind != SearchBlock::kUsable || !scale.weighted) return false;
  *out = {x, importance, exp2_int(-scale.exponent), exp2_int(scale.exponent), scale.weight_scale};
  return true;
}

/// The level of one element, as the lanes have it: nearest, ties to even.
BW_FN int weighted_level(float x, float inverse, float low, float top) {
  return static_cast<int32_t>((clamp_float(x * inverse, low, top) + 12582912.0f) - 12582912.0f);
}

template <int kLevels>
BW_FN SymmetricSums weighted_sums(const WeightedBlock& in, float inverse) {
  Lanes xq = Lanes::all(0.0f), qq = xq;
  for (int i = 0; i < 32; i += 8) {
    const Lanes x = in.values(i), q = symmetric_levels<kLevels>(x, inverse);
    const Lanes wq = in.weights(i) * q;
    xq = xq + wq * x;
    qq = qq + wq * q;
  }
  return {xq.total(), qq.total()};
}

template <int kLevels>
BW_FN float weighted_error(const WeightedBlock& in, float step) {
  Lanes sum = Lanes::all(0.0f);
  for (int i = 0; i < 32; i += 8) {
    const Lanes x = in.values(i);
    const Lanes e = x - Lanes::all(step) * symmetric_levels<kLevels>(x, 1.0f / step);
    sum = sum + in.weights(i) * e * e;
  }
  return sum.total();
}

/// The scale of a block with levels from -kLevels to kLevels - 1; `plain` is the formula's, and no zero or
/// NaN.
template <int kLevels>
BW_FN uint16_t weighted_scale(const WeightedBlock& in, uint16_t plain) {
  const float extreme = f16_to_float(plain) * in.down * -static_cast<float>(kLevels);
  SymmetricFit best{f16_to_float(plain) * in.down, -1.0f};
  constexpr int kCandidates = 16;
  for (int side = 0; side < 2; ++side) {
    const float end = side == 0 ? -static_cast<float>(kLevels) : static_cast<float>(kLevels - 1);
    for (int t = 0; t < kCandidates; ++t) {
      // From steps that leave room beyond the extreme to such that clip it.
      const float beyond = -2.0f + 0.2f * static_cast<float>(t);
      const SymmetricSums sums =
          weighted_sums<kLevels>(in, (side == 0 ? end - beyond : end + beyond) / extreme);
      if (sums.qq > 0.0f && sums.xq * sums.xq > best.gain * sums.qq)
        best = {sums.xq / sums.qq, sums.xq * sums.xq / sums.qq};
    }
  }
  for (int t = 0; t < 4; ++t) {
    if (best.step == 0.0f) return plain;
    const SymmetricSums sums = weighted_sums<kLevels>(in, 1.0f / best.step);
    if (!(sums.qq > 0.0f && sums.xq * sums.xq > best.gain * sums.qq)) break;
    best = {sums.xq / sums.qq, sums.xq * sums.xq / sums.qq};
  }
  const uint16_t found = f16_from_float(best.step * in.up);
  if (half_is_zero(found) || !half_is_finite(found)) return plain;
  return weighted_error<kLevels>(in, f16_to_float(found) * in.down) <
                 weighted_error<kLevels>(in, f16_to_float(plain) * in.down)
             ? found
             : plain;
}

/// A scale and a minimum as they are stored.
struct HalfPair {
  uint16_t d, m;
};

template <int kTop>
BW_FN float weighted_error(const WeightedBlock& in, float step, float minimum) {
  Lanes sum = Lanes::all(0.0f);
  for (int i = 0; i < 32; i += 8) {
    const Lanes x = in.values(i) - Lanes::all(minimum);
    const Lanes e = x - Lanes::all(step) * affine_levels(x, 1.0f / step, 0.0f, static_cast<float>(kTop));
    sum = sum + in.weights(i) * e * e;
  }
  return sum.total();
}
template <int kTop>
BW_FN float weighted_error(const WeightedBlock& in, const HalfPair& pair) {
  return weighted_error<kTop>(in, f16_to_float(pair.d) * in.down, f16_to_float(pair.m) * in.down);
}

/// x - base = step q + minimum; gain is what the fit takes off the weighted sum of squares.
struct FreeFit {
  float step, minimum, gain;
};
template <int kTop>
BW_FN FreeFit weighted_fit(const WeightedBlock& in, float base, float inverse, float minimum) {
  Lanes w = Lanes::all(0.0f), x = w, q = w, qq = w, xq = w;
  for (int i = 0; i < 32; i += 8) {
    const Lanes xi = in.values(i) - Lanes::all(base), wi = in.weights(i);
    const Lanes qi = affine_levels(xi, inverse, -minimum, static_cast<float>(kTop));
    const Lanes wq = wi * qi;
    w = w + wi;
    x = x + wi * xi;
    q = q + wq;
    qq = qq + wq * qi;
    xq = xq + wq * xi;
  }
  const float sw = w.total(), sx = x.total(), sq = q.total(), sqq = qq.total(), sxq = xq.total();
  const float det = sw * sqq - sq * sq;
  if (!(det > 1e-6f * (sw * sqq))) return {0.0f, 0.0f, 0.0f};
  const float step = (sw * sxq - sx * sq) / det, least = (sx * sqq - sq * sxq) / det;
  return {step, least, step * sxq + least * sx};
}

/// The scale and minimum of a block with levels from 0 to kTop; `plain` are the formula's, and no NaN.
template <int kTop>
BW_FN HalfPair weighted_pair(const WeightedBlock& in, const HalfPair& plain) {
  // Values count from the least one, so that sums of squares are those of what differs.
  const Range range = range_of(in.x, 32);
  const float base = range.low * in.down, span = range.high * in.down - base;
  if (!(span > 0x1p-60f)) return plain;
  FreeFit best{span / static_cast<float>(kTop), 0.0f, -1.0f};
  constexpr int kCandidates = 16;
  for (int side = 0; side < 2; ++side) {
    for (int t = 0; t < kCandidates; ++t) {
      // From levels half a step wider than the data to such that clip one end.
      const float inverse = (static_cast<float>(kTop) - 0.5f + 0.2f * static_cast<float>(t)) / span;
      const float minimum = side == 0 ? 0.0f : span - static_cast<float>(kTop) / inverse;
      const FreeFit fit = weighted_fit<kTop>(in, base, inverse, minimum);
      if (fit.gain > best.gain && fit.step > 0.0f) best = fit;
    }
  }
  for (int t = 0; t < 4; ++t) {
    const FreeFit fit = weighted_fit<kTop>(in, base, 1.0f / best.step, best.minimum);
    if (!(fit.gain > best.gain && fit.step > 0.0f)) break;
    best = fit;
  }
  const HalfPair found = {f16_from_float(best.step * in.up), f16_from_float((base + best.minimum) * in.up)};
  if (half_is_zero(found.d) || !half_is_finite(found.d) || !half_is_finite(found.m)) return plain;
  return weighted_error<kTop>(in, found) < weighted_error<kTop>(in, plain) ? found : plain;
}

}  // namespace beeswax::quant
