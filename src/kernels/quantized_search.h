// SPDX-License-Identifier: Apache-2.0
// The scale searches of the K formats (quant/search_affine.h, quant/search_symmetric.h): a thread searches
// for one sub-block, and the threads of a block agree on its scales through shared memory, adding in the
// order of the CPU.
//   floors: some thousand float operations for each value
#pragma once

#include "kernels/gpu_words.h"
#include "kernels/quantized.h"

namespace beeswax::gpu {

/// What a thread works on.
struct SearchPlace {
  uint32_t slot;  // of the block in shared memory
  int group;      // sub-block
  uint32_t at;    // block
  bool inside;    // otherwise it repeats the last block, and writes nothing
  const float* x;
  const float* importance;
};
template <int kGroups>
BW_DEVICE SearchPlace search_place(const QuantizeArgs& args) {
  SearchPlace place;
  place.slot = thread() / kGroups;
  place.group = static_cast<int>(thread() % kGroups);
  const uint32_t at = block() * (kQuantizeThreads / kGroups) + place.slot;
  place.inside = at < args.count;
  place.at = place.inside ? at : args.count - 1;
  place.x = args.x + uint64_t{place.at} * quant::kSuperBlock;
  place.importance =
      args.importance == nullptr ? nullptr : args.importance + place.at % args.per_row * quant::kSuperBlock;
  return place;
}

template <int N>
struct AffineShared {
  quant::SearchBlock in;
  quant::AffineBlock<N> found;
  float step[quant::kSuperBlock / N], minimum[quant::kSuperBlock / N];
  quant::AffineTerms terms[quant::kSuperBlock / N];
};

template <class Block, int N, int kLevels, int kScales>
BW_DEVICE void quantize_affine(const QuantizeArgs& args, AffineShared<N>* shared) {
  constexpr int kGroups = quant::kSuperBlock / N;
  const SearchPlace place = search_place<kGroups>(args);
  AffineShared<N>& mine = shared[place.slot];
  const int g = place.group;
  const quant::SearchScale scale = quant::search_scale(place.x, place.importance);
  bool usable = scale.kind == quant::SearchBlock::kUsable;
  if (g == 0) mine.in.exponent = scale.exponent;
  const float* x = mine.in.x + g * N;
  const float* w = mine.in.w + g * N;
  quant::AffineFit fit{0.0f, 0.0f, 0.0f};
  float weight = 0.0f;
  if (usable) {
    quant::prepare_elements(place.x, place.importance, scale, g * N, N, &mine.in);
    fit = quant::affine_search<N, kLevels>(x, w);
    weight = quant::affine_weight<N>(w);
  }
  mine.step[g] = fit.step;
  mine.minimum[g] = fit.minimum;
  barrier();
  uint16_t d = scale.kind == quant::SearchBlock::kUnholdable ? quant::kHalfNan : uint16_t{0}, dmin = d;
  if (usable) {
    float most_step = 0.0f, most_minimum = 0.0f;
    for (int i = 0; i < kGroups; ++i) {
      most_step = mine.step[i] > most_step ? mine.step[i] : most_step;
      most_minimum = mine.minimum[i] > most_minimum ? mine.minimum[i] : most_minimum;
    }
    d = mine.in.to_half(most_step / static_cast<float>(kScales));
    dmin = mine.in.to_half(most_minimum / static_cast<float>(kScales));
    if (!quant::half_is_finite(d) || !quant::half_is_finite(dmin)) {
      d = dmin = quant::kHalfNan;
      usable = false;
    }
  }
  uint8_t sc = 0, m = 0;
#pragma unroll 1
  for (int round = 0; round < quant::kAffineRounds; ++round) {
    if (usable) {
      const float from_d = mine.in.from_half(d), from_dmin = mine.in.from_half(dmin);
      if (round == 0) quant::affine_integers<kScales>(fit, from_d, from_dmin, &sc, &m);
      quant::affine_improve<N, kLevels, kScales>(x, w, from_d, from_dmin, weight, &sc, &m);
      mine.terms[g] = quant::affine_terms<N, kLevels>(x, w, from_d, from_dmin, sc, m);
    }
    barrier();
    if (usable && round + 1 < quant::kAffineRounds) {
      quant::AffineTerms sum{};
      for (int i = 0; i < kGroups; ++i) quant::add_terms(sum, mine.terms[i]);
      quant::affine_rescale(mine.in, sum, &d, &dmin);
    }
    barrier();
  }
  if (usable) {
    quant::affine_quantize<N, kLevels>(x, mine.in.from_half(d), mine.in.from_half(dmin), sc, m,
                                       mine.found.q + g * N);
  } else {
    for (int i = 0; i < N; ++i) mine.found.q[g * N + i] = 0;
  }
  mine.found.sc[g] = sc;
  mine.found.m[g] = m;
  if (g == 0) {
    mine.found.d = d;
    mine.found.dmin = dmin;
  }
  barrier();
  if (place.inside && g == 0) quant::pack(mine.found, static_cast<Block*>(args.blocks) + place.at);
}

struct SymmetricShared {
  quant::SearchBlock in;
  quant::SymmetricBlock found;
  float step[16];
  quant::SymmetricTerms terms[16];
};

template <class Block, int kLevels, int kScales>
BW_DEVICE void quantize_symmetric(const QuantizeArgs& args, SymmetricShared* shared) {
  const SearchPlace place = search_place<16>(args);
  SymmetricShared& mine = shared[place.slot];
  const int g = place.group;
  const quant::SearchScale scale = quant::search_scale(place.x, place.importance);
  bool usable = scale.kind == quant::SearchBlock::kUsable;
  if (g == 0) mine.in.exponent = scale.exponent;
  const float* x = mine.in.x + g * 16;
  const float* w = mine.in.w + g * 16;
  float step = 0.0f;
  if (usable) {
    quant::prepare_elements(place.x, place.importance, scale, g * 16, 16, &mine.in);
    step = quant::symmetric_search<kLevels>(x, w).step;
  }
  mine.step[g] = step;
  barrier();
  uint16_t d = scale.kind == quant::SearchBlock::kUnholdable ? quant::kHalfNan : uint16_t{0};
  if (usable) {
    d = quant::symmetric_scale<kScales>(mine.in, mine.step);
    usable = !quant::half_is_zero(d) && quant::half_is_finite(d);
  }
  int sc = 0;
  bool more = usable;
#pragma unroll 1
  for (int round = 0; round < quant::kSymmetricRounds; ++round) {
    if (more) {
      const float from_d = mine.in.from_half(d);
      const int middle = round == 0 ? quant::nearest_integer<kScales>(step, from_d) : sc;
      sc = quant::symmetric_integer<kLevels, kScales>(x, w, from_d, middle);
      mine.found.sc[g] = static_cast<int8_t>(sc);
      if (sc != 0) mine.terms[g] = quant::symmetric_terms<kLevels>(x, w, from_d, sc);
    }
    barrier();
    if (more && round + 1 < quant::kSymmetricRounds) {
      quant::SymmetricTerms sum{};
      for (int i = 0; i < 16; ++i) {
        if (mine.found.sc[i] == 0) continue;
        sum.xa += mine.terms[i].xa;
        sum.aa += mine.terms[i].aa;
      }
      more = quant::symmetric_rescale(mine.in, sum, &d);
    }
    barrier();
  }
  if (usable) {
    quant::symmetric_quantize<kLevels>(x, mine.in.from_half(d), sc, mine.found.q + g * 16);
  } else {
    for (int i = 0; i < 16; ++i) mine.found.q[g * 16 + i] = 0;
  }
  mine.found.sc[g] = static_cast<int8_t>(sc);
  if (g == 0) mine.found.d = d;
  barrier();
  if (place.inside && g == 0) quant::pack(mine.found, static_cast<Block*>(args.blocks) + place.at);
}

}  // namespace beeswax::gpu
