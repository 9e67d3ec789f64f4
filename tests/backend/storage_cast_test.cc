// SPDX-License-Identifier: Apache-2.0
// Casts of the dtypes that are only stored (f8e8m0, f6e2m3, f6e3m2, f4) from and to every other dtype:
// rounded once from the source, also where a detour through f32 would round twice; saturating; of any
// strides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support/devices.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

constexpr DType kStorage[] = {DType::F8E8M0, DType::F6E2M3, DType::F6E3M2, DType::F4};

// A dtype's values by its definition, in the order of its codes.
struct Codes {
  int bits;
  bool is_signed;
  std::vector<double> values;

  explicit Codes(DType dtype) : bits(dtype_bits(dtype)), is_signed(dtype != DType::F8E8M0) {
    const int fraction_bits = dtype == DType::F6E2M3 ? 3 : dtype == DType::F6E3M2 ? 2 : 1;
    const int bias = dtype == DType::F6E3M2 ? 3 : 1;
    for (int code = 0; code < 1 << bits; ++code) {
      if (!is_signed) {
        values.push_back(code == 255 ? std::nan("") : std::ldexp(1.0, code - 127));
        continue;
      }
      const int magnitude = code & ((1 << (bits - 1)) - 1);
      const int exponent = magnitude >> fraction_bits;
      const double fraction = std::ldexp(magnitude & ((1 << fraction_bits) - 1), -fraction_bits);
      const double value =
          exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
      values.push_back(code == magnitude ? value : -value);
    }
  }

  // Codes of values that are not negative, which grow with their values.
  int not_negative() const { return is_signed ? 1 << (bits - 1) : 255; }

  int nearest(long double x) const {
    if (std::isnan(x) || (!is_signed && x < 0)) return is_signed ? 0 : 255;
    const long double magnitude = std::fabs(x);
    int best = 0;
    for (int code = 1; code < not_negative(); ++code) {
      const long double distance = std::fabs(magnitude - values[static_cast<size_t>(code)]);
      const long double least = std::fabs(magnitude - values[static_cast<size_t>(best)]);
      if (distance < least || (distance == least && code % 2 == 0)) best = code;
    }
    // (Of larger numbers the distances round alike.)
    if (magnitude > values[static_cast<size_t>(not_negative() - 1)]) best = not_negative() - 1;
    return best | (is_signed && std::signbit(x) ? 1 << (bits - 1) : 0);
  }
};

std::vector<int> codes_of(const Tensor& x) {
  const std::vector<std::byte> bytes = x.to_bytes();
  const auto bits = static_cast<size_t>(dtype_bits(x.dtype()));
  std::vector<int> out;
  for (size_t i = 0; i < static_cast<size_t>(x.elem_count()); ++i) {
    int code = 0;
    for (size_t b = 0; b < bits; ++b) {
      const size_t at = i * bits + b;
      code |= (std::to_integer<int>(bytes[at / 8]) >> (at % 8) & 1) << b;
    }
    out.push_back(code);
  }
  return out;
}

// x holds `values`, [n / 4, 4].
void check_encoding(const Tensor& x, const std::vector<long double>& values) {
  for (const DType to : kStorage) {
    const Codes codes(to);
    std::vector<int> want;
    want.reserve(values.size());
    for (const long double value : values) want.push_back(codes.nearest(value));
    for (const Tensor& from : {x, test::strided_twin(x)}) {
      const std::vector<int> got = codes_of(from.to_dtype(to));
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(got[i], want[i]) << dtype_name(x.dtype()) << " " << static_cast<double>(values[i]) << " to "
                                   << dtype_name(to);
    }
  }
}

template <class T>
void check_numbers(std::vector<T> source, const Device& device) {
  while (source.size() % 4 != 0) source.push_back(T(1));
  const std::vector<long double> values(source.begin(), source.end());
  check_encoding(Tensor::from_vec(source, {static_cast<int64_t>(source.size() / 4), 4}, device), values);
}

// Every value of the four dtypes, every midpoint, and numbers so near to both that fewer digits do not tell.
template <class T>
std::vector<T> near_values_and_midpoints() {
  using L = std::numeric_limits<T>;
  std::vector<T> out = {T(0),     T(-0.0),   L::infinity(),   -L::infinity(),   L::quiet_NaN(),
                        L::max(), -L::max(), L::denorm_min(), -L::denorm_min(), L::min(),
                        -L::min()};
  const auto around = [&](double at) {
    const T x = static_cast<T>(at);
    for (const T y : {x, std::nextafter(x, L::infinity()), std::nextafter(x, -L::infinity()),
                      static_cast<T>(x * (1 + 0x1p-26)), static_cast<T>(x * (1 - 0x1p-26)),
                      static_cast<T>(x * (1 + 0x1p-20)), static_cast<T>(x * (1 - 0x1p-20))})
      out.insert(out.end(), {y, -y});
  };
  for (const DType dtype : kStorage) {
    const Codes codes(dtype);
    for (int code = 0; code < codes.not_negative(); ++code) {
      const double value = codes.values[static_cast<size_t>(code)];
      around(value);
      around(code > 0 ? (value + codes.values[static_cast<size_t>(code - 1)]) / 2 : value / 2);
    }
    const double most = codes.values[static_cast<size_t>(codes.not_negative() - 1)];
    for (const double factor : {1.01, 1.125, 1.25, 1.5, 1.99}) around(most * factor);
  }
  return out;
}

template <class T>
std::vector<T> near_powers() {
  using L = std::numeric_limits<T>;
  std::vector<T> out = {0, 1, 2, 3, 4, 5, 6, 7, 8, 26, 27, 28, 29, 30, L::max(), L::max() - 1, L::min()};
  const int bits = L::digits;
  for (int bit = 0; bit < bits; ++bit)
    for (const int64_t part :
         {int64_t{0}, (int64_t{1} << bit) >> 1})  // a power of two, and the next midpoint
      for (const int64_t nudge : {-1, 0, 1}) {
        const T x = static_cast<T>((int64_t{1} << bit) + part + nudge);
        out.push_back(x);
        if (L::is_signed) out.push_back(static_cast<T>(-x));
      }
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) out.push_back(static_cast<T>(static_cast<int64_t>(random()) >> (i % 63)));
  return out;
}

TEST(StorageCast, FromEveryIntegerRoundsOnceAndSaturates) {
  for (const Device& device : test::devices()) {
    std::vector<uint8_t> bytes(256);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    check_numbers(bytes, device);
    std::vector<int16_t> words(1 << 16);
    for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<int16_t>(i);
    check_numbers(words, device);
    check_numbers(near_powers<uint32_t>(), device);
    check_numbers(near_powers<int32_t>(), device);
    check_numbers(near_powers<int64_t>(), device);
  }
}

TEST(StorageCast, FromF32AndF64RoundsOnceAndSaturates) {
  for (const Device& device : test::devices()) {
    check_numbers(near_values_and_midpoints<float>(), device);
    check_numbers(near_values_and_midpoints<double>(), device);
  }
}

// All values of the narrow floats.
TEST(StorageCast, FromEveryNarrowFloat) {
  for (const Device& device : test::devices())
    for (const DType from : {DType::F16, DType::BF16, DType::F8E4M3}) {
      const size_t bytes = dtype_bytes(from, 1), count = size_t{1} << (8 * bytes);
      std::vector<std::byte> patterns(count * bytes);
      for (size_t i = 0; i < count; ++i)
        std::memcpy(patterns.data() + i * bytes, &i, bytes);  // little end first
      const Tensor x = Tensor::from_bytes(patterns, {static_cast<int64_t>(count / 4), 4}, from, device);
      const std::vector<double> doubles = x.to_doubles();
      check_encoding(x, {doubles.begin(), doubles.end()});
    }
}

Tensor every_code(DType dtype, const Device& device) {
  const int bits = dtype_bits(dtype), count = 1 << bits;
  std::vector<std::byte> bytes(dtype_bytes(dtype, static_cast<size_t>(count)));
  for (int at = 0; at < count * bits; ++at)
    if ((at / bits >> at % bits & 1) != 0) bytes[static_cast<size_t>(at / 8)] |= std::byte{1} << at % 8;
  return Tensor::from_bytes(bytes, {count}, dtype, device);
}

TEST(StorageCast, BetweenEachOther) {
  for (const Device& device : test::devices())
    for (const DType from : kStorage)
      for (const DType to : kStorage) {
        if (from == to) continue;
        const Codes source(from), codes(to);
        const std::vector<int> got = codes_of(every_code(from, device).to_dtype(to));
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], codes.nearest(source.values[i]))
              << dtype_name(from) << " " << i << " to " << dtype_name(to);
      }
}

TEST(StorageCast, ToEveryDType) {
  for (const Device& device : test::devices())
    for (const DType from : kStorage) {
      const Tensor x = every_code(from, device);
      const std::vector<double> values = Codes(from).values;
      for (const DType to : test::arithmetic_dtypes()) {
        const std::vector<double> got = x.to_dtype(to).to_doubles();
        const std::vector<double> want =
            Tensor::from_vec(values, {static_cast<int64_t>(values.size())}, device).to_dtype(to).to_doubles();
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
              << dtype_name(from) << " " << i << " to " << dtype_name(to) << ": " << got[i];
      }
    }
}

// f8e8m0 fills whole bytes, so it has views.
TEST(StorageCast, ViewsAreDecodedByTheirStrides) {
  for (const Device& device : test::devices()) {
    const Tensor x = every_code(DType::F8E8M0, device).narrow(0, 125, 6).reshape({2, 3});  // 2^-2 to 2^3
    EXPECT_EQ(x.t().to_dtype(DType::F32).to_vec<float>(), (std::vector<float>{0.25f, 2, 0.5f, 4, 1, 8}));
    EXPECT_EQ(x.narrow(1, 1, 2).to_dtype(DType::F64).to_vec<double>(), (std::vector<double>{0.5, 1, 4, 8}));
    EXPECT_EQ(x.t().to_dtype(DType::F6E3M2).to_dtype(DType::F32).to_vec<float>(),
              (std::vector<float>{0.25f, 2, 0.5f, 4, 1, 8}));
  }
}

}  // namespace
}  // namespace beeswax
