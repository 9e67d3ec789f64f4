// SPDX-License-Identifier: Apache-2.0
// The block formats once more, by the letter of the format table and in double: what the tests compare with.
// Nothing here is shared with src/quant.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "beeswax/qtensor_type.h"

namespace beeswax::reference {

inline std::vector<QuantType> all_types() {
  return {
#define BW_QUANT(Name, ...) QuantType::Name,
#include "tables/quants.def"
  };
}

inline double half(const uint8_t* at) {
  const int bits = at[0] + 256 * at[1];
  const int exponent = (bits / 1024) % 32, fraction = bits % 1024;
  const double sign = bits >= 32768 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

inline int bit(const uint8_t* at, int n) { return (at[n / 8] >> (n % 8)) % 2; }

/// The scale and minimum of sub-block j as Q4_K and Q5_K pack them.
inline std::pair<int, int> six_bit_pair(const uint8_t* s, int j) {
  if (j < 4) return {s[j] & 63, s[j + 4] & 63};
  return {(s[j + 4] & 15) | ((s[j - 4] >> 6) << 4), (s[j + 4] >> 4) | ((s[j] >> 6) << 4)};
}

/// Values of the block at `b`.
inline std::vector<double> dequantize(QuantType type, const uint8_t* b) {
  std::vector<double> out(static_cast<size_t>(quant_traits(type).block_elements));
  double* y = out.data();
  switch (type) {
    case QuantType::Q4_0:
      for (int j = 0; j < 16; ++j) {
        y[j] = half(b) * (b[2 + j] % 16 - 8);
        y[j + 16] = half(b) * ((b[2 + j] >> 4) - 8);
      }
      break;
    case QuantType::Q4_1:
      for (int j = 0; j < 16; ++j) {
        y[j] = half(b) * (b[4 + j] % 16) + half(b + 2);
        y[j + 16] = half(b) * (b[4 + j] >> 4) + half(b + 2);
      }
      break;
    case QuantType::Q5_0:
      for (int j = 0; j < 16; ++j) {
        y[j] = half(b) * (b[6 + j] % 16 + 16 * bit(b + 2, j) - 16);
        y[j + 16] = half(b) * ((b[6 + j] >> 4) + 16 * bit(b + 2, j + 16) - 16);
      }
      break;
    case QuantType::Q5_1:
      for (int j = 0; j < 16; ++j) {
        y[j] = half(b) * (b[8 + j] % 16 + 16 * bit(b + 4, j)) + half(b + 2);
        y[j + 16] = half(b) * ((b[8 + j] >> 4) + 16 * bit(b + 4, j + 16)) + half(b + 2);
      }
      break;
    case QuantType::Q8_0:
      for (int j = 0; j < 32; ++j) y[j] = half(b) * static_cast<int8_t>(b[2 + j]);
      break;
    case QuantType::Q8_1:
      for (int j = 0; j < 32; ++j) y[j] = half(b) * static_cast<int8_t>(b[4 + j]);
      break;
    case QuantType::Q2_K:
      for (int n = 0; n < 2; ++n)
        for (int j = 0; j < 4; ++j)
          for (int l = 0; l < 32; ++l) {
            const int q = (b[16 + 32 * n + l] >> (2 * j)) & 3, sc = b[8 * n + 2 * j + l / 16];
            y[128 * n + 32 * j + l] = half(b + 80) * (sc & 15) * q - half(b + 82) * (sc >> 4);
          }
      break;
    case QuantType::Q3_K: {
      const uint8_t* s = b + 96;
      for (int n = 0; n < 2; ++n)
        for (int j = 0; j < 4; ++j)
          for (int l = 0; l < 32; ++l) {
            const int q = ((b[32 + 32 * n + l] >> (2 * j)) & 3) - (((b[l] >> (4 * n + j)) & 1) != 0 ? 0 : 4);
            const int i = 8 * n + 2 * j + l / 16;
            int sc = 0;
            if (i < 4)
              sc = (s[i] & 15) | (s[i + 8] & 3) << 4;
            else if (i < 8)
              sc = (s[i] & 15) | ((s[i + 4] >> 2) & 3) << 4;
            else if (i < 12)
              sc = (s[i - 8] >> 4) | ((s[i] >> 4) & 3) << 4;
            else
              sc = (s[i - 8] >> 4) | ((s[i - 4] >> 6) & 3) << 4;
            y[128 * n + 32 * j + l] = half(b + 108) * (sc - 32) * q;
          }
      break;
    }
    case QuantType::Q4_K:
    case QuantType::Q5_K:
      for (int i = 0; i < 4; ++i)
        for (int l = 0; l < 32; ++l)
          for (int high = 0; high < 2; ++high) {
            const bool five = type == QuantType::Q5_K;
            const int byte = b[(five ? 48 : 16) + 32 * i + l];
            int q = high != 0 ? byte >> 4 : byte & 15;
            if (five && ((b[16 + l] >> (2 * i + high)) & 1) != 0) q += 16;
            const auto [sc, m] = six_bit_pair(b + 4, 2 * i + high);
            y[64 * i + 32 * high + l] = half(b) * sc * q - half(b + 2) * m;
          }
      break;
    case QuantType::Q6_K:
      for (int ip = 0; ip < 2; ++ip)
        for (int l = 0; l < 32; ++l) {
          const uint8_t *ql = b + 64 * ip + l, *qh = b + 128 + 32 * ip + l;
          const int q[4] = {(ql[0] & 15) | (qh[0] & 3) << 4, (ql[32] & 15) | ((qh[0] >> 2) & 3) << 4,
                            (ql[0] >> 4) | ((qh[0] >> 4) & 3) << 4, (ql[32] >> 4) | ((qh[0] >> 6) & 3) << 4};
          for (int part = 0; part < 4; ++part) {
            const int sc = static_cast<int8_t>(b[192 + 8 * ip + l / 16 + 2 * part]);
            y[128 * ip + 32 * part + l] = half(b + 208) * sc * (q[part] - 32);
          }
        }
      break;
    case QuantType::Q8_K: {
      float d;
      std::memcpy(&d, b, 4);
      for (int j = 0; j < 256; ++j) y[j] = static_cast<double>(d) * static_cast<int8_t>(b[4 + j]);
      break;
    }
  }
  return out;
}

/// Values of `blocks` consecutive blocks.
inline std::vector<double> dequantize(QuantType type, const std::vector<uint8_t>& bytes) {
  std::vector<double> out;
  const auto size = static_cast<size_t>(quant_traits(type).block_bytes);
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    const std::vector<double> block = dequantize(type, bytes.data() + at);
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

/// Where the half-precision scales of a block lie (Q8_K, whose scale is a float, has none).
inline std::vector<int> half_fields(QuantType type) {
  switch (type) {
    case QuantType::Q4_0:
    case QuantType::Q5_0:
    case QuantType::Q8_0:
      return {0};
    case QuantType::Q4_1:
    case QuantType::Q5_1:
    case QuantType::Q8_1:
    case QuantType::Q4_K:
    case QuantType::Q5_K:
      return {0, 2};
    case QuantType::Q2_K:
      return {80, 82};
    case QuantType::Q3_K:
      return {108};
    case QuantType::Q6_K:
      return {208};
    case QuantType::Q8_K:
      break;
  }
  return {};
}

/// Random bytes with finite scales of moderate size.
template <class Random>
std::vector<uint8_t> random_blocks(QuantType type, size_t blocks, Random& random) {
  const auto size = static_cast<size_t>(quant_traits(type).block_bytes);
  std::vector<uint8_t> bytes(blocks * size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t b = 0; b < blocks; ++b) {
    uint8_t* block = bytes.data() + b * size;
    for (const int field : half_fields(type))
      block[field + 1] = static_cast<uint8_t>((block[field + 1] & 0x83) | (0x1c + random() % 4 * 4));
    if (type == QuantType::Q8_K) {
      const float d = std::ldexp(static_cast<float>(static_cast<int>(random() % 2001) - 1000), -14);
      std::memcpy(block, &d, 4);
      for (int g = 0; g < 16; ++g) {
        int16_t sum = 0;
        for (int l = 0; l < 16; ++l)
          sum = static_cast<int16_t>(sum + static_cast<int8_t>(block[4 + 16 * g + l]));
        std::memcpy(block + 260 + 2 * g, &sum, 2);
      }
    }
  }
  return bytes;
}

}  // namespace beeswax::reference
