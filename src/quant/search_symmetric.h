// SPDX-License-Identifier: Apache-2.0
// Scale search for the formats without minima (Q3_K, Q6_K): x = d sc q with levels q from -kLevels to
// kLevels - 1 and signed sc from -kScales to kScales - 1 per sub-block of 16 elements.
//
// Each sub-block is first fitted alone: candidate steps of either sign quantize it, and for the levels that
// come out the best step is a ratio of sums. The steps are then quantized against d, and a few rounds improve
// in turn the integer of each sub-block and d.
#pragma once

#include "quant/search.h"

namespace beeswax::quant {

/// x = step q; gain is what the fit takes off the weighted sum of squares.
struct SymmetricFit {
  float step, gain;
};

struct SymmetricSums {
  float xq, qq;
};

/// The levels nearest to x * inverse.
template <int kLevels>
BW_FN Lanes symmetric_levels(const Lanes& x, float inverse) {
  return (x * Lanes::all(inverse))
      .clamped(-static_cast<float>(kLevels), static_cast<float>(kLevels - 1))
      .rounded();
}

/// Sums over the levels that a step of 1 / inverse gives.
template <int kLevels>
BW_FN SymmetricSums symmetric_sums(const float* x, const float* w, float inverse) {
  Lanes lanes_xq = Lanes::all(0.0f), lanes_qq = lanes_xq;
  for (int i = 0; i < 16; i += 8) {
    const Lanes xi = Lanes::load(x + i);
    const Lanes qi = symmetric_levels<kLevels>(xi, inverse);
    const Lanes wq = Lanes::load(w + i) * qi;
    lanes_xq = lanes_xq + wq * xi;
    lanes_qq = lanes_qq + wq * qi;
  }
  return {lanes_xq.total(), lanes_qq.total()};
}

template <int kLevels>
BW_FN SymmetricFit symmetric_search(const float* x, const float* w) {
  const int32_t amax = max_abs_bits(x, 16);
  const float extreme = first_with_abs_bits(x, 16, amax);
  if (bit_cast<float>(amax) < 0x1p-60f) return {0.0f, 0.0f};
  SymmetricFit best{-extreme / static_cast<float>(kLevels), -1.0f};
  constexpr int kCandidates = 16;
  constexpr float kFirst = kLevels <= 4 ? -0.9f : -1.5f;
  constexpr int kSides = kLevels <= 4 ? 2 : 1;  // with many levels the odd one out does not matter
  for (int side = 0; side < kSides; ++side) {
    const float end = side == 0 ? -static_cast<float>(kLevels) : static_cast<float>(kLevels - 1);
    for (int t = 0; t < kCandidates; ++t) {
      const float beyond = kFirst + 0.2f * static_cast<float>(t);
      const float inverse = (side == 0 ? end - beyond : end + beyond) / extreme;
      const SymmetricSums sums = symmetric_sums<kLevels>(x, w, inverse);
      if (sums.qq > 0.0f && sums.xq * sums.xq > best.gain * sums.qq)
        best = {sums.xq / sums.qq, sums.xq * sums.xq / sums.qq};
    }
  }
  for (int t = 0; t < 4; ++t) {
    const SymmetricSums sums = symmetric_sums<kLevels>(x, w, 1.0f / best.step);
    if (!(sums.qq > 0.0f && sums.xq * sums.xq > best.gain * sums.qq)) break;
    best = {sums.xq / sums.qq, sums.xq * sums.xq / sums.qq};
  }
  return best;
}

template <int kLevels>
BW_FN float symmetric_error(const float* x, const float* w, float step) {
  const float inverse = step != 0.0f ? 1.0f / step : 0.0f;
  Lanes lanes = Lanes::all(0.0f);
  for (int i = 0; i < 16; i += 8) {
    const Lanes xi = Lanes::load(x + i);
    const Lanes e = xi - Lanes::all(step) * symmetric_levels<kLevels>(xi, inverse);
    lanes = lanes + Lanes::load(w + i) * e * e;
  }
  return lanes.total();
}

/// A quantized block before its bits are packed.
struct SymmetricBlock {
  uint16_t d;
  int8_t sc[16];
  int8_t q[kSuperBlock];
};

/// The integer for a sub-block's step that has the least error, of `middle` and its neighbours.
template <int kLevels, int kScales>
BW_FN int symmetric_integer(const float* x, const float* w, float d, int middle) {
  float least = -1.0f;
  int best = middle;
  for (int delta = -1; delta <= 1; ++delta) {
    const int sc = clamp_int(middle + delta, -kScales, kScales - 1);
    const float error = symmetric_error<kLevels>(x, w, d * static_cast<float>(sc));
    if (least < 0.0f || error < least) {
      least = error;
      best = sc;
    }
  }
  return best;
}
template <int kScales>
BW_FN int nearest_integer(float step, float d) {
  constexpr float kMost = static_cast<float>(kScales);
  return round_away(clamp_float(step / d, -kMost, kMost - 1.0f));
}

/// A sub-block's part of the best d, xa / aa.
struct SymmetricTerms {
  float xa, aa;
};
template <int kLevels>
BW_FN SymmetricTerms symmetric_terms(const float* x, const float* w, float d, int integer) {
  const float sc = static_cast<float>(integer);
  const SymmetricSums sums = symmetric_sums<kLevels>(x, w, 1.0f / (d * sc));
  return {sc * sums.xq, sc * sc * sums.qq};
}
/// Whether d could be improved.
BW_FN bool symmetric_rescale(const SearchBlock& in, const SymmetricTerms& sum, uint16_t* d) {
  if (!(sum.aa > 0.0f)) return false;
  const uint16_t half = in.to_half(sum.xa / sum.aa);
  if (half_is_zero(half) || !half_is_finite(half)) return false;
  *d = half;
  return true;
}

/// The levels of a sub-block.
template <int kLevels>
BW_FN void symmetric_quantize(const float* x, float d, int sc, int8_t* out) {
  const float step = d * static_cast<float>(sc);
  const float inverse = step != 0.0f ? 1.0f / step : 0.0f;
  for (int i = 0; i < 16; i += 8) {
    float q[8];
    symmetric_levels<kLevels>(Lanes::load(x + i), inverse).store(q);
    for (int l = 0; l < 8; ++l) out[i + l] = static_cast<int8_t>(static_cast<int32_t>(q[l]));
  }
}

/// d from the steps of the sub-blocks.
template <int kScales>
BW_FN uint16_t symmetric_scale(const SearchBlock& in, const float* steps) {
  const float most = first_with_abs_bits(steps, 16, max_abs_bits(steps, 16));
  return half_scale(most / -static_cast<float>(kScales) * exp2_int(in.exponent), true);
}

inline constexpr int kSymmetricRounds = 2;

template <int kLevels, int kScales>
BW_FN void quantize_symmetric(const float* x, const float* importance, SymmetricBlock* out) {
  SearchBlock in;
  prepare_search(x, importance, &in);
  out->d = in.kind == SearchBlock::kUnholdable ? kHalfNan : uint16_t{0};
  for (int g = 0; g < 16; ++g) out->sc[g] = 0;
  for (int i = 0; i < kSuperBlock; ++i) out->q[i] = 0;
  if (in.kind != SearchBlock::kUsable) return;

  float steps[16];
  for (int g = 0; g < 16; ++g) steps[g] = symmetric_search<kLevels>(in.x + g * 16, in.w + g * 16).step;
  out->d = symmetric_scale<kScales>(in, steps);
  if (half_is_zero(out->d) || !half_is_finite(out->d)) return;
  for (int round = 0; round < kSymmetricRounds; ++round) {
    const float d = in.from_half(out->d);
    SymmetricTerms sum{};
    for (int g = 0; g < 16; ++g) {
      const float* xg = in.x + g * 16;
      const float* wg = in.w + g * 16;
      const int middle = round == 0 ? nearest_integer<kScales>(steps[g], d) : out->sc[g];
      const int sc = symmetric_integer<kLevels, kScales>(xg, wg, d, middle);
      out->sc[g] = static_cast<int8_t>(sc);
      if (round + 1 == kSymmetricRounds || sc == 0) continue;
      const SymmetricTerms terms = symmetric_terms<kLevels>(xg, wg, d, sc);
      sum.xa += terms.xa;
      sum.aa += terms.aa;
    }
    if (round + 1 == kSymmetricRounds || !symmetric_rescale(in, sum, &out->d)) break;
  }
  const float d = in.from_half(out->d);
  for (int g = 0; g < 16; ++g) symmetric_quantize<kLevels>(in.x + g * 16, d, out->sc[g], out->q + g * 16);
}

}  // namespace beeswax::quant
