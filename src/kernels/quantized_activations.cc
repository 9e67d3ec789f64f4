// SPDX-License-Identifier: Apache-2.0
// activations_32 and activations_256: activations to bytes with a float scale for each 32 or 256 values, as
// the formats q8_0 and q8_k have it, and with sums of the bytes.
//   floors: bytes of the activations over the bandwidth; for one row, a launch
#include "kernels/quantized.h"

namespace beeswax::gpu {

/// Largest |x| over groups of `width` threads, as bits; NaN is the largest.
template <uint32_t width, int n>
BW_DEVICE int32_t group_max(const float (&x)[n]) {
  int32_t most = 0;
  for (int i = 0; i < n; ++i) {
    const int32_t bits = quant::abs_bits(x[i]);
    most = bits > most ? bits : most;
  }
#pragma unroll
  for (uint32_t mask = 1; mask < width; mask *= 2) {
    const int32_t other = shuffle_xor(most, mask);
    most = other > most ? other : most;
  }
  return most;
}

template <uint32_t width>
BW_DEVICE int32_t group_sum(int32_t sum) {
#pragma unroll
  for (uint32_t mask = 1; mask < width; mask *= 2) sum += shuffle_xor(sum, mask);
  return sum;
}

struct ByteScale {
  float scale, inverse;
};
/// A block with a NaN or an infinity becomes NaN; below 2^-119 its scale would not be a normal number, and it
/// becomes zeros.
BW_DEVICE ByteScale byte_scale(int32_t most) {
  const bool finite = most < quant::kInfinityBits;
  const float magnitude = bit_cast<float>(most);
  if (!finite) return {bit_cast<float>(0x7fc00000u), 0.0f};
  if (magnitude < 0x1p-119f) return {0.0f, 0.0f};
  const float scale = magnitude / 127.0f;
  return {scale, 1.0f / scale};
}

/// n values to bytes; the result is their sum.
template <int n>
BW_DEVICE int32_t to_bytes(const float (&x)[n], float inverse, uint32_t (&words)[n / 4]) {
  int32_t sum = 0;
  for (int w = 0; w < n / 4; ++w) {
    words[w] = 0;
    for (int j = 0; j < 4; ++j) {
      const int32_t q = inverse == 0.0f ? 0 : quant::round_away(x[4 * w + j] * inverse);
      sum += q;
      words[w] |= (static_cast<uint32_t>(q) & 255u) << (8 * j);
    }
  }
  return sum;
}

BW_KERNEL(kQuantThreads) activations_32(ActivationsArgs args) {
  constexpr uint32_t kThreads = 8;  // of a block
  const uint32_t at = (block() * kQuantThreads + thread()) / kThreads;
  const uint32_t part = thread() % kThreads;
  const bool inside = at < args.count;
  const uint32_t from = inside ? at : args.count - 1;  // all threads take part in shuffles
  float x[4];
  load_floats(args.x, uint64_t{from} * 32 + part * 4, args.dtype, x);
  const ByteScale scale = byte_scale(group_max<kThreads>(x));
  uint32_t words[1];
  const int32_t sum = group_sum<kThreads>(to_bytes(x, scale.inverse, words));
  if (!inside) return;
  static_cast<uint32_t*>(args.q)[uint64_t{at} * 8 + part] = words[0];
  if (part == 0) static_cast<ActivationScale*>(args.scales)[at] = {scale.scale, sum};
}

BW_KERNEL(kQuantThreads) activations_256(ActivationsArgs args) {
  constexpr uint32_t kThreads = 32;
  const uint32_t at = (block() * kQuantThreads + thread()) / kThreads;
  const uint32_t part = thread() % kThreads;
  const bool inside = at < args.count;
  const uint32_t from = inside ? at : args.count - 1;
  float x[8];
  load_floats(args.x, uint64_t{from} * 256 + part * 8, args.dtype, x);
  const ByteScale scale = byte_scale(group_max<kThreads>(x));
  uint32_t words[2];
  const int32_t sum = group_sum<2>(to_bytes(x, scale.inverse, words));
  if (!inside) return;
  struct alignas(8) Pair {
    uint32_t low, high;
  };
  static_cast<Pair*>(args.q)[uint64_t{at} * 32 + part] = {words[0], words[1]};
  if (part % 2 == 0) args.sums[uint64_t{at} * 16 + part / 2] = static_cast<int16_t>(sum);
  if (part == 0) static_cast<float*>(args.scales)[at] = scale.scale;
}

}  // namespace beeswax::gpu
