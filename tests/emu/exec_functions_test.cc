// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms, sines and cosines against long doubles, in every rounding; packed multiply-adds
// of halves against integers; and the bits of all of them on every instruction-set level of the host.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

// Each function in MODE's four roundings: nearest, up, down, towards zero.
const char* const kSource = R"(
#define KERNEL extern "C" __global__ void
#define MODE(n) asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), " #n ::: "memory")
#define ROUNDINGS(set) set(0) set(5) set(10) set(15)
#define ONE(n) MODE(n); asm volatile(INSTRUCTION " %0, %1" : "=v"(r) : "v"(x)); *o++ = r;
#define FUNCTION(name) KERNEL name(const unsigned* a, unsigned* c, int n) { \
    const int i = global_x(); \
    if (i >= n) return; \
    const unsigned x = a[i]; unsigned r = 0, *o = c + 4 * i; \
    ROUNDINGS(ONE) MODE(0); }
#define INSTRUCTION "v_exp_f32"
FUNCTION(exp_f32)
#undef INSTRUCTION
#define INSTRUCTION "v_log_f32"
FUNCTION(log_f32)
#undef INSTRUCTION
#define INSTRUCTION "v_sin_f32"
FUNCTION(sin_f32)
#undef INSTRUCTION
#define INSTRUCTION "v_cos_f32"
FUNCTION(cos_f32)
#undef INSTRUCTION
#define INSTRUCTION "v_exp_f16"
FUNCTION(exp_f16)
#undef INSTRUCTION
#define INSTRUCTION "v_log_f16"
FUNCTION(log_f16)
#undef INSTRUCTION
#define INSTRUCTION "v_sin_f16"
FUNCTION(sin_f16)
#undef INSTRUCTION
#define INSTRUCTION "v_cos_f16"
FUNCTION(cos_f16)
KERNEL packed(const unsigned* a, const unsigned* b, const unsigned* d, unsigned* c, int n) {
  const int i = global_x();
  if (i >= n) return;
  const unsigned x = a[i], y = b[i], z = d[i];
  unsigned r = 0x12345678, s = 0, t = 0, u = 0;
  if (i % 7 != 3) asm volatile("v_pk_fma_f16 %0, %1, %2, %3" : "+v"(r) : "v"(x), "v"(y), "v"(z));
  asm volatile("v_pk_fma_f16 %0, %1, %2, %3 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[0,1,0] neg_hi:[1,0,0]"
               : "=v"(s) : "v"(x), "v"(y), "v"(z));
  asm volatile("v_pk_mul_f16 %0, %1, %2" : "=v"(t) : "v"(x), "v"(y));
  asm volatile("v_pk_add_f16 %0, %1, %2" : "=v"(u) : "v"(x), "v"(y));
  unsigned* o = c + 4 * i;
  o[0] = r; o[1] = s; o[2] = t; o[3] = u;
}
#if defined(__gfx1201__)
KERNEL scalar(const unsigned* a, unsigned* c, int n) {
  for (int i = 0; i < n; ++i) {
    const unsigned x = __builtin_amdgcn_readfirstlane(a[i]);
    unsigned r, s;
    asm volatile("v_s_exp_f32 %0, %1" : "=s"(r) : "s"(x));
    asm volatile("v_s_log_f32 %0, %1" : "=s"(s) : "s"(x));
    if (thread_x() == 0) { c[2 * i] = r; c[2 * i + 1] = s; }
  }
}
#endif
)";

constexpr float kInfinity = INFINITY;
float value(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

class ExecFunctions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
  }
  /// Four results of each, by rounding.
  std::vector<uint32_t> results(const std::string& kernel, const std::vector<uint32_t>& in) {
    const size_t n = in.size();
    const uint32_t* a = device->upload(in);
    uint32_t* c = device->upload(std::vector<uint32_t>(4 * n));
    device->run(kernel, {.grid = uint32_t((n + 255) / 256), .block = 256}, a, c, int(n));
    return device->download(c, 4 * n);
  }
  std::unique_ptr<Device> device;
  std::mt19937 generator{7};
  uint32_t random() { return uint32_t(generator()); }
};

constexpr size_t kCount = 1 << 18;
const float kEdges[] = {0.0f,       -0.0f,     1.0f,         -1.0f,     0.5f,       -0.5f,   0.25f,
                        -0.25f,     0.75f,     -0.75f,       2.0f,      -2.0f,      100.25f, 126.0f,
                        -126.0f,    127.0f,    -127.0f,      128.0f,    -128.0f,    -126.5f, -126.75f,
                        127.9999f,  -126.001f, -200.0f,      200.0f,    1e30f,      -1e30f,  1e-30f,
                        -1e-30f,    1e-38f,    -1e-38f,      1e-40f,    -1e-40f,    3.4e38f, -3.4e38f,
                        8388607.5f, 8388609.f, -4194303.25f, kInfinity, -kInfinity, NAN,     -NAN};

/// Floats of all exponents between two, near the edges, and NaNs.
std::vector<uint32_t> samples(std::mt19937& random, int lowest, int highest, bool negative) {
  std::vector<uint32_t> out = {0x7f812345, 0xffc54321, 0x3f3504f2, 0x3f3504f3, 0x3f3504f4};
  for (const float x : kEdges)
    for (int step = -2; step <= 2; ++step) out.push_back(bits(x) + uint32_t(step));
  for (uint32_t k = 1; k < 2000; ++k) {
    out.push_back(0x3f800000 + k);
    out.push_back(0x3f800000 - k);
  }
  while (out.size() < kCount) {
    const auto e = uint32_t(lowest + 127 + int(random() % uint32_t(highest - lowest + 1)));
    out.push_back((random() & 0x7fffff) | e << 23 | (negative && random() % 2 ? 0x80000000 : 0));
  }
  return out;
}

/// How far above the exact value, in units of the last place of floats of the larger's size.
long double error_of(float got, long double exact) {
  int e = 0;
  std::frexp(std::max(std::fabs(exact), std::fabs((long double)(got))), &e);
  return ((long double)(got)-exact) / std::ldexp(1.0L, std::max(e - 24, -149));
}

/// slack: by what share of a unit a result may miss its rounding; twice that in other roundings than to
/// nearest, in which errors do not cancel.
void check(const std::vector<uint32_t>& in, const std::vector<uint32_t>& out, long double slack,
           const std::function<long double(float)>& exact) {
  for (size_t i = 0; i < in.size(); ++i) {
    const float x = value(in[i]);
    const long double want = exact(x);
    for (size_t rounding = 0; rounding < 4; ++rounding) {
      const float got = value(out[4 * i + rounding]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got) && (bits(got) & 0x400000)) << x;
      } else if (std::isinf(want) || want == 0) {
        ASSERT_EQ(got, float(want)) << x << ", rounding " << rounding;
        ASSERT_TRUE(x != 0 || std::signbit(got) == std::signbit(want)) << x << ", rounding " << rounding;
      } else {
        const bool down = rounding == 2 || (rounding == 3 && want > 0),
                   up = rounding == 1 || (rounding == 3 && want < 0);
        const long double error = error_of(got, want),
                          least = down ? -1 - 2 * slack
                                  : up ? -2 * slack
                                       : -0.5L - slack,
                          most = down ? 2 * slack
                                 : up ? 1 + 2 * slack
                                      : 0.5L + slack;
        ASSERT_TRUE(error >= least && error <= most)
            << std::hexfloat << x << ": " << got << ", rounding " << rounding << ", off by " << double(error);
      }
    }
  }
}

// The results in f64 are off by less than 2^-51 of themselves, those of logarithms by less than 2^-44: these
// are shares of a unit of 2^-24 or more.
constexpr long double kSlack = 0x1p-26L, kLogSlack = 0x1p-20L;

TEST_P(ExecFunctions, Exponentials) {
  const std::vector<uint32_t> in = samples(generator, -30, 7, true);
  check(in, results("exp_f32", in), kSlack, [](float x) -> long double {
    if (x != x) return x;
    if (x < -126.0f) return 0.0L;
    return x >= 128.0f ? (long double)(kInfinity) : std::exp2((long double)(x));
  });
}
TEST_P(ExecFunctions, Logarithms) {
  const std::vector<uint32_t> in = samples(generator, -126, 127, false);
  check(in, results("log_f32", in), kLogSlack, [](float x) -> long double {
    if (x != x) return x;
    if (std::fabs(x) < 0x1p-126f) return -kInfinity;
    if (x == 1) return 0.0L;
    return x < 0 ? (long double)(NAN) : std::log2((long double)(x));
  });
}
/// sin(2 pi r) for |r| <= 1/2
long double sine_of_turns(long double r) {
  constexpr long double kPi = 3.141592653589793238462643383279502884L;
  if (std::fabs(r) > 0.25L) r = std::copysign(0.5L, r) - r;
  return std::fabs(r) > 0.125L ? std::copysign(std::cos(2 * kPi * (0.25L - std::fabs(r))), r)
                               : std::sin(2 * kPi * r);
}
TEST_P(ExecFunctions, Sines) {
  const std::vector<uint32_t> in = samples(generator, -40, 24, true);
  check(in, results("sin_f32", in), kSlack, [](float x) -> long double {
    if (!std::isfinite(x)) return NAN;
    const long double r = (long double)(x)-std::nearbyint((long double)(x));
    return x == 0 ? (long double)(x) : r == 0 ? 0.0L : sine_of_turns(r);
  });
}
TEST_P(ExecFunctions, Cosines) {
  const std::vector<uint32_t> in = samples(generator, -40, 24, true);
  check(in, results("cos_f32", in), kSlack, [](float x) -> long double {
    if (!std::isfinite(x)) return NAN;
    const long double r = std::fabs((long double)(x)-std::nearbyint((long double)(x)));
    return sine_of_turns(0.25L - r);
  });
}

/// A finite half in units of 2^-24.
int64_t units_of(uint16_t h) {
  const int e = h >> 10 & 31, m = h & 1023;
  const int64_t v = e == 0 ? m : int64_t(1024 + m) << (e - 1);
  return h & 0x8000 ? -v : v;
}
bool nan_half(uint16_t h) { return (h & 0x7fff) > 0x7c00; }
bool infinite_half(uint16_t h) { return (h & 0x7fff) == 0x7c00; }
/// The half nearest to a * b + c, which is computed in units of 2^-48.
uint16_t exact_fma(uint16_t a, uint16_t b, uint16_t c) {
  const auto sign = uint16_t((a ^ b) & 0x8000);
  if (nan_half(a) || nan_half(b) || nan_half(c)) return 0x7e00;
  if (infinite_half(a) || infinite_half(b)) {
    const uint16_t other = infinite_half(a) ? b : a;
    if ((other & 0x7fff) == 0 || (infinite_half(c) && (c & 0x8000) != sign)) return 0x7e00;
    return uint16_t(sign | 0x7c00);
  }
  if (infinite_half(c)) return c;
  __extension__ using Wide = __int128;
  const Wide sum = Wide(units_of(a)) * units_of(b) + (Wide(units_of(c)) << 24);
  if (sum == 0) {
    const bool zeros = (units_of(a) == 0 || units_of(b) == 0) && units_of(c) == 0;
    return zeros ? uint16_t(sign & c & 0x8000) : uint16_t(0);
  }
  const auto out_sign = uint16_t(sum < 0 ? 0x8000 : 0);
  const Wide size = sum < 0 ? -sum : sum;
  int top = 0;
  while (size >> (top + 1)) ++top;
  // The last place is ten below the first, but not below 2^-24.
  const int last = std::max(top - 10, 24);
  const Wide kept = size >> last, rest = size - (kept << last), tie = Wide(1) << (last - 1);
  const auto rounded = uint32_t(kept + (rest > tie || (rest == tie && (kept & 1)) ? 1 : 0));
  // A carry into the exponent is right by itself.
  const uint32_t h = (uint32_t(last - 24) << 10) + rounded;
  return uint16_t(out_sign | std::min(h, 0x7c00u));
}

TEST_P(ExecFunctions, PackedHalves) {
  const uint16_t edges[] = {0,      1,      2,      0x3ff,  0x400,  0x401,  0x3800, 0x3bff, 0x3c00, 0x3c01,
                            0x4000, 0x5bff, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x0c00, 0x1400, 0x2c00};
  std::vector<uint16_t> a, b, c;
  const auto add = [&](uint32_t x, uint32_t y, uint32_t z) {
    a.push_back(uint16_t(x));
    b.push_back(uint16_t(y));
    c.push_back(uint16_t(z));
  };
  for (const uint16_t x : edges)
    for (const uint16_t y : edges)
      for (const uint16_t z : edges)
        for (uint32_t signs = 0; signs < 8; ++signs)
          add(x | signs << 15, y | (signs & 2) << 14, z | (signs & 4) << 13);
  while (a.size() < 2 * kCount) {
    const uint32_t x = random(), y = random();
    if (x >> 31) {
      add(x, x >> 16, y);
      continue;
    }
    // A product near half a unit of the last place of c: 2^-11 of it, times (1 + i/1024) (1 - j/2048).
    const uint32_t e = 12 + x % 19, i = y % 8, j = y >> 3 & 7, half_exponent = e - 11 + 15;
    const uint32_t split = half_exponent / 2, signs = y >> 8;
    add(split << 10 | i | (signs & 1) << 15, ((half_exponent - split) << 10) - j,
        e << 10 | (x >> 8 & 0x3ff) | (signs & 2) << 14);
  }
  std::vector<uint32_t> words[3];
  const std::vector<uint16_t>* halves[3] = {&a, &b, &c};
  const size_t n = a.size() / 2;
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < n; ++i)
      words[k].push_back((*halves[k])[2 * i] | uint32_t((*halves[k])[2 * i + 1]) << 16);
  const uint32_t *da = device->upload(words[0]), *db = device->upload(words[1]),
                 *dc = device->upload(words[2]);
  uint32_t* out = device->upload(std::vector<uint32_t>(4 * n));
  device->run("packed", {.grid = uint32_t((n + 255) / 256), .block = 256}, da, db, dc, out, int(n));
  for (size_t i = 0; i < n; ++i) {
    const size_t low = 2 * i, high = low + 1;
    const auto same = [&](unsigned k, uint16_t want_low, uint16_t want_high) {
      for (const auto& [got, want] : {std::pair(uint16_t(out[4 * i + k]), want_low),
                                      std::pair(uint16_t(out[4 * i + k] >> 16), want_high)}) {
        if (nan_half(want))
          ASSERT_TRUE(nan_half(got)) << k << " of " << std::hex << words[0][i] << " " << words[1][i] << " "
                                     << words[2][i];
        else
          ASSERT_EQ(got, want) << k << " of " << std::hex << words[0][i] << " " << words[1][i] << " "
                               << words[2][i];
      }
    };
    if (i % 7 == 3)
      ASSERT_EQ(out[4 * i], 0x12345678);
    else
      same(0, exact_fma(a[low], b[low], c[low]), exact_fma(a[high], b[high], c[high]));
    same(1, exact_fma(a[high], b[low] ^ 0x8000, c[high]), exact_fma(a[low] ^ 0x8000, b[high], c[low]));
    const auto product = [](uint16_t x, uint16_t y) { return exact_fma(x, y, uint16_t((x ^ y) & 0x8000)); };
    same(2, product(a[low], b[low]), product(a[high], b[high]));
    same(3, exact_fma(a[low], 0x3c00, b[low]), exact_fma(a[high], 0x3c00, b[high]));
  }
}

/// A sum over the bits of everything above, and of the halves' functions.
uint64_t sum_of_bits() {
  Device device("gfx1100", compile(kSource, "gfx1100"));
  std::mt19937 random(11);
  std::vector<uint32_t> in = samples(random, -126, 127, true);
  for (uint32_t h = 0; h < 65536; ++h) in[in.size() - 1 - h] = h;
  const size_t n = in.size();
  const uint32_t* a = device.upload(in);
  uint32_t* c = device.upload(std::vector<uint32_t>(4 * n));
  uint64_t sum = 14695981039346656037u;
  const Shape shape{.grid = uint32_t((n + 255) / 256), .block = 256};
  const auto add = [&] {
    for (const uint32_t word : device.download(c, 4 * n)) sum = (sum ^ word) * 1099511628211u;
  };
  for (const char* kernel :
       {"exp_f32", "log_f32", "sin_f32", "cos_f32", "exp_f16", "log_f16", "sin_f16", "cos_f16"}) {
    device.run(kernel, shape, a, c, int(n));
    add();
  }
  return sum;
}
TEST(ExecLevels, SameBits) {
  EMU_NEEDS_CLANG();
  // A process takes its level once, so this test runs this program with this test again.
  if (std::getenv("EMU_TEST_SUM") != nullptr) {
    std::printf("sum %016llx\n", static_cast<unsigned long long>(sum_of_bits()));
    return;
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string first;
  for (const std::string level : {"base", "v3", "v4"}) {
    const std::string text = output_of("EMU_TEST_SUM=1 BEESWAX_EMU_ISA=" + level + " '" + self +
                                       "' --gtest_filter=ExecLevels.SameBits");
    const size_t at = text.find("sum ");
    ASSERT_NE(at, std::string::npos) << text;
    const std::string sum = text.substr(at, 20);
    if (first.empty()) first = sum;
    EXPECT_EQ(sum, first) << level;
  }
}

TEST(ExecScalarFunctions, SameBits) {
  EMU_NEEDS_CLANG();
  Device device("gfx1201", compile(kSource, "gfx1201"));
  std::mt19937 random(13);
  std::vector<uint32_t> in = samples(random, -10, 7, true);
  in.resize(8192);
  const size_t n = in.size();
  const uint32_t* a = device.upload(in);
  uint32_t *scalar = device.upload(std::vector<uint32_t>(2 * n)),
           *exp = device.upload(std::vector<uint32_t>(4 * n)),
           *log = device.upload(std::vector<uint32_t>(4 * n));
  device.run("scalar", {.grid = 1, .block = 32}, a, scalar, int(n));
  device.run("exp_f32", {.grid = uint32_t(n / 256), .block = 256}, a, exp, int(n));
  device.run("log_f32", {.grid = uint32_t(n / 256), .block = 256}, a, log, int(n));
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(scalar[2 * i], exp[4 * i]) << value(in[i]);
    ASSERT_EQ(scalar[2 * i + 1], log[4 * i]) << value(in[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecFunctions, testing::Values("gfx90a", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
