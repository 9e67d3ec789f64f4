// SPDX-License-Identifier: Apache-2.0
// The error bounds of core/math. By default a dense sample; with BEESWAX_EXHAUSTIVE=1 all 2^32 floats and a
// larger sample of doubles for every one-argument function, one test each, and a larger sample for pow.
// tools/math_bounds.py runs those and makes docs/math-bounds.md of them.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "beeswax/portable.h"
#include "core/thread_pool.h"
#include "math/loops.h"
#include "math/reference.h"
#include "support/isa_levels.h"

namespace beeswax {
namespace {

struct Stated {
  const char* name;
  long double (*precise)(long double x);
  double ulp32, ulp64;
};

constexpr Stated kStated[] = {
#define BW_MATH(name, value, wide, precise_value, ulp32, ulp64) \
  {#name, [](long double x) -> long double { return precise_value; }, ulp32, ulp64},
#include "math/functions.def"
};

template <class T>
double stated_bound(const Stated& f) {
  return sizeof(T) == 4 ? f.ulp32 : f.ulp64;
}

/// The largest error found and where.
struct Worst {
  double error = 0;
  double x = 0;
  double y = 0;  // the second argument of pow

  void see(double e, double at, double second = 0) {
    if (e > error || (e == error && std::fabs(at) < std::fabs(x))) *this = {e, at, second};
  }
};

template <class T>
void evaluate(int function, const T* x, T* y, int64_t count) {
  const cpu::MathLoops::Function& loops = cpu::math_loops().function[function];
  if constexpr (sizeof(T) == 4) {
    loops.f32(x, y, count);
  } else {
    loops.f64(x, y, count);
  }
}

template <class T>
Worst worst_of(int function, const std::vector<T>& x) {
  std::mutex mutex;
  Worst worst;
  parallel_ranges(static_cast<int64_t>(x.size()), 4096, [&](int64_t begin, int64_t end) {
    std::vector<T> y(static_cast<size_t>(end - begin));
    evaluate(function, x.data() + begin, y.data(), end - begin);
    Worst mine;
    for (int64_t i = begin; i < end; ++i) {
      const T at = x[static_cast<size_t>(i)];
      const long double r = kStated[function].precise(at);
      mine.see(precise::error(y[static_cast<size_t>(i - begin)], r), static_cast<double>(at));
    }
    const std::lock_guard lock(mutex);
    worst.see(mine.error, mine.x);
  });
  return worst;
}

/// Every exponent with random significands, both signs; the special values; the neighbours of every number at
/// which some function changes its formula; and `uniform` numbers where most functions do something.
template <class T>
std::vector<T> sample(int for_each_exponent, int uniform, uint64_t seed) {
  using L = std::numeric_limits<T>;
  std::vector<T> x = {0,    L::denorm_min(), L::min(), L::max(), L::infinity(), L::quiet_NaN(),
                      T(1), T(0.5),          T(2)};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> one_to_two(1.0, 2.0);
  for (int e = L::min_exponent - L::digits; e < L::max_exponent; ++e) {
    x.push_back(std::ldexp(T(1), e));
    x.push_back(std::ldexp(T(2) - L::epsilon(), e));
    for (int i = 0; i < for_each_exponent; ++i)
      x.push_back(std::ldexp(static_cast<T>(one_to_two(random)), e));
  }
  for (double at : {0.17328679513998633,
                    1.4007358551025391,  // the worst float of log2
                    0.34657359027997264,
                    0.29289321881345254,
                    0.41421356237309503,
                    0.70710678118654757,
                    1.4142135623730951,
                    0.8,
                    1.0,
                    4.0,
                    6.0,
                    9.0,
                    9.5,
                    10.0,
                    10.55,
                    11.0,
                    12.0,
                    14.2,
                    15.5,
                    16.635532333438686,
                    16.98,
                    17.33,
                    18.0,
                    20.0,
                    20.5,
                    22.0,
                    26.5,
                    27.3,
                    28.0,
                    36.04,
                    36.74,
                    37.5,
                    38.0,
                    38.5,
                    39.5,
                    60.0,
                    64.0,
                    87.0,
                    87.33,
                    88.02,
                    88.72,
                    89.0,
                    89.41,
                    90.0,
                    100.0,
                    103.28,
                    103.97,
                    104.0,
                    115.0,
                    126.0,
                    128.0,
                    129.0,
                    149.0,
                    150.0,
                    151.0,
                    500.0,
                    512.0,
                    700.0,
                    708.4,
                    709.78,
                    710.0,
                    710.47,
                    711.0,
                    744.4,
                    745.13,
                    746.0,
                    800.0,
                    1022.0,
                    1024.0,
                    1025.0,
                    1074.0,
                    1075.0,
                    1076.0,
                    65536.0,
                    1048576.0}) {
    T up = static_cast<T>(at), down = up;
    for (int i = 0; i < 100; ++i) {
      x.push_back(up);
      x.push_back(down);
      up = std::nextafter(up, L::infinity());
      down = std::nextafter(down, T(0));
    }
  }
  for (int i = 1; i < 2000; ++i) x.push_back(static_cast<T>(i * 1.5707963267948966));
  const double reach = sizeof(T) == 4 ? 1 : 7;
  std::uniform_real_distribution<double> near(0.0, 1.5), middle(0.0, 30.0), far(0.0, 130.0 * reach);
  for (int i = 0; i < uniform; ++i)
    x.push_back(static_cast<T>(i % 3 == 0 ? near(random) : i % 3 == 1 ? middle(random) : far(random)));
  const size_t count = x.size();
  for (size_t i = 0; i < count; ++i) x.push_back(-x[i]);
  return x;
}

template <class T>
void check_bounds(const std::vector<T>& x) {
  for (int f = 0; f < cpu::kMathFunctions; ++f) {
    const Worst worst = worst_of(f, x);
    EXPECT_LE(worst.error, stated_bound<T>(kStated[f])) << kStated[f].name << " at " << worst.x;
    if (std::getenv("BEESWAX_MATH_SHOW") != nullptr)
      std::printf("%-10s f%d %.3f at %.17g\n", kStated[f].name, int(8 * sizeof(T)), worst.error, worst.x);
  }
}

TEST(MathBounds, FloatSample) { check_bounds(sample<float>(300, 200000, 1)); }
TEST(MathBounds, DoubleSample) { check_bounds(sample<double>(10, 60000, 2)); }

template <class T>
void check_levels(const std::vector<T>& x) {
  const cpu::Isa before = cpu::isa();
  std::vector<T> y(x.size()), z(x.size());
  for (int f = 0; f < cpu::kMathFunctions; ++f) {
    cpu::set_isa(cpu::Isa::base);
    evaluate(f, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (cpu::Isa level : all_levels()) {
      cpu::set_isa(level);
      evaluate(f, x.data(), z.data(), static_cast<int64_t>(x.size()));
      size_t differing = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const bool same = std::memcmp(&y[i], &z[i], sizeof(T)) == 0 || (y[i] != y[i] && z[i] != z[i]);
        if (!same && differing++ == 0)
          ADD_FAILURE() << kStated[f].name << "(" << x[i] << ") on " << isa_name(level);
      }
      EXPECT_EQ(differing, 0u) << kStated[f].name;
    }
  }
  cpu::set_isa(before);
}

TEST(MathBounds, EveryLevelGivesTheSameBits) {
  check_levels(sample<float>(100, 20000, 3));
  check_levels(sample<double>(10, 20000, 4));
}

template <class T>
Worst check_pow(int64_t count, uint64_t seed, double bound) {
  std::mutex mutex;
  Worst worst;
  parallel_ranges(count, 1 << 14, [&](int64_t begin, int64_t end) {
    std::mt19937_64 random(seed + static_cast<uint64_t>(begin));
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    std::vector<T> x, y, z(static_cast<size_t>(end - begin));
    const double most = sizeof(T) == 4 ? 128 : 1024;
    for (int64_t i = begin; i < end; ++i) {
      // A base of any size, near 1, or a small whole number; an exponent that takes the result to any size.
      const auto kind = random() % 4;
      const double wide = std::exp2(most * (2 * unit(random) - 1));
      const double close = 1 + (unit(random) - 0.5) * std::exp2(-24 * unit(random));
      const double base = kind == 0   ? wide
                          : kind == 1 ? close
                          : kind == 2 ? std::floor(1 + 100 * unit(random))
                                      : 3 * unit(random);
      x.push_back(static_cast<T>(base));
      const double target = 1.17 * most * (2 * unit(random) - 1);
      const double exponent = target / std::log2(static_cast<double>(x.back()));
      y.push_back(static_cast<T>(std::isfinite(exponent) ? (kind == 2 ? std::round(exponent) : exponent)
                                                         : unit(random)));
      if (kind == 2 && random() % 2 == 0) x.back() = -x.back();
    }
    if constexpr (sizeof(T) == 4) {
      cpu::math_loops().pow32(x.data(), y.data(), z.data(), end - begin);
    } else {
      cpu::math_loops().pow64(x.data(), y.data(), z.data(), end - begin);
    }
    Worst mine;
    for (size_t i = 0; i < z.size(); ++i) {
      const long double r = std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
      mine.see(precise::error(z[i], r), static_cast<double>(x[i]), static_cast<double>(y[i]));
    }
    const std::lock_guard lock(mutex);
    worst.see(mine.error, mine.x, mine.y);
  });
  EXPECT_LE(worst.error, bound) << "pow(" << worst.x << ", " << worst.y << ")";
  return worst;
}
constexpr double kPowBound = 1.1;

TEST(MathBounds, Pow) {
  const Worst single = check_pow<float>(1 << 19, 5, kPowBound);
  const Worst twice = check_pow<double>(1 << 18, 6, kPowBound);
  if (std::getenv("BEESWAX_MATH_SHOW") != nullptr) std::printf("pow %.3f %.3f\n", single.error, twice.error);
}

template <class T>
void check_pow_specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           4,
                           5,
                           T(0.5),
                           T(1.5),
                           T(2.5),
                           T(1e10),
                           T(1e10) + 1,
                           L::max(),
                           L::min(),
                           L::denorm_min(),
                           L::infinity(),
                           L::quiet_NaN(),
                           std::nextafter(T(1), T(2)),
                           std::nextafter(T(1), T(0)),
                           std::ldexp(T(1), L::digits - 1) + 1,
                           std::ldexp(T(1), L::digits - 1) + T(0.5),
                           std::ldexp(T(1), L::digits) - 1,
                           std::ldexp(T(1), L::digits)};
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  for (T x : values) {
    const std::vector<T> bases(values.size(), x);
    std::vector<T> z(values.size());
    if constexpr (sizeof(T) == 4) {
      cpu::math_loops().pow32(bases.data(), values.data(), z.data(), static_cast<int64_t>(z.size()));
    } else {
      cpu::math_loops().pow64(bases.data(), values.data(), z.data(), static_cast<int64_t>(z.size()));
    }
    for (size_t i = 0; i < z.size(); ++i) {
      const T r = std::pow(x, values[i]);
      // Infinities, zeros with their sign, NaN and exact results as C99 has them; the rest within the bound.
      EXPECT_LE(precise::error(
                    z[i], std::isfinite(r) && r != 0
                              ? std::pow(static_cast<long double>(x), static_cast<long double>(values[i]))
                              : static_cast<long double>(r)),
                kPowBound)
          << "pow(" << x << ", " << values[i] << ") = " << z[i] << ", not " << r;
      EXPECT_EQ(std::signbit(z[i]), std::isnan(r) ? std::signbit(z[i]) : std::signbit(r))
          << x << " " << values[i];
    }
  }
}
TEST(MathBounds, PowSpecialCases) {
  check_pow_specials<float>();
  check_pow_specials<double>();
}

/// All floats. A fast reference finds the blocks that may hold a new worst case; the precise one judges them.
Worst worst_of_all_floats(int function) {
  constexpr int64_t kBlock = 4096;
  std::mutex mutex;
  Worst worst;
  std::atomic<double> so_far{0};
  ThreadPool::global().parallel_for(int64_t{1} << 12, [&](int64_t task) {
    alignas(64) float x[kBlock], y[kBlock];
    for (int64_t block = 0; block < 256; ++block) {
      const uint32_t first = static_cast<uint32_t>((task * 256 + block) * kBlock);
      for (uint32_t i = 0; i < kBlock; ++i) x[i] = bit_cast<float>(first + i);
      evaluate(function, x, y, kBlock);
      if (cpu::math_loops().function[function].screen(x, y, kBlock) <= so_far.load()) continue;
      Worst mine;
      for (int64_t i = 0; i < kBlock; ++i)
        mine.see(precise::error(y[i], kStated[function].precise(x[i])), static_cast<double>(x[i]));
      const std::lock_guard lock(mutex);
      worst.see(mine.error, mine.x);
      so_far.store(worst.error);
    }
  });
  return worst;
}

// Function kMathFunctions stands for pow.
class EveryFloat : public testing::TestWithParam<int> {};

std::string function_name(int f) { return f < cpu::kMathFunctions ? kStated[f].name : "pow"; }

std::string place(const Worst& worst, bool pair) {
  char text[80];
  if (pair) {
    std::snprintf(text, sizeof(text), "%.17g, %.17g", worst.x, worst.y);
  } else {
    std::snprintf(text, sizeof(text), "%.17g", worst.x);
  }
  return text;
}

TEST_P(EveryFloat, IsWithinTheBound) {
  const char* wanted = std::getenv("BEESWAX_EXHAUSTIVE");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0)
    GTEST_SKIP() << "set BEESWAX_EXHAUSTIVE=1 to run over all floats";
  const int f = GetParam();
  const bool pair = f == cpu::kMathFunctions;
  const double bound32 = pair ? kPowBound : kStated[f].ulp32, bound64 = pair ? kPowBound : kStated[f].ulp64;
  const Worst single = pair ? check_pow<float>(int64_t{1} << 24, 8, kPowBound) : worst_of_all_floats(f);
  const Worst twice =
      pair ? check_pow<double>(int64_t{1} << 24, 9, kPowBound) : worst_of(f, sample<double>(400, 2000000, 7));
  EXPECT_LE(single.error, bound32) << function_name(f) << " at " << single.x;
  EXPECT_LE(twice.error, bound64) << function_name(f) << " at " << twice.x;
  std::printf("worst: %s | %.3f | %s | %g | %.3f | %s | %g\n", function_name(f).c_str(), single.error,
              place(single, pair).c_str(), bound32, twice.error, place(twice, pair).c_str(), bound64);
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, EveryFloat, testing::Range(0, cpu::kMathFunctions + 1),
                         [](const testing::TestParamInfo<int>& info) { return function_name(info.param); });

}  // namespace
}  // namespace beeswax
