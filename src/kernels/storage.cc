// SPDX-License-Identifier: Apache-2.0
// storage_decode: codes of f8e8m0, f6e2m3, f6e3m2 and f4 to f32. storage_encode: from f32, and from f64 and
// i64, rounded once.
//   floors: bytes of both sides over the bandwidth
#include "core/math/convert.h"
#include "kernels/elements.h"
#include "kernels/storage_args.h"

namespace beeswax::gpu {

/// 2^(code - 127); 255 is NaN.
BW_DEVICE float decode_power(uint32_t code) {
  if (code == 255) return bit_cast<float>(0x7fc00000u);
  return bit_cast<float>(code == 0 ? 0x00400000u : code << 23);
}
/// The nearest power of two, of two as near the one with the even code; what is not >= 0 is NaN.
BW_DEVICE uint32_t encode_power(float value) {
  if (!(value >= 0.0f)) return 255;
  const uint32_t bits = bit_cast<uint32_t>(value) & 0x7fffffffu;
  if (bits < 0x00800000u) return bits > 0x00600000u ? 1 : 0;
  const uint32_t code = (bits + 0x3fffffu + (bits >> 23 & 1)) >> 23;
  return code > 254 ? 254 : code;
}

/// A float of a sign, `bits` - 1 - `fraction` bits of exponent and a fraction; no infinities, no NaN.
BW_DEVICE float decode_small(uint32_t code, const StorageArgs& args) {
  const uint32_t sign = code >> (args.bits - 1) << 31;
  const uint32_t magnitude = code & ((1u << (args.bits - 1)) - 1);
  const uint32_t exponent = magnitude >> args.fraction;
  const uint32_t significand =
      (magnitude & ((1u << args.fraction) - 1)) + (exponent == 0 ? 0 : 1u << args.fraction);
  const uint32_t power = (exponent == 0 ? 1 : exponent) + 127 - args.bias - args.fraction;
  const float value = static_cast<float>(significand) * bit_cast<float>(power << 23);  // exact
  return bit_cast<float>(bit_cast<uint32_t>(value) | sign);
}
/// To nearest, ties to even; saturates; NaN becomes 0.
BW_DEVICE uint32_t encode_small(float value, const StorageArgs& args) {
  const uint32_t bits = bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0;
  const uint32_t most = (1u << (args.bits - 1)) - 1, dropped = 23 - args.fraction;
  const uint32_t normal =
      (magnitude + (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1) - ((127 - args.bias) << 23)) >>
      dropped;
  // Below the least normal number: adding this aligns the last place, and the addition rounds.
  const float align = bit_cast<float>((127 + 1 - args.bias + dropped) << 23);
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(magnitude) + align) - bit_cast<uint32_t>(align);
  const uint32_t code = magnitude < (127 + 1 - args.bias) << 23 ? tiny : normal;
  return (code < most ? code : most) | (bits >> 31) << (args.bits - 1);
}

BW_DEVICE uint32_t bytes_of_codes(uint32_t codes, uint32_t bits) { return (codes * bits + 7) / 8; }

BW_KERNEL(kStorageThreads) storage_decode(StorageArgs args) {
  const uint32_t at = (block() * kStorageThreads + thread()) * kStorageElements;
  if (at >= args.count) return;
  const uint32_t codes = args.count - at < kStorageElements ? args.count - at : kStorageElements;
  const auto* from = static_cast<const uint8_t*>(args.x) + uint64_t{at} * args.bits / 8;
  const uint32_t bytes = bytes_of_codes(codes, args.bits);
  uint32_t word = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    if (i < bytes) word |= static_cast<uint32_t>(from[i]) << (8 * i);
  float* y = static_cast<float*>(args.y) + at;
#pragma unroll
  for (uint32_t i = 0; i < kStorageElements; ++i) {
    if (i >= codes) break;
    const uint32_t code = word >> (i * args.bits) & ((1u << args.bits) - 1);
    y[i] = args.fraction == 0 ? decode_power(code) : decode_small(code, args);
  }
}

/// T: float, double or int64_t.
template <class T>
BW_DEVICE void encode(const StorageArgs& args) {
  const uint32_t at = (block() * kStorageThreads + thread()) * kStorageElements;
  if (at >= args.count) return;
  const uint32_t codes = args.count - at < kStorageElements ? args.count - at : kStorageElements;
  const T* x = static_cast<const T*>(args.x) + at;
  uint32_t word = 0;
#pragma unroll
  for (uint32_t i = 0; i < kStorageElements; ++i) {
    if (i >= codes) break;
    // Exact, or rounded to odd, so that the rounding to a code is the only one.
    const float value = m::narrow_source<bf16>(x[i]);
    word |= (args.fraction == 0 ? encode_power(value) : encode_small(value, args)) << (i * args.bits);
  }
  auto* to = static_cast<uint8_t*>(args.y) + uint64_t{at} * args.bits / 8;
  const uint32_t bytes = bytes_of_codes(codes, args.bits);
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    if (i < bytes) to[i] = static_cast<uint8_t>(word >> (8 * i));
}

BW_KERNEL(kStorageThreads) storage_encode(StorageArgs args) { encode<float>(args); }
BW_KERNEL(kStorageThreads) storage_encode_f64(StorageArgs args) { encode<double>(args); }
BW_KERNEL(kStorageThreads) storage_encode_i64(StorageArgs args) { encode<int64_t>(args); }

}  // namespace beeswax::gpu
