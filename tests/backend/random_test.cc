// SPDX-License-Identifier: Apache-2.0
// Random numbers: the generator's published vectors, the documented way from words to numbers, bounds,
// moments, and the state of a device's stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <thread>

#include "beeswax/tensor.h"
#include "core/philox.h"
#include "support/configurations.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/raw.h"

namespace beeswax {
namespace {

constexpr DType kFloats[] = {DType::BF16, DType::F16, DType::F32, DType::F64, DType::F8E4M3};
constexpr double kPi = 3.14159265358979323846;

// Philox 4x32-10 a second time, over 128-bit products and with the key bumped step by step.
std::array<uint32_t, 4> slow_philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] = static_cast<uint32_t>(key[0] + uint64_t{2654435769});
      key[1] = static_cast<uint32_t>(key[1] + uint64_t{3144134277});
    }
    const auto product = [](uint64_t a, uint64_t b, bool high) {
      const uint64_t whole = a * b;
      return static_cast<uint32_t>(high ? whole / 4294967296 : whole % 4294967296);
    };
    counter = {
        product(3449720151, counter[2], true) ^ counter[1] ^ key[0], product(3449720151, counter[2], false),
        product(3528531795, counter[0], true) ^ counter[3] ^ key[1], product(3528531795, counter[0], false)};
  }
  return counter;
}

// Word `i` of the stream of a seed that begins at block `first`.
uint32_t word(uint64_t seed, uint64_t first, uint64_t i) {
  const uint64_t block = first + i / 4;
  return slow_philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                     {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)})[i % 4];
}

TEST(Random, PublishedVectors) {
  struct Case {
    std::array<uint32_t, 4> counter;
    std::array<uint32_t, 2> key;
    std::array<uint32_t, 4> expected;
  };
  const Case cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Case& c : cases) {
    const PhiloxBlock made =
        philox({{c.counter[0], c.counter[1], c.counter[2], c.counter[3]}}, philox_keys(c.key[0], c.key[1]));
    const std::array<uint32_t, 4> slow = slow_philox(c.counter, c.key);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(made.word[i], c.expected[i]);
      EXPECT_EQ(slow[i], c.expected[i]);
    }
  }
}

TEST(Random, UniformFromWords) {
  const Device device = Device::default_device();
  const uint64_t seed = 0x123456789abcdef0;
  device.set_seed(seed);
  uint64_t block = 0;
  for (int64_t count : {1, 3, 4, 5, 255, 256, 257, 70001}) {
    const std::vector<float> x = Tensor::rand({count}, DType::F32).to_vec<float>();
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(x[static_cast<size_t>(i)],
                std::ldexp(static_cast<float>(word(seed, block, static_cast<uint64_t>(i)) >> 8), -24));
    block += static_cast<uint64_t>((count + 3) / 4);
    const std::vector<double> y = Tensor::rand({count}, DType::F64, device, -3, 5).to_vec<double>();
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<uint64_t>(2 * i);
      const uint64_t bits = (uint64_t{word(seed, block, at + 1)} << 32 | word(seed, block, at)) >> 11;
      ASSERT_EQ(y[static_cast<size_t>(i)], -3 + 8 * std::ldexp(static_cast<double>(bits), -53));
    }
    block += static_cast<uint64_t>((count + 1) / 2);
    // The narrow types are the f32 numbers, rounded.
    const std::vector<f16> z = Tensor::rand({count}, DType::F16).to_vec<f16>();
    for (int64_t i = 0; i < count; ++i) {
      const float wide =
          std::ldexp(static_cast<float>(word(seed, block, static_cast<uint64_t>(i)) >> 8), -24);
      ASSERT_EQ(z[static_cast<size_t>(i)].bits, f16(std::min(wide, 1 - 0x1p-11f)).bits);
    }
    block += static_cast<uint64_t>((count + 3) / 4);
  }
}

TEST(Random, NormalFromWords) {
  const Device device = Device::default_device();
  device.set_seed(77);
  const int64_t count = 100001;
  const std::vector<float> x = Tensor::randn({count}, DType::F32).to_vec<float>();
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(i / 2 * 2);
    const float u = static_cast<float>(word(77, 0, at)) * 0x1p-32f + 0x1p-33f;
    const double radius = std::sqrt(-2 * std::log(static_cast<double>(u)));
    const double turn = std::ldexp(static_cast<double>(word(77, 0, at + 1) >> 8), -24);
    const double exact = radius * (i % 2 == 0 ? std::cos(2 * kPi * turn) : std::sin(2 * kPi * turn));
    ASSERT_NEAR(x[static_cast<size_t>(i)], exact, 4e-7 * std::max(1.0, std::fabs(exact))) << i;
  }
  const uint64_t block = static_cast<uint64_t>((count + 3) / 4);
  const std::vector<double> y = Tensor::randn({count}, DType::F64, device, 2, 3).to_vec<double>();
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(i / 2 * 4);
    const auto unit = [&](uint64_t first) {
      return std::ldexp(
          static_cast<double>((uint64_t{word(77, block, first + 1)} << 32 | word(77, block, first)) >> 11),
          -53);
    };
    const double radius = std::sqrt(-2 * std::log(unit(at) + 0x1p-53));
    const double angle = 2 * kPi * unit(at + 2);
    const double exact = 2 + 3 * radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    ASSERT_NEAR(y[static_cast<size_t>(i)], exact, 1e-14) << i;
  }
}

// The first numbers of the default seed, as tools/random_vectors.py computes them: uniform ones to the bit,
// normal ones within the error of log, sqrt and the sine or cosine.
TEST(Random, KnownAnswers) {
  const Device device = Device::default_device();
  const float uniform[] = {0x1.23dcbc0000000p-2f, 0x1.b7842c0000000p-1f, 0x1.9806160000000p-1f,
                           0x1.f4df380000000p-1f, 0x1.3503500000000p-4f, 0x1.005d980000000p-1f,
                           0x1.89b2800000000p-3f, 0x1.a51ad00000000p-4f};
  const double normal32[] = {0.997856180,  -1.230716380, 0.667520830, -0.091728737,
                             -2.273469152, -0.010200202, 1.450156924, 1.093214480};
  const double normal64[] = {0.54739503189981797,  -0.075221311266135113, 0.93921499936902109,
                             0.70803614791266734,  1.6716250663712413,    -0.40699057474229922,
                             -0.22847177237415364, -0.19927566226871565};
  device.set_seed(299792458);
  const std::vector<float> u = Tensor::rand({8}, DType::F32).to_vec<float>();
  device.set_seed(299792458);
  const std::vector<float> n = Tensor::randn({8}, DType::F32).to_vec<float>();
  device.set_seed(299792458);
  const std::vector<double> d = Tensor::randn({8}, DType::F64).to_vec<double>();
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(u[i], uniform[i]);
    EXPECT_NEAR(n[i], normal32[i], 6e-7);
    EXPECT_NEAR(d[i], normal64[i], 2e-15);
  }
}

TEST(Random, SeedAndState) {
  const Device device = Device::default_device();
  device.set_seed(5);
  EXPECT_EQ(device.seed(), 5u);
  const Tensor a = Tensor::rand({10}, DType::F32);
  const Tensor b = Tensor::rand({10}, DType::F32);
  EXPECT_NE(a.to_bytes(), b.to_bytes());
  device.set_seed(5);
  EXPECT_EQ(Tensor::rand({2, 5}, DType::F32).to_bytes(), a.to_bytes());
  EXPECT_EQ(b.rand_like().to_bytes(), b.to_bytes());
  device.set_seed(6);
  EXPECT_NE(Tensor::rand({10}, DType::F32).to_bytes(), a.to_bytes());
  device.set_seed(5);
  EXPECT_EQ(Tensor::rand({0, 3}, DType::F32).shape(), Shape({0, 3}));
  EXPECT_EQ(Tensor::rand({10}, DType::F32).to_bytes(), a.to_bytes());
  EXPECT_EQ(b.to_dtype(DType::F64).randn_like(1, 2).dtype(), DType::F64);
}

// Draws from many threads share one stream: together they are the numbers of one thread.
TEST(Random, ThreadsTakeDisjointRanges) {
  const Device device = Device::default_device();
  device.set_seed(9);
  std::multiset<double> expected;
  for (int i = 0; i < 80; ++i)
    for (double value : Tensor::rand({32}, DType::F64).to_vec<double>()) expected.insert(value);
  device.set_seed(9);
  std::array<std::vector<double>, 4> got;
  std::vector<std::thread> threads;
  for (auto& mine : got)
    threads.emplace_back([&mine, &device] {
      for (int i = 0; i < 20; ++i)
        for (double value : Tensor::rand({32}, DType::F64, device).to_vec<double>()) mine.push_back(value);
    });
  for (std::thread& thread : threads) thread.join();
  std::multiset<double> all;
  for (const auto& mine : got) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all, expected);
}

TEST(Random, UniformStaysInsideItsBounds) {
  Device::default_device().set_seed(31);
  const std::pair<double, double> bounds[] = {{0, 1},       {1, 2},   {-1, 1},   {0.1, 0.3},
                                              {-0.3, -0.1}, {16, 17}, {0, 1e-3}, {-400, 300}};
  for (DType dtype : kFloats) {
    for (const auto& [lo, hi] : bounds) {
      const std::vector<double> x =
          Tensor::rand({200000}, dtype, Device::default_device(), lo, hi).to_doubles();
      ASSERT_GE(*std::ranges::min_element(x), lo) << dtype_name(dtype) << " " << lo << " " << hi;
      ASSERT_LT(*std::ranges::max_element(x), hi) << dtype_name(dtype) << " " << lo << " " << hi;
    }
  }
  // One value alone: 1 is the only f8e4m3 in [1, 1.1).
  for (double value : Tensor::rand({100}, DType::F8E4M3, Device::default_device(), 1, 1.1).to_doubles())
    ASSERT_EQ(value, 1);
}

// Sums of n independent terms stay within 5 standard deviations: the seed is fixed, so this never flickers.
TEST(Random, UniformMoments) {
  Device::default_device().set_seed(1);
  const double n = 1 << 20;
  for (DType dtype : {DType::F32, DType::F64}) {
    const std::vector<double> x = Tensor::rand({1 << 20}, dtype).to_doubles();
    double sum = 0, squares = 0, lagged = 0;
    std::array<double, 256> bins{};
    for (size_t i = 0; i < x.size(); ++i) {
      const double d = x[i] - 0.5;
      sum += d;
      squares += d * d - 1.0 / 12;
      if (i > 0) lagged += d * (x[i - 1] - 0.5);
      bins[static_cast<size_t>(x[i] * 256)] += 1;
    }
    EXPECT_LT(std::fabs(sum), 5 * std::sqrt(n / 12));
    EXPECT_LT(std::fabs(squares), 5 * std::sqrt(n / 180));  // E d^4 - 1/144 = 1/80 - 1/144
    EXPECT_LT(std::fabs(lagged), 5 * std::sqrt(n) / 12);
    double chi = 0;
    for (double count : bins) chi += (count - n / 256) * (count - n / 256) / (n / 256);
    EXPECT_NEAR(chi, 255, 5 * std::sqrt(2 * 255.0));
  }
}

TEST(Random, NormalMoments) {
  Device::default_device().set_seed(2);
  const double n = 1 << 20;
  for (DType dtype : {DType::F32, DType::F64}) {
    std::vector<double> x = Tensor::randn({1 << 20}, dtype).to_doubles();
    double sum = 0, squares = 0, cubes = 0, fourths = 0, pairs = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double z = x[i];
      sum += z;
      squares += z * z - 1;
      cubes += z * z * z;
      fourths += z * z * z * z - 3;
      if (i % 2 == 1) pairs += z * x[i - 1];
    }
    EXPECT_LT(std::fabs(sum), 5 * std::sqrt(n));
    EXPECT_LT(std::fabs(squares), 5 * std::sqrt(2 * n));
    EXPECT_LT(std::fabs(cubes), 5 * std::sqrt(15 * n));
    EXPECT_LT(std::fabs(fourths), 5 * std::sqrt(96 * n));  // E z^8 - 9 = 105 - 9
    EXPECT_LT(std::fabs(pairs), 5 * std::sqrt(n / 2));
    // Kolmogorov and Smirnov: the largest distance of the distribution functions, times sqrt(n), passes 2.3
    // once in 20000 samples.
    std::ranges::sort(x);
    double distance = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = 0.5 * std::erfc(-x[i] / std::sqrt(2.0));
      distance = std::max({distance, std::fabs(exact - static_cast<double>(i) / n),
                           std::fabs(exact - static_cast<double>(i + 1) / n)});
    }
    EXPECT_LT(distance * std::sqrt(n), 2.3);
  }
  const std::vector<double> shifted =
      Tensor::randn({100000}, DType::F16, Device::default_device(), 10, 0.5).to_doubles();
  double mean = 0;
  for (double value : shifted) mean += value / 100000;
  EXPECT_NEAR(mean, 10, 5 * 0.5 / std::sqrt(100000.0));
  for (double value : Tensor::randn({100}, DType::BF16, Device::default_device(), 3, 0).to_doubles())
    ASSERT_EQ(value, 3);
}

TEST(Random, SameBitsEverywhere) {
  for (DType dtype : kFloats) {
    test::expect_same_everywhere([&] {
      Device::default_device().set_seed(1234);
      return Tensor::cat({Tensor::rand({200003}, dtype, Device::default_device(), -0.7, 1.9),
                          Tensor::randn({200003}, dtype, Device::default_device(), 0.3, 1.7)},
                         0);
    });
  }
}

TEST(Random, Errors) {
  const Device device = Device::default_device();
  EXPECT_ERROR(Tensor::rand({2}, DType::I32), UnsupportedDType,
               "[rand] not defined for i32; accepted dtypes: bf16, f16, f32, f64, f8e4m3");
  EXPECT_ERROR(Tensor::randn({2}, DType::U8), UnsupportedDType, "[randn] not defined for u8");
  EXPECT_ERROR(Tensor::randn({2}, DType::F4), UnsupportedDType, "[randn] not defined for f4");
  EXPECT_ERROR(Tensor::rand({2}, DType::F32, device, 1, 1), InvalidArgument,
               "[rand] the bounds 1 and 1 of a f32 must be finite");
  EXPECT_ERROR(Tensor::rand({2}, DType::F32, device, 0, std::nan("")), InvalidArgument,
               "[rand] the bounds 0 and nan");
  EXPECT_ERROR(Tensor::rand({2}, DType::F32, device, -3e38, 3e38), InvalidArgument,
               "it and their difference in range of f32");
  EXPECT_ERROR(Tensor::rand({2}, DType::F32, device, -4e38, -1e38), InvalidArgument, "in range of f32");
  EXPECT_ERROR(Tensor::rand({2}, DType::BF16, device, -3.5e38, -1e38), InvalidArgument, "in range of f32");
  EXPECT_EQ(Tensor::rand({2}, DType::F64, device, -4e38, -1e38).shape(), Shape({2}));
  EXPECT_ERROR(Tensor::rand({2}, DType::F16, device, 1e5, 2e5), InvalidArgument,
               "[rand] no f16 lies in [1e+05, 2e+05)");
  EXPECT_ERROR(Tensor::rand({2}, DType::F8E4M3, device, 1.01, 1.02), InvalidArgument,
               "[rand] no f8e4m3 lies in [1.01, 1.02)");
  EXPECT_ERROR(Tensor::randn({2}, DType::F16, device, 1e300, 1), InvalidArgument, "must be finite in f32");
  EXPECT_ERROR(Tensor::randn({2}, DType::F32, device, 0, 1e39), InvalidArgument, "[randn] the mean 0");
  EXPECT_ERROR(Tensor::randn({2}, DType::F32, device, 0, -1), InvalidArgument, "the standard deviation -1");
  EXPECT_ERROR(Tensor::randn({2}, DType::F32, device, HUGE_VAL, 1), InvalidArgument, "the mean inf");
}

}  // namespace
}  // namespace beeswax
