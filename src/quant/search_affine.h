// SPDX-License-Identifier: Apache-2.0
// Scale search for the formats with minima (Q2_K, Q4_K, Q5_K): x = d sc q - dmin m with levels q from 0 to
// kLevels, and sc, m from 0 to kScales per sub-block of N elements.
//
// Each sub-block is first fitted alone: candidate steps quantize it, and for the levels that come out the
// best step and minimum follow from a 2x2 least-squares problem. The steps and minima are then themselves
// quantized against d and dmin, and a few rounds improve in turn the integers of each sub-block and the pair
// (d, dmin).
#pragma once

#include "quant/search.h"

namespace beeswax::quant {

/// x = step q - minimum, minimum >= 0; gain is what the fit takes off the weighted sum of squares.
struct AffineFit {
  float step, minimum, gain;
};

/// The levels nearest to (x + offset) * inverse.
BW_FN Lanes affine_levels(const Lanes& x, float inverse, float offset, float top) {
  return ((x + Lanes::all(offset)) * Lanes::all(inverse)).clamped(0.0f, top).rounded();
}

template <int N>
BW_FN AffineFit affine_fit(const float* x, const float* w, float sum_w, float sum_x, float inverse,
                           float offset, float top) {
  Lanes lanes_q = Lanes::all(0.0f), lanes_qq = lanes_q, lanes_xq = lanes_q;
  for (int i = 0; i < N; i += 8) {
    const Lanes xi = Lanes::load(x + i);
    const Lanes qi = affine_levels(xi, inverse, offset, top);
    const Lanes wq = Lanes::load(w + i) * qi;
    lanes_q = lanes_q + wq;
    lanes_qq = lanes_qq + wq * qi;
    lanes_xq = lanes_xq + wq * xi;
  }
  const float q = lanes_q.total(), qq = lanes_qq.total(), xq = lanes_xq.total();
  const float det = sum_w * qq - q * q;
  if (!(det > 1e-6f * (sum_w * qq))) return {0.0f, 0.0f, 0.0f};
  const float inverse_det = 1.0f / det;
  const float step = (sum_w * xq - sum_x * q) * inverse_det;
  const float minimum = (q * xq - sum_x * qq) * inverse_det;
  if (minimum >= 0.0f) return {step, minimum, step * xq - minimum * sum_x};
  return {xq / qq, 0.0f, xq * xq / qq};
}

/// The best step and minimum of one sub-block found by trying steps around (high - low) / kLevels.
template <int N, int kLevels>
BW_FN AffineFit affine_search(const float* x, const float* w) {
  const Range range = range_of(x, N);
  const float low = range.low < 0.0f ? range.low : 0.0f;
  const float high = range.high;
  Lanes lanes_w = Lanes::all(0.0f), lanes_x = lanes_w;
  for (int i = 0; i < N; i += 8) {
    const Lanes wi = Lanes::load(w + i);
    lanes_w = lanes_w + wi;
    lanes_x = lanes_x + wi * Lanes::load(x + i);
  }
  const float sum_w = lanes_w.total(), sum_x = lanes_x.total();
  const float span = high - low;
  if (!(span > 0x1p-60f)) return {0.0f, -low, 0.0f};
  constexpr float kTop = static_cast<float>(kLevels);
  AffineFit best{span / kTop, -low, -1.0f};
  constexpr int kCandidates = 16;
  for (int t = 0; t < kCandidates; ++t) {
    // From levels half a step wider than the data to, for few levels, clipping its ends.
    const float inverse = (kTop - 0.5f + 0.1f * static_cast<float>(t)) / span;
    const AffineFit fit = affine_fit<N>(x, w, sum_w, sum_x, inverse, -low, kTop);
    if (fit.gain > best.gain && fit.step > 0.0f) best = fit;
  }
  for (int t = 0; t < 4; ++t) {
    const AffineFit fit = affine_fit<N>(x, w, sum_w, sum_x, 1.0f / best.step, best.minimum, kTop);
    if (!(fit.gain > best.gain && fit.step > 0.0f)) break;
    best = fit;
  }
  return best;
}

/// Error of a sub-block with this step and minimum; `offset` gets the sum of w (step q - x), from which the
/// best minimum for the same levels follows.
template <int N>
BW_FN float affine_error(const float* x, const float* w, float step, float minimum, float top,
                         float* offset) {
  const float inverse = step > 0.0f ? 1.0f / step : 0.0f;
  Lanes lanes_e = Lanes::all(0.0f), lanes_o = lanes_e;
  for (int i = 0; i < N; i += 8) {
    const Lanes xi = Lanes::load(x + i), wi = Lanes::load(w + i);
    const Lanes over = Lanes::all(step) * affine_levels(xi, inverse, minimum, top) - xi;
    const Lanes e = over - Lanes::all(minimum);
    lanes_o = lanes_o + wi * over;
    lanes_e = lanes_e + wi * e * e;
  }
  *offset = lanes_o.total();
  return lanes_e.total();
}

/// A quantized block before its bits are packed.
template <int N>
struct AffineBlock {
  uint16_t d, dmin;
  uint8_t sc[kSuperBlock / N];
  uint8_t m[kSuperBlock / N];
  uint8_t q[kSuperBlock];
};

/// The integers of one sub-block for given d and dmin: tries steps beside the present one, each with the
/// minimum as it is and with the one that suits the levels.
template <int N, int kLevels, int kScales>
BW_FN void affine_improve(const float* x, const float* w, float d, float dmin, float sum_w, uint8_t* sc,
                          uint8_t* m) {
  constexpr float kTop = static_cast<float>(kLevels);
  float best = -1.0f;
  const int sc0 = *sc, m0 = *m;
  for (int delta = -1; delta <= 1; ++delta) {
    const int s = clamp_int(sc0 + delta, 0, kScales);
    int minimum = m0;
    for (int pass = 0; pass < 3; ++pass) {
      float offset;
      const float error =
          affine_error<N>(x, w, d * static_cast<float>(s), dmin * static_cast<float>(minimum), kTop, &offset);
      if (best < 0.0f || error < best) {
        best = error;
        *sc = static_cast<uint8_t>(s);
        *m = static_cast<uint8_t>(minimum);
      }
      if (!(dmin > 0.0f)) break;
      const float wanted = clamp_float(offset / (sum_w * dmin), 0.0f, static_cast<float>(kScales));
      const int next = static_cast<int>(wanted + 0.5f);
      if (next == minimum) break;
      minimum = next;
    }
  }
}

/// The integers nearest to a fit.
template <int kScales>
BW_FN void affine_integers(const AffineFit& fit, float d, float dmin, uint8_t* sc, uint8_t* m) {
  constexpr float kMost = static_cast<float>(kScales);
  const float step = d > 0.0f ? clamp_float(fit.step / d, 0.0f, kMost) : 0.0f;
  const float minimum = dmin > 0.0f ? clamp_float(fit.minimum / dmin, 0.0f, kMost) : 0.0f;
  *sc = static_cast<uint8_t>(step + 0.5f);
  *m = static_cast<uint8_t>(minimum + 0.5f);
}

/// A sub-block's part of the normal equations of d and dmin.
struct AffineTerms {
  float aa, ab, bb, xa, xb;
};
template <int N, int kLevels>
BW_FN AffineTerms affine_terms(const float* x, const float* w, float d, float dmin, int sc_integer,
                               int m_integer) {
  const float sc = static_cast<float>(sc_integer), m = static_cast<float>(m_integer);
  const float step = d * sc, minimum = dmin * m;
  const float inverse = step > 0.0f ? 1.0f / step : 0.0f;
  Lanes lanes_w = Lanes::all(0.0f), lanes_x = lanes_w, lanes_q = lanes_w, lanes_qq = lanes_w,
        lanes_xq = lanes_w;
  for (int i = 0; i < N; i += 8) {
    const Lanes xi = Lanes::load(x + i), wi = Lanes::load(w + i);
    const Lanes qi = affine_levels(xi, inverse, minimum, static_cast<float>(kLevels));
    lanes_w = lanes_w + wi;
    lanes_x = lanes_x + wi * xi;
    lanes_q = lanes_q + wi * qi;
    lanes_qq = lanes_qq + wi * qi * qi;
    lanes_xq = lanes_xq + wi * xi * qi;
  }
  return {sc * sc * lanes_qq.total(), sc * m * lanes_q.total(), m * m * lanes_w.total(),
          sc * lanes_xq.total(), m * lanes_x.total()};
}
BW_FN void add_terms(AffineTerms& sum, const AffineTerms& terms) {
  sum.aa += terms.aa;
  sum.ab += terms.ab;
  sum.bb += terms.bb;
  sum.xa += terms.xa;
  sum.xb += terms.xb;
}
/// The best d and dmin for given integers; keeps the present pair where the problem is singular.
BW_FN void affine_rescale(const SearchBlock& in, const AffineTerms& sum, uint16_t* d_half,
                          uint16_t* dmin_half) {
  const float d = in.from_half(*d_half), dmin = in.from_half(*dmin_half);
  const float det = sum.aa * sum.bb - sum.ab * sum.ab;
  float new_d = d, new_dmin = dmin;
  if (det > 1e-5f * (sum.aa * sum.bb)) {
    new_d = (sum.xa * sum.bb - sum.xb * sum.ab) / det;
    new_dmin = (sum.xa * sum.ab - sum.xb * sum.aa) / det;
  } else if (sum.aa > 0.0f && !(dmin > 0.0f)) {
    new_d = sum.xa / sum.aa;
  }
  if (!(new_d > 0.0f) || !(new_dmin >= 0.0f)) return;
  const uint16_t half_d = in.to_half(new_d), half_dmin = in.to_half(new_dmin);
  if (!half_is_finite(half_d) || !half_is_finite(half_dmin) || half_is_zero(half_d)) return;
  *d_half = half_d;
  *dmin_half = half_dmin;
}

/// The levels of a sub-block.
template <int N, int kLevels>
BW_FN void affine_quantize(const float* x, float d, float dmin, int sc, int m, uint8_t* out) {
  const float step = d * static_cast<float>(sc), minimum = dmin * static_cast<float>(m);
  const float inverse = step > 0.0f ? 1.0f / step : 0.0f;
  for (int i = 0; i < N; i += 8) {
    float q[8];
    affine_levels(Lanes::load(x + i), inverse, minimum, static_cast<float>(kLevels)).store(q);
    for (int l = 0; l < 8; ++l) out[i + l] = static_cast<uint8_t>(static_cast<int32_t>(q[l]));
  }
}

template <int N>
BW_FN float affine_weight(const float* w) {
  Lanes lanes = Lanes::all(0.0f);
  for (int i = 0; i < N; i += 8) lanes = lanes + Lanes::load(w + i);
  return lanes.total();
}

inline constexpr int kAffineRounds = 3;

/// The whole search for one block.
template <int N, int kLevels, int kScales>
BW_FN void quantize_affine(const float* x, const float* importance, AffineBlock<N>* out) {
  constexpr int kGroups = kSuperBlock / N;
  constexpr float kMost = static_cast<float>(kScales);
  SearchBlock in;
  prepare_search(x, importance, &in);
  out->d = out->dmin = in.kind == SearchBlock::kUnholdable ? kHalfNan : uint16_t{0};
  for (int g = 0; g < kGroups; ++g) out->sc[g] = out->m[g] = 0;
  for (int i = 0; i < kSuperBlock; ++i) out->q[i] = 0;
  if (in.kind != SearchBlock::kUsable) return;

  AffineFit fits[kGroups];
  float sum_w[kGroups];
  float most_step = 0.0f, most_minimum = 0.0f;
  for (int g = 0; g < kGroups; ++g) {
    fits[g] = affine_search<N, kLevels>(in.x + g * N, in.w + g * N);
    sum_w[g] = affine_weight<N>(in.w + g * N);
    most_step = fits[g].step > most_step ? fits[g].step : most_step;
    most_minimum = fits[g].minimum > most_minimum ? fits[g].minimum : most_minimum;
  }
  out->d = in.to_half(most_step / kMost);
  out->dmin = in.to_half(most_minimum / kMost);
  if (!half_is_finite(out->d) || !half_is_finite(out->dmin)) {
    out->d = out->dmin = kHalfNan;
    return;
  }
  for (int round = 0; round < kAffineRounds; ++round) {
    const float d = in.from_half(out->d), dmin = in.from_half(out->dmin);
    AffineTerms sum{};
    for (int g = 0; g < kGroups; ++g) {
      const float* xg = in.x + g * N;
      const float* wg = in.w + g * N;
      if (round == 0) affine_integers<kScales>(fits[g], d, dmin, &out->sc[g], &out->m[g]);
      affine_improve<N, kLevels, kScales>(xg, wg, d, dmin, sum_w[g], &out->sc[g], &out->m[g]);
      if (round + 1 < kAffineRounds)
        add_terms(sum, affine_terms<N, kLevels>(xg, wg, d, dmin, out->sc[g], out->m[g]));
    }
    if (round + 1 < kAffineRounds) affine_rescale(in, sum, &out->d, &out->dmin);
  }
  const float d = in.from_half(out->d), dmin = in.from_half(out->dmin);
  for (int g = 0; g < kGroups; ++g)
    affine_quantize<N, kLevels>(in.x + g * N, d, dmin, out->sc[g], out->m[g], out->q + g * N);
}

}  // namespace beeswax::quant
