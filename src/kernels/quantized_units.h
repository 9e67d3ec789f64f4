// SPDX-License-Identifier: Apache-2.0
// Weights in registers as integer products want them. A unit is 32 levels, a byte each, unsigned but for
// formats of signed bytes: a whole block of 32, or two groups of 16 of a block of 256, chosen so that the
// threads of a block read its bytes in order.
#pragma once

#include "kernels/gpu_words.h"
#include "quant/formats.h"

namespace beeswax::gpu {

/// Of a block of 32: value = scale (level - kZero) + minimum.
struct Unit32 {
  uint32_t level[8];
  float scale, minimum;
};
/// Of a block of 256: value = scale sc (level - kZero) - minimum m; sc and m for both groups.
struct Unit256 {
  uint32_t level[8];
  float scale, minimum;
  int32_t sc[2], m[2];
};

BW_DEVICE uint32_t nibbles(uint32_t word, uint32_t shift) { return (word >> shift) & 0x0f0f0f0fu; }
BW_DEVICE uint32_t pairs(uint32_t word, uint32_t shift) { return (word >> shift) & 0x03030303u; }
BW_DEVICE uint32_t bits(uint32_t word, uint32_t shift) { return (word >> shift) & 0x01010101u; }
/// Bits i to i + 3 of a word, each as the lowest of a byte.
BW_DEVICE uint32_t spread4(uint32_t word, uint32_t i) {
  return ((word >> i & 15u) * 0x00204081u) & 0x01010101u;
}
template <int n>
struct alignas(4 * n < 16 ? 4 * n : 16) WordPack {
  uint32_t v[n];
};
/// n words from an address that is a multiple of 4 `n`, at most 16.
template <int n>
BW_DEVICE void load_words(const void* from, uint32_t (&to)[n]) {
  const auto pack = *static_cast<const WordPack<n>*>(from);
  for (int i = 0; i < n; ++i) to[i] = pack.v[i];
}
template <int n>
BW_DEVICE void load_words_at_4(const void* from, uint32_t (&to)[n]) {
  for (int i = 0; i < n; ++i) to[i] = static_cast<const uint32_t*>(from)[i];
}

/// How a format becomes units. kZero is what levels are above their value.
template <class Block>
struct Units;

template <>
struct Units<quant::Q4_0> {
  static constexpr int kZero = 8;
  BW_DEVICE_MEMBER static Unit32 load(const quant::Q4_0* block) {
    Unit32 unit;
    uint16_t d;
    uint32_t qs[4];
    load_half_and_words(block, d, qs);
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = nibbles(qs[i], 0);
      unit.level[i + 4] = nibbles(qs[i], 4);
    }
    unit.scale = widen_half(d);
    return unit;
  }
};
template <>
struct Units<quant::Q4_1> {
  static constexpr int kZero = 0;
  BW_DEVICE_MEMBER static Unit32 load(const quant::Q4_1* block) {
    Unit32 unit;
    uint32_t words[5];
    load_words_at_4(block, words);
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = nibbles(words[i + 1], 0);
      unit.level[i + 4] = nibbles(words[i + 1], 4);
    }
    unit.scale = widen_half(words[0] & 0xffffu);
    unit.minimum = widen_half(words[0] >> 16);
    return unit;
  }
};
template <>
struct Units<quant::Q5_0> {
  static constexpr int kZero = 16;
  BW_DEVICE_MEMBER static Unit32 load(const quant::Q5_0* block) {
    Unit32 unit;
    uint16_t d;
    uint32_t words[5];
    load_half_and_words(block, d, words);
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<uint32_t>(4 * i);
      unit.level[i] = nibbles(words[i + 1], 0) | spread4(words[0], at) << 4;
      unit.level[i + 4] = nibbles(words[i + 1], 4) | spread4(words[0], at + 16) << 4;
    }
    unit.scale = widen_half(d);
    return unit;
  }
};
template <>
struct Units<quant::Q5_1> {
  static constexpr int kZero = 0;
  BW_DEVICE_MEMBER static Unit32 load(const quant::Q5_1* block) {
    Unit32 unit;
    uint32_t head[2], qs[4];
    load_words(block, head);
    uint32_t low[2], high[2];
    load_words(block->qs, low);
    load_words(block->qs + 8, high);
    qs[0] = low[0], qs[1] = low[1], qs[2] = high[0], qs[3] = high[1];
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<uint32_t>(4 * i);
      unit.level[i] = nibbles(qs[i], 0) | spread4(head[1], at) << 4;
      unit.level[i + 4] = nibbles(qs[i], 4) | spread4(head[1], at + 16) << 4;
    }
    unit.scale = widen_half(head[0] & 0xffffu);
    unit.minimum = widen_half(head[0] >> 16);
    return unit;
  }
};
template <>
struct Units<quant::Q8_0> {
  static constexpr int kZero = 0;
  BW_DEVICE_MEMBER static Unit32 load(const quant::Q8_0* block) {
    Unit32 unit;
    uint16_t d;
    load_half_and_words(block, d, unit.level);
    unit.scale = widen_half(d);
    return unit;
  }
};
template <>
struct Units<quant::Q8_1> {
  static constexpr int kZero = 0;
  BW_DEVICE_MEMBER static Unit32 load(const quant::Q8_1* block) {
    Unit32 unit;
    load_words_at_4(block->qs, unit.level);
    unit.scale = widen_half(block->d);
    return unit;
  }
};

// Blocks of 256 have eight units. first(u) and second(u) are its groups.
template <>
struct Units<quant::Q2_K> {
  static constexpr int kZero = 0;
  // 16 bytes of a half, two of their four fields
  BW_DEVICE_MEMBER static uint32_t first(uint32_t u) { return (u >> 2) * 8 + (u & 1) + (u >> 1 & 1) * 4; }
  BW_DEVICE_MEMBER static uint32_t second(uint32_t u) { return first(u) + 2; }
  BW_DEVICE_MEMBER static Unit256 load(const quant::Q2_K* block, uint32_t u) {
    Unit256 unit;
    uint32_t qs[4], d[1];
    load_words_at_4(block->qs + (u >> 2) * 32 + (u & 1) * 16, qs);
    load_words_at_4(block->qs + sizeof(block->qs), d);
    const uint32_t shift = (u >> 1 & 1) * 4;
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = pairs(qs[i], shift);
      unit.level[i + 4] = pairs(qs[i], shift + 2);
    }
    const uint32_t a = block->scales[first(u)], b = block->scales[second(u)];
    unit.sc[0] = static_cast<int32_t>(a & 15), unit.m[0] = static_cast<int32_t>(a >> 4);
    unit.sc[1] = static_cast<int32_t>(b & 15), unit.m[1] = static_cast<int32_t>(b >> 4);
    unit.scale = widen_half(d[0] & 0xffffu);
    unit.minimum = widen_half(d[0] >> 16);
    return unit;
  }
};
template <>
struct Units<quant::Q3_K> {
  static constexpr int kZero = 4;
  BW_DEVICE_MEMBER static uint32_t first(uint32_t u) { return Units<quant::Q2_K>::first(u); }
  BW_DEVICE_MEMBER static uint32_t second(uint32_t u) { return first(u) + 2; }
  BW_DEVICE_MEMBER static Unit256 load(const quant::Q3_K* block, uint32_t u) {
    Unit256 unit;
    uint32_t qs[4], mask[4];
    load_words_at_even(block->qs + (u >> 2) * 32 + (u & 1) * 16, qs);
    load_words_at_even(block->hmask + (u & 1) * 16, mask);
    const uint32_t shift = (u >> 1 & 1) * 4, bit = first(u) >> 1;
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = pairs(qs[i], shift) | bits(mask[i], bit) << 2;
      unit.level[i + 4] = pairs(qs[i], shift + 2) | bits(mask[i], bit + 1) << 2;
    }
    unit.sc[0] = quant::group_scale(*block, static_cast<int>(first(u)));
    unit.sc[1] = quant::group_scale(*block, static_cast<int>(second(u)));
    unit.scale = widen_half(block->d);
    return unit;
  }
};
/// The scales and minima of Q4_K's and Q5_K's groups 2 p and 2 p + 1 of 32 from the block's first 16 bytes.
BW_DEVICE void load_scale_pairs(const void* block, uint32_t p, Unit256& unit) {
  uint32_t head[4];
  load_words(block, head);
  unit.scale = widen_half(head[0] & 0xffffu);
  unit.minimum = widen_half(head[0] >> 16);
  // Two bytes of each word belong to groups 2 p and 2 p + 1.
  const uint32_t shift = (p & 1) * 16;
  const uint32_t a = head[1] >> shift, b = head[2] >> shift, c = head[3] >> shift;
  const bool low = p < 2;
  const uint32_t sc = low ? a & 0x3f3fu : (c & 0x0f0fu) | (a >> 2 & 0x3030u);
  const uint32_t m = low ? b & 0x3f3fu : (c >> 4 & 0x0f0fu) | (b >> 2 & 0x3030u);
  unit.sc[0] = static_cast<int32_t>(sc & 255u), unit.sc[1] = static_cast<int32_t>(sc >> 8 & 255u);
  unit.m[0] = static_cast<int32_t>(m & 255u), unit.m[1] = static_cast<int32_t>(m >> 8 & 255u);
}
template <>
struct Units<quant::Q4_K> {
  static constexpr int kZero = 0;
  // 16 bytes: the low and the high halves
  BW_DEVICE_MEMBER static uint32_t first(uint32_t u) { return (u >> 1) * 4 + (u & 1); }
  BW_DEVICE_MEMBER static uint32_t second(uint32_t u) { return first(u) + 2; }
  BW_DEVICE_MEMBER static Unit256 load(const quant::Q4_K* block, uint32_t u) {
    Unit256 unit;
    uint32_t qs[4];
    load_words(block->qs + u * 16, qs);
    load_scale_pairs(block, u >> 1, unit);
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = nibbles(qs[i], 0);
      unit.level[i + 4] = nibbles(qs[i], 4);
    }
    return unit;
  }
};
template <>
struct Units<quant::Q5_K> {
  static constexpr int kZero = 0;
  BW_DEVICE_MEMBER static uint32_t first(uint32_t u) { return Units<quant::Q4_K>::first(u); }
  BW_DEVICE_MEMBER static uint32_t second(uint32_t u) { return first(u) + 2; }
  BW_DEVICE_MEMBER static Unit256 load(const quant::Q5_K* block, uint32_t u) {
    Unit256 unit;
    uint32_t qs[4], high[4];
    load_words(block->qs + u * 16, qs);
    load_words(block->qh + (u & 1) * 16, high);
    load_scale_pairs(block, u >> 1, unit);
    const uint32_t bit = (u >> 1) * 2;
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = nibbles(qs[i], 0) | bits(high[i], bit) << 4;
      unit.level[i + 4] = nibbles(qs[i], 4) | bits(high[i], bit + 1) << 4;
    }
    return unit;
  }
};
template <>
struct Units<quant::Q6_K> {
  static constexpr int kZero = 32;
  // 16 bytes of a half: fields j and j + 2
  BW_DEVICE_MEMBER static uint32_t first(uint32_t u) { return (u >> 2) * 8 + (u & 3); }
  BW_DEVICE_MEMBER static uint32_t second(uint32_t u) { return first(u) + 4; }
  BW_DEVICE_MEMBER static Unit256 load(const quant::Q6_K* block, uint32_t u) {
    Unit256 unit;
    uint32_t low[4], high[4];
    load_words_at_even(block->ql + u * 16, low);
    load_words_at_even(block->qh + (u >> 2) * 32 + (u & 1) * 16, high);
    const uint32_t shift = (u >> 1 & 1) * 2;
    for (int i = 0; i < 4; ++i) {
      unit.level[i] = nibbles(low[i], 0) | pairs(high[i], shift) << 4;
      unit.level[i + 4] = nibbles(low[i], 4) | pairs(high[i], shift + 4) << 4;
    }
    unit.sc[0] = block->scales[first(u)];
    unit.sc[1] = block->scales[second(u)];
    unit.scale = widen_half(block->d);
    return unit;
  }
};
template <>
struct Units<quant::Q8_K> {
  static constexpr int kZero = 0;
  BW_DEVICE_MEMBER static uint32_t first(uint32_t u) { return u * 2; }
  BW_DEVICE_MEMBER static uint32_t second(uint32_t u) { return u * 2 + 1; }
  BW_DEVICE_MEMBER static Unit256 load(const quant::Q8_K* block, uint32_t u) {
    Unit256 unit;
    uint32_t d[1];
    load_words_at_4(block, d);
    load_words_at_4(block->qs + u * 32, unit.level);
    unit.scale = bit_cast<float>(d[0]);
    unit.sc[0] = unit.sc[1] = 1;
    return unit;
  }
};

/// What a unit adds to an output: `dot` is of its levels and the bytes of an activation whose scale is d and
/// whose sums of bytes are `bytes`. Integers are exact as floats here, so whichever way a product is made it
/// has the same bits.
template <class Block>
BW_DEVICE float unit_term(float scale, float minimum, float d, int32_t dot, int32_t bytes) {
  float product = scale * static_cast<float>(dot - Units<Block>::kZero * bytes);
  if constexpr (Block::kHasMin) product += minimum * static_cast<float>(bytes);
  return d * product;
}
template <class Block>
BW_DEVICE float unit_term(const Unit256& unit, float d, const int32_t (&dot)[2], const int32_t (&bytes)[2]) {
  int32_t sum = 0;
  for (int g = 0; g < 2; ++g) sum += unit.sc[g] * (dot[g] - Units<Block>::kZero * bytes[g]);
  float product = unit.scale * static_cast<float>(sum);
  if constexpr (Block::kHasMin)
    product -= unit.minimum * static_cast<float>(unit.m[0] * bytes[0] + unit.m[1] * bytes[1]);
  return d * product;
}

template <class Block>
BW_DEVICE auto load_unit(const Block* row, uint32_t at) {
  if constexpr (Block::kElements == 32) {
    return Units<Block>::load(row + at);
  } else {
    return Units<Block>::load(row + at / 8, at % 8);
  }
}

}  // namespace beeswax::gpu
