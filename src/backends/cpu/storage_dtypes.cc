// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/storage_dtypes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/chunks.h"
#include "core/fail.h"

namespace beeswax::cpu {
namespace {

// The value of every code of a dtype, in code order.
struct Codes {
  int bits;
  bool has_sign;
  std::vector<float> values;

  // exponent and fraction bits with a bias, subnormals at exponent 0, no infinities or NaN
  static Codes minifloat(int exponent_bits, int fraction_bits, int bias) {
    Codes codes{1 + exponent_bits + fraction_bits, true, {}};
    for (int code = 0; code < 1 << codes.bits; ++code) {
      const int fraction = code & ((1 << fraction_bits) - 1);
      const int exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1);
      const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
      const float magnitude =
          std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - bias - fraction_bits);
      codes.values.push_back((code >> (codes.bits - 1)) != 0 ? -magnitude : magnitude);
    }
    return codes;
  }
  static Codes power_of_two() {
    Codes codes{8, false, {}};
    for (int code = 0; code < 255; ++code) codes.values.push_back(std::ldexp(1.0f, code - 127));
    codes.values.push_back(std::numeric_limits<float>::quiet_NaN());
    return codes;
  }
  static const Codes& of(DType dtype) {
    static const Codes e8m0 = power_of_two();
    static const Codes e2m3 = minifloat(2, 3, 1);
    static const Codes e3m2 = minifloat(3, 2, 3);
    static const Codes e2m1 = minifloat(2, 1, 1);
    switch (dtype) {
      case DType::F8E8M0:
        return e8m0;
      case DType::F6E2M3:
        return e2m3;
      case DType::F6E3M2:
        return e3m2;
      default:
        return e2m1;
    }
  }

  unsigned encode(float value) const {
    if (!has_sign && !(value >= 0)) return 255;
    if (std::isnan(value)) return 0;
    // The non-negative codes are in increasing order of value.
    const size_t count = has_sign ? values.size() / 2 : values.size() - 1;
    const float magnitude = std::fabs(value);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
    const auto above = std::lower_bound(values.begin(), end, magnitude);
    auto code = static_cast<unsigned>(above - values.begin());
    if (above == end) {
      code = static_cast<unsigned>(count - 1);
    } else if (code > 0) {
      const float below_gap = magnitude - values[code - 1];
      const float above_gap = values[code] - magnitude;
      if (below_gap < above_gap || (below_gap == above_gap && code % 2 == 1)) --code;
    }
    const unsigned sign = has_sign && std::signbit(value) ? 1u << (bits - 1) : 0;
    return code | sign;
  }
};

unsigned read_code(const std::byte* base, int64_t index, int bits) {
  const int64_t bit = index * bits;
  unsigned window = std::to_integer<unsigned>(base[bit / 8]);
  if (bit % 8 + bits > 8) window |= std::to_integer<unsigned>(base[bit / 8 + 1]) << 8;
  return (window >> (bit % 8)) & ((1u << bits) - 1);
}

void write_code(std::byte* base, int64_t index, int bits, unsigned code) {
  const int64_t bit = index * bits;
  const unsigned shifted = code << (bit % 8);
  base[bit / 8] |= static_cast<std::byte>(shifted & 255u);
  if (bit % 8 + bits > 8) base[bit / 8 + 1] |= static_cast<std::byte>(shifted >> 8);
}

}  // namespace

void cast_storage(const Operand& x, const Target& out) {
  constexpr int64_t kRun = 1024;
  float values[kRun];
  const int64_t count = x.layout->shape().elem_count();
  if (dtype_is_storage(x.dtype)) {
    if (dtype_is_storage(out.dtype))
      fail(ErrorKind::UnsupportedDType, "to_dtype", dtype_name(x.dtype), " to ", dtype_name(out.dtype),
           ": both are storage types; go through f32");
    const Codes& codes = Codes::of(x.dtype);
    const CastLoop narrow = conversion(DType::F32, out.dtype);
    const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
    for (int64_t begin = 0; begin < count; begin += kRun) {
      const int64_t run = std::min(kRun, count - begin);
      for (int64_t i = 0; i < run; ++i) values[i] = codes.values[read_code(x.data(), begin + i, codes.bits)];
      std::byte* to = out.data() + begin * bytes;
      if (narrow != nullptr) {
        narrow(values, to, run);
      } else {
        std::memcpy(to, values, static_cast<size_t>(run) * sizeof(float));
      }
    }
    return;
  }
  if (compute_dtype(x.dtype) != DType::F32)
    fail(ErrorKind::UnsupportedDType, "to_dtype", dtype_name(x.dtype), " to ", dtype_name(out.dtype),
         ": storage types are written from f32, f16, bf16 or f8e4m3; cast to f32 first");
  const Codes& codes = Codes::of(out.dtype);
  std::fill_n(out.data(), dtype_bytes(out.dtype, static_cast<size_t>(count)), std::byte{0});
  const Argument from{x, 0};
  const ChunkInput input(from, DType::F32);
  const Nest<1> nest({x.layout});
  NestPosition<1> position(nest, 0);
  alignas(64) std::byte gathered[kRun * 4];
  alignas(64) std::byte widened[kRun * 4];
  for (int64_t begin = 0; begin < count; begin += kRun) {
    const int64_t run = std::min(kRun, count - begin);
    const void* dense = input.fetch(nest, position, 0, begin, run, gathered, widened);
    std::memcpy(values, dense, static_cast<size_t>(run) * sizeof(float));
    for (int64_t i = 0; i < run; ++i) write_code(out.data(), begin + i, codes.bits, codes.encode(values[i]));
    position.skip(run);
  }
}

}  // namespace beeswax::cpu
