// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits: every code is widened, and floats around every tie are narrowed to the nearest code,
// found by going through all codes. gfx942 has the formats without infinity and -0, gfx12 those of the OCP.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"(
#define KERNEL extern "C" __global__ void
typedef float f2 __attribute__((ext_vector_type(2)));
KERNEL widen(const int* a, float* c) {
  const int i = global_x(), x = a[i];
  float* r = c + 16 * i;
  r[0] = __builtin_amdgcn_cvt_f32_fp8(x, 0); r[1] = __builtin_amdgcn_cvt_f32_fp8(x, 1);
  r[2] = __builtin_amdgcn_cvt_f32_fp8(x, 2); r[3] = __builtin_amdgcn_cvt_f32_fp8(x, 3);
  r[4] = __builtin_amdgcn_cvt_f32_bf8(x, 0); r[5] = __builtin_amdgcn_cvt_f32_bf8(x, 1);
  r[6] = __builtin_amdgcn_cvt_f32_bf8(x, 2); r[7] = __builtin_amdgcn_cvt_f32_bf8(x, 3);
  f2 p = __builtin_amdgcn_cvt_pk_f32_fp8(x, false), q = __builtin_amdgcn_cvt_pk_f32_fp8(x, true);
  r[8] = p.x; r[9] = p.y; r[10] = q.x; r[11] = q.y;
  p = __builtin_amdgcn_cvt_pk_f32_bf8(x, false); q = __builtin_amdgcn_cvt_pk_f32_bf8(x, true);
  r[12] = p.x; r[13] = p.y; r[14] = q.x; r[15] = q.y;
}
KERNEL narrow(const float* a, int* c) {
  const int i = global_x();
  const float x = a[i], y = -x;
  int* r = c + 4 * i;
  r[0] = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0x11223344, false);
  r[1] = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0x11223344, true);
  r[2] = __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0x11223344, false);
  r[3] = __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0x11223344, true);
}
KERNEL stochastic(const float* a, const int* s, int* c) {
  const int i = global_x();
  int* r = c + 4 * i;
  r[0] = __builtin_amdgcn_cvt_sr_fp8_f32(a[i], s[i], 0x11223344, 0);
  r[1] = __builtin_amdgcn_cvt_sr_fp8_f32(a[i], s[i], 0x11223344, 3);
  r[2] = __builtin_amdgcn_cvt_sr_bf8_f32(a[i], s[i], 0x11223344, 1);
  r[3] = __builtin_amdgcn_cvt_sr_bf8_f32(a[i], s[i], 0x11223344, 2);
}
#if defined(__gfx1200__)
KERNEL dots(const int* a, const int* b, const float* d, float* c) {
  const int i = global_x();
  float* r = c + 4 * i;
  asm volatile("v_dot4_f32_fp8_fp8 %0, %1, %2, %3" : "=v"(r[0]) : "v"(a[i]), "v"(b[i]), "v"(d[i]));
  asm volatile("v_dot4_f32_fp8_bf8 %0, %1, %2, %3" : "=v"(r[1]) : "v"(a[i]), "v"(b[i]), "v"(d[i]));
  asm volatile("v_dot4_f32_bf8_fp8 %0, %1, %2, %3" : "=v"(r[2]) : "v"(a[i]), "v"(b[i]), "v"(d[i]));
  asm volatile("v_dot4_f32_bf8_bf8 %0, %1, %2, %3" : "=v"(r[3]) : "v"(a[i]), "v"(b[i]), "v"(d[i]));
}
#endif
)";

struct Format {
  int mantissa;  // bits
  bool fnuz;
  double value(int code) const {
    const int e = code >> mantissa & ((1 << (7 - mantissa)) - 1), m = code & ((1 << mantissa) - 1);
    const int bias = (1 << (6 - mantissa)) - (fnuz ? 0 : 1);
    if (fnuz ? code == 0x80 : mantissa == 3 ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c) return NAN;
    if (!fnuz && mantissa == 2 && (code & 0x7f) == 0x7c) return code & 0x80 ? -INFINITY : INFINITY;
    const double magnitude = std::ldexp(e ? m + (1 << mantissa) : m, (e ? e : 1) - bias - mantissa);
    return code & 0x80 ? -magnitude : magnitude;
  }
  /// The nearest code of a number, the even one of two; what lies beyond the largest as if one more code
  /// followed it.
  int nearest(double x) const {
    const int sign = std::signbit(x) ? 0x80 : 0, largest = fnuz ? 0x7f : mantissa == 3 ? 0x7e : 0x7b;
    const double magnitude = std::fabs(x);
    int best = 0;
    for (int code = 1; code <= largest; ++code) {
      const double closer = std::fabs(value(code) - magnitude) - std::fabs(value(best) - magnitude);
      if (closer < 0 || (closer == 0 && code % 2 == 0)) best = code;
    }
    const double beyond = 2 * value(largest) - value(largest - 1);
    if (magnitude > (value(largest) + beyond) / 2 ||
        (magnitude == (value(largest) + beyond) / 2 && largest % 2))
      return fnuz ? 0x80 : sign | (mantissa == 3 ? 0x7f : 0x7c);
    return fnuz && best == 0 ? 0 : sign | best;
  }
};

class ExecSmallFloats : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
  }
  const bool fnuz = std::string(GetParam()) == "gfx942";
  const Format fp8{3, fnuz}, bf8{2, fnuz};
  std::unique_ptr<Device> device;
};

void expect_same(float got, double want, int code) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(got)) << code;
  else
    EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(float(want))) << code;
}

TEST_P(ExecSmallFloats, WidenEveryCode) {
  std::vector<int> a(256);
  for (int i = 0; i < 256; ++i)
    a[size_t(i)] =
        int(uint32_t(i) | uint32_t(255 - i) << 8 | uint32_t(i ^ 0x55) << 16 | uint32_t(i * 7 & 255) << 24);
  float* c = device->allocate<float>(256 * 16);
  device->run("widen", {.grid = 4, .block = 64}, device->upload(a), c);
  const std::vector<float> r = device->download(c, 256 * 16);
  for (size_t i = 0; i < 256; ++i)
    for (size_t n = 0; n < 4; ++n) {
      const int code = a[i] >> (8 * n) & 255;
      expect_same(r[16 * i + n], fp8.value(code), code);
      expect_same(r[16 * i + 4 + n], bf8.value(code), code);
      expect_same(r[16 * i + 8 + n], fp8.value(code), code);
      expect_same(r[16 * i + 12 + n], bf8.value(code), code);
    }
}

TEST_P(ExecSmallFloats, NarrowToTheNearest) {
  std::vector<float> a;
  for (const Format* f : {&fp8, &bf8})
    for (int code = 0; code < 0x7f; ++code) {
      // Every number, the middle to the next one, and the floats beside both.
      const double v = f->value(code), next = f->value(code + 1);
      if (!std::isfinite(v)) continue;
      const double step = std::isfinite(next) && next > v ? next - v : v - f->value(code - 1);
      for (const float x : {float(v), float(v + step / 2)})
        for (const float y : {std::nextafterf(x, -1e30f), x, std::nextafterf(x, 1e30f)}) a.push_back(y);
    }
  for (const float x : {1e30f, 1e-30f, 1e-42f, -0.0f}) a.push_back(x);
  while (a.size() % 64) a.push_back(1.0f);
  int* c = device->allocate<int>(a.size() * 4);
  device->run("narrow", {.grid = uint32_t(a.size() / 64), .block = 64}, device->upload(a), c);
  const std::vector<int> r = device->download(c, a.size() * 4);
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(a[i]);
    const int x = fp8.nearest(a[i]) | fp8.nearest(-a[i]) << 8, y = bf8.nearest(a[i]) | bf8.nearest(-a[i])
                                                                                           << 8;
    EXPECT_EQ(r[4 * i], 0x11220000 | x);
    EXPECT_EQ(uint32_t(r[4 * i + 1]), 0x3344u | uint32_t(x) << 16);
    EXPECT_EQ(r[4 * i + 2], 0x11220000 | y);
    EXPECT_EQ(uint32_t(r[4 * i + 3]), 0x3344u | uint32_t(y) << 16);
  }
}

TEST_P(ExecSmallFloats, InfinityAndNaN) {
  std::vector<float> a(64, INFINITY);
  a[1] = NAN;
  int* c = device->allocate<int>(256);
  device->run("narrow", {.grid = 1, .block = 64}, device->upload(a), c);
  const std::vector<int> r = device->download(c, 8);
  EXPECT_EQ(r[0] & 0xffff, fnuz ? 0x8080 : 0xff7f);
  EXPECT_EQ(r[2] & 0xffff, fnuz ? 0x8080 : 0xfc7c);
  for (int shift : {0, 8}) {
    EXPECT_TRUE(std::isnan(fp8.value(r[4] >> shift & 255)));
    EXPECT_TRUE(std::isnan(bf8.value(r[6] >> shift & 255)));
  }
}

// The pseudo-code: upper bits of the second operand are added to the mantissa, whose carry is lost, then the
// sum is rounded to the nearest.
TEST_P(ExecSmallFloats, AddedBits) {
  std::mt19937 random(3);
  std::vector<float> a(256);
  std::vector<int> s(256);
  for (size_t i = 0; i < 256; ++i) {
    a[i] = std::ldexp(float(random() % 65536) - 32768.0f, int(random() % 16) - 22);
    s[i] = int(random());
  }
  int* c = device->allocate<int>(1024);
  device->run("stochastic", {.grid = 4, .block = 64}, device->upload(a), device->upload(s), c);
  const std::vector<int> r = device->download(c, 1024);
  for (size_t i = 0; i < 256; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(a[i]);
    const auto sum = [&](int dropped) {
      const uint32_t m = (bits & 0x7fffff) + (uint32_t(s[i]) >> dropped);
      return double(std::bit_cast<float>((bits & 0xff800000) | (m & 0x7fffff)));
    };
    const uint32_t x = uint32_t(fp8.nearest(sum(12))), y = uint32_t(bf8.nearest(sum(11)));
    EXPECT_EQ(uint32_t(r[4 * i]), 0x11223300u | x) << a[i];
    EXPECT_EQ(uint32_t(r[4 * i + 1]), 0x00223344u | x << 24) << a[i];
    EXPECT_EQ(uint32_t(r[4 * i + 2]), 0x11220044u | y << 8) << a[i];
    EXPECT_EQ(uint32_t(r[4 * i + 3]), 0x11003344u | y << 16) << a[i];
  }
}

TEST_P(ExecSmallFloats, DotProducts) {
  if (fnuz) GTEST_SKIP() << "gfx12 only";
  std::mt19937 random(5);
  std::vector<int> a(64), b(64);
  std::vector<float> d(64);
  // Exponents near each other, so that every sum is exact.
  const auto word = [&] {
    uint32_t w = 0;
    for (int n = 0; n < 4; ++n) w |= uint32_t(0x38 + random() % 8 + random() % 2 * 0x80) << (8 * n);
    return int(w);
  };
  for (size_t i = 0; i < 64; ++i) a[i] = word(), b[i] = word(), d[i] = float(int(random() % 64) - 32);
  float* c = device->allocate<float>(256);
  device->run("dots", {.grid = 1, .block = 64}, device->upload(a), device->upload(b), device->upload(d), c);
  const std::vector<float> r = device->download(c, 256);
  for (size_t i = 0; i < 64; ++i)
    for (size_t kind = 0; kind < 4; ++kind) {
      double sum = d[i];
      for (int n = 0; n < 32; n += 8)
        sum += (kind & 2 ? bf8 : fp8).value(a[i] >> n & 255) * (kind & 1 ? bf8 : fp8).value(b[i] >> n & 255);
      EXPECT_EQ(double(r[4 * i + kind]), sum);
    }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecSmallFloats, testing::Values("gfx942", "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
