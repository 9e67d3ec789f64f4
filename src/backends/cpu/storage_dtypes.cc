// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/storage_dtypes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/chunks.h"
#include "core/math/convert.h"

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

constexpr int64_t kRun = 1024;

// f32 values that round to the narrow dtypes as the numbers they stand for would: exact, or rounded to odd.
template <class T>
void to_odd(const std::byte* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    to[i] = m::narrow_source<bf16>(value);
  }
}
using ToOdd = void (*)(const std::byte*, float*, int64_t);
ToOdd odd_loop(DType dtype) {
  switch (dtype) {
    case DType::U32:
      return to_odd<uint32_t>;
    case DType::I32:
      return to_odd<int32_t>;
    case DType::I64:
      return to_odd<int64_t>;
    case DType::F64:
      return to_odd<double>;
    default:
      return nullptr;  // f32 holds every value
  }
}

void decode(const Codes& codes, const Operand& x, int64_t begin, int64_t count, float* values) {
  for (int64_t i = 0; i < count; ++i) values[i] = codes.values[read_code(x.data(), begin + i, codes.bits)];
}
void encode(const Codes& codes, const Target& out, int64_t begin, int64_t count, const float* values) {
  for (int64_t i = 0; i < count; ++i) write_code(out.data(), begin + i, codes.bits, codes.encode(values[i]));
}

// Calls take(begin, count) for parts of `count` elements, in order.
template <class Take>
void for_each_run(int64_t count, const Take& take) {
  for (int64_t begin = 0; begin < count; begin += kRun) take(begin, std::min(kRun, count - begin));
}

void decode_to(const Operand& x, const Target& out, int64_t count) {
  float values[kRun];
  const Codes& codes = Codes::of(x.dtype);
  const CastLoop narrow = conversion(DType::F32, out.dtype);
  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
  for_each_run(count, [&](int64_t begin, int64_t run) {
    decode(codes, x, begin, run, values);
    std::byte* to = out.data() + begin * bytes;
    if (narrow != nullptr) {
      narrow(values, to, run);
    } else {
      std::memcpy(to, values, static_cast<size_t>(run) * sizeof(float));
    }
  });
}

void encode_from(const Operand& x, const Target& out, int64_t count) {
  const Codes& codes = Codes::of(out.dtype);
  const ToOdd odd = odd_loop(x.dtype);
  const Argument from{x, 0};
  const ChunkInput input(from, odd != nullptr ? x.dtype : DType::F32);
  const Nest<1> nest({x.layout});
  NestPosition<1> position(nest, 0);
  float values[kRun];
  alignas(64) std::byte gathered[kRun * 8];
  alignas(64) std::byte widened[kRun * 8];
  for_each_run(count, [&](int64_t begin, int64_t run) {
    const void* dense = input.fetch(nest, position, 0, begin, run, gathered, widened);
    if (odd != nullptr) {
      odd(static_cast<const std::byte*>(dense), values, run);
    } else {
      std::memcpy(values, dense, static_cast<size_t>(run) * sizeof(float));
    }
    encode(codes, out, begin, run, values);
    position.skip(run);
  });
}

}  // namespace

void cast_storage(const Operand& x, const Target& out) {
  const int64_t count = x.layout->shape().elem_count();
  if (!dtype_is_storage(out.dtype)) return decode_to(x, out, count);
  std::fill_n(out.data(), dtype_bytes(out.dtype, static_cast<size_t>(count)), std::byte{0});
  if (!dtype_is_storage(x.dtype)) return encode_from(x, out, count);
  float values[kRun];
  for_each_run(count, [&](int64_t begin, int64_t run) {
    decode(Codes::of(x.dtype), x, begin, run, values);
    encode(Codes::of(out.dtype), out, begin, run, values);
  });
}

}  // namespace beeswax::cpu
