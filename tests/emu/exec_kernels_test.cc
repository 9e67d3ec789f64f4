// SPDX-License-Identifier: Apache-2.0
// Whole kernels, compiled by clang for each family, against results computed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"(
#define KERNEL extern "C" __global__ void
typedef _Float16 f16;
typedef float f2 __attribute__((ext_vector_type(2)));
KERNEL vector_add(const float* a, const float* b, float* c, int n) {
  int i = global_x();
  if (i < n) c[i] = a[i] + b[i];
}
KERNEL float_math(const float* a, const float* b, float* c, int n) {
  int i = global_x();
  if (i >= n) return;
  float* o = c + 8 * i;
  o[0] = a[i] / b[i];
  o[1] = __builtin_sqrtf(a[i]);
  o[2] = __builtin_floorf(a[i]) + __builtin_truncf(b[i]);
  o[3] = __builtin_fmaf(a[i], b[i], a[i]);
  o[4] = __builtin_fminf(a[i], b[i]);
  o[5] = __builtin_fmaxf(a[i], b[i]);
  o[6] = __builtin_rintf(a[i]);
  o[7] = a[i] < b[i] ? a[i] * 3.0f : -b[i];
}
KERNEL double_math(const double* a, const double* b, double* c, int n) {
  int i = global_x();
  if (i >= n) return;
  double* o = c + 5 * i;
  o[0] = a[i] / b[i];
  o[1] = __builtin_sqrt(a[i]);
  o[2] = __builtin_fma(a[i], b[i], a[i]);
  o[3] = __builtin_floor(a[i]);
  o[4] = (double)(float)a[i] + (double)(int)i;
}
KERNEL integers(const int* a, const int* b, int* c, int n) {
  int i = global_x();
  if (i >= n) return;
  int* o = c + 8 * i;
  uint32_t ua = a[i], ub = b[i];
  o[0] = a[i] / b[i];
  o[1] = a[i] % b[i];
  o[2] = ua / ub;
  o[3] = ua % ub;
  o[4] = (int)(((long long)a[i] * b[i]) >> 20);
  o[5] = __builtin_popcount(ua) + __builtin_clz(ub | 1) * 64 + __builtin_ctz(ua | 0x100) * 4096;
  o[6] = (a[i] >> (ub & 31)) ^ (ua << (ub & 15)) ^ (ua >> 3);
  o[7] = a[i] > b[i] ? a[i] - b[i] : __builtin_bitreverse32(ua);
}
KERNEL longs(const int64_t* a, const int64_t* b, int64_t* c, int n) {
  int i = global_x();
  if (i >= n) return;
  int64_t* o = c + 5 * i;
  o[0] = a[i] / b[i];
  o[1] = a[i] % b[i];
  o[2] = (int64_t)((uint64_t)a[i] / (uint64_t)b[i]);
  o[3] = a[i] * b[i] + (a[i] >> (b[i] & 63));
  o[4] = a[i] < b[i] ? a[i] : (b[i] << 3);
}
KERNEL halves(const f16* a, const f16* b, f16* c, int n) {
  int i = global_x();
  if (i >= n) return;
  f16* o = c + 4 * i;
  o[0] = a[i] + b[i];
  o[1] = a[i] * b[i];
  o[2] = a[i] - b[i];
  o[3] = __builtin_elementwise_max(a[i], b[i]);
}
KERNEL convert(const float* a, int* c, int n) {
  int i = global_x();
  if (i >= n) return;
  int* o = c + 6 * i;
  o[0] = (int)a[i];
  o[1] = (int)(f16)a[i];
  o[2] = (signed char)(int)a[i];
  o[3] = __builtin_bit_cast(short, (f16)a[i]);
  o[4] = __builtin_bit_cast(int, (float)(uint32_t)(i * 77777777));
  o[5] = __builtin_bit_cast(int, (float)__builtin_bit_cast(f16, (short)(i * 31)));
}
KERNEL pairs(const f2* a, const f2* b, f2* c, int n) {
  int i = global_x();
  if (i >= n) return;
  f2* o = c + 8 * i;
  f2 x = a[i], y = b[i];
  o[0] = x * y;
  o[1] = x + y.yx;
  o[2] = __builtin_elementwise_fma(x, y, x);
  o[3] = __builtin_elementwise_fma(x.xx, -y, f2(2.0f));
  o[4] = x * o[0].y;
#if defined(__gfx90a__) || defined(__gfx942__)
  f2 p, q, r, t;
  asm("v_pk_mul_f32 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1]" : "=v"(p) : "v"(x), "v"(y));
  asm("v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]" : "=v"(q) : "v"(x), "v"(y));
  asm("v_pk_add_f32 %0, %1, 1.0 op_sel_hi:[1,0] clamp" : "=v"(r) : "v"(x));
  asm("v_accvgpr_write_b32 a0, %1\n\tv_accvgpr_mov_b32 a3, a0\n\ts_nop 1\n\tv_accvgpr_read_b32 %0, a3" : "=v"(t.x) : "v"(x.y) : "a0", "a3");
  t.y = y.y;
#else
  f2 p = {-x.y * y.x, x.x * -y.y}, q = {x.y, y.x}, t = {x.y, y.y};
  f2 r = __builtin_elementwise_min(__builtin_elementwise_max(x + 1.0f, f2(0.0f)), f2(1.0f));
#endif
  o[5] = p;
  o[6] = q + t;
  o[7] = r;
}
KERNEL reduce(const float* a, float* c, int n) {
  __shared__ float s[256];
  int t = thread_x();
  float x = 0;
  for (int i = global_x(); i < n; i += 256 * 4) x += a[i];
  s[t] = x;
  barrier();
  for (int k = 128; k; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    barrier();
  }
  if (t == 0) c[block_x()] = s[0];
}
KERNEL shuffle(const int* a, int* c) {
  int t = thread_x();
  int x = a[t];
  c[t] = __builtin_amdgcn_ds_bpermute((t ^ 5) * 4, x);
  c[t + 64] = __builtin_amdgcn_update_dpp(-1, x, 0x111, 0xf, 0xf, false);
  c[t + 128] = __builtin_amdgcn_update_dpp(0, x, 0xB1, 0xf, 0xf, true) + __builtin_amdgcn_update_dpp(0, x, 0x140, 0xf, 0xf, true);
  c[t + 192] = __builtin_amdgcn_readfirstlane(x) + __builtin_amdgcn_readlane(x, 7);
  c[t + 256] = __builtin_amdgcn_ds_swizzle(x, 0x041F);
  c[t + 320] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
KERNEL atomics(int* c, const int* a, int n) {
  int i = global_x();
  if (i >= n) return;
  __hip_atomic_fetch_add(c + (a[i] & 15), 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(c + 16, a[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_min(c + 17, a[i], __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_xor(c + 18, a[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_add((float*)c + 19, 0.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_add((unsigned long long*)(c + 20), 3ull, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL histogram(int* c, const int* a, int n) {
  __shared__ int s[64];
  int t = thread_x();
  if (t < 64) s[t] = 0;
  barrier();
  for (int i = t; i < n; i += 256) __hip_atomic_fetch_add(s + (a[i] & 63), 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (t < 64) c[t] = s[t];
}
KERNEL bitonic(int* a) {
  __shared__ int s[512];
  int t = thread_x();
  s[t] = a[t];
  s[t + 256] = a[t + 256];
  for (int k = 2; k <= 512; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      barrier();
      int i = 2 * t - (t & (j - 1)), p = i + j;
      bool up = (i & k) == 0;
      int x = s[i], y = s[p];
      if ((x > y) == up) { s[i] = y; s[p] = x; }
    }
  barrier();
  a[t] = s[t];
  a[t + 256] = s[t + 256];
}
KERNEL matrix(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][17], tb[16][17];
  int tx = thread_x() & 15, ty = thread_x() >> 4, bx = block_x() % (n / 16), by = block_x() / (n / 16);
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[ty][tx] = a[(by * 16 + ty) * n + k + tx];
    tb[ty][tx] = b[(k + ty) * n + bx * 16 + tx];
    barrier();
    for (int i = 0; i < 16; ++i) sum = __builtin_fmaf(ta[ty][i], tb[i][tx], sum);
    barrier();
  }
  c[(by * 16 + ty) * n + bx * 16 + tx] = sum;
}
KERNEL local_array(const int* a, int* c, int n) {
  int i = global_x();
  int x[40];
  for (int k = 0; k < 40; ++k) x[k] = a[(i + k) % n];
  int at = a[i] & 31, sum = 0;
  for (int k = 0; k < 8; ++k) { sum += x[at + k]; x[(at * 7 + k) % 40] = sum; }
  c[i] = sum + x[at];
}
static __device__ __attribute__((noinline)) int helper(int x, int n) { return n <= 1 ? x : helper(x * 3 + 1, n - 1) + n; }
KERNEL calls(const int* a, int* c) {
  int i = global_x();
  c[i] = helper(a[i], (a[i] & 3) + 1);
}
)";

const std::vector<std::byte>& object(const std::string& chip) { return compile(kSource, chip); }

class ExecKernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), object(GetParam()));
    device->options.threads = 2;
  }
  std::unique_ptr<Device> device;
  std::mt19937_64 random{5};
};

/// Bits at random, so every exponent; some edge values first.
template <class T, class Bits>
std::vector<T> any_values(std::mt19937_64& random, size_t count, std::vector<T> edges) {
  for (T x : std::vector<T>(edges)) edges.push_back(-x);
  std::vector<T> values;
  for (size_t i = 0; i < edges.size() && values.size() < count; ++i) values.push_back(edges[i]);
  while (values.size() < count) values.push_back(std::bit_cast<T>(Bits(random())));
  std::shuffle(values.begin(), values.end(), random);
  return values;
}
template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

TEST_P(ExecKernels, VectorAdd) {
  const int n = 1000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[size_t(i)] = float(i) * 0.5f;
    b[size_t(i)] = 1.0f / float(i + 1);
  }
  const float *da = device->upload(a), *db = device->upload(b);
  float* dc = device->allocate<float>(n);
  device->run("vector_add", {.grid = 4, .block = 256}, da, db, dc, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(dc[i], a[size_t(i)] + b[size_t(i)]) << i;
}

TEST_P(ExecKernels, FloatMath) {
  const int n = 4096;
  const float inf = INFINITY, tiny = 1e-45f, big = 3.4028235e38f;
  const std::vector<float> edges = {0,          1,    2,    0.5f,       inf, NAN, tiny, big, 1.1754944e-38f,
                                    8388608.5f, 1.5f, 2.5f, 0.49999997f};
  const auto a = any_values<float, uint32_t>(random, n, edges),
             b = any_values<float, uint32_t>(random, n, edges);
  const float *da = device->upload(a), *db = device->upload(b);
  float* dc = device->allocate<float>(8 * n);
  device->run("float_math", {.grid = n / 128, .block = 128}, da, db, dc, n);
  for (size_t i = 0; i < n; ++i) {
    const float* o = dc + 8 * i;
    const float x = a[i], y = b[i];
    ASSERT_PRED2(same<float>, o[0], x / y) << x << " / " << y;
    ASSERT_PRED2(same<float>, o[1], std::sqrt(x)) << x;
    ASSERT_PRED2(same<float>, o[2], std::floor(x) + std::trunc(y));
    ASSERT_PRED2(same<float>, o[3], std::fma(x, y, x)) << x << " " << y;
    if (x == x && y == y && !(x == 0 && y == 0)) {
      ASSERT_EQ(o[4], std::fmin(x, y));
      ASSERT_EQ(o[5], std::fmax(x, y));
    }
    ASSERT_PRED2(same<float>, o[6], std::nearbyint(x)) << x;
    ASSERT_PRED2(same<float>, o[7], x < y ? x * 3.0f : -y);
  }
}

TEST_P(ExecKernels, DoubleMath) {
  const int n = 2048;
  const std::vector<double> edges = {
      0, 1, 2, 0.5, INFINITY, NAN, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1.5};
  const auto a = any_values<double, uint64_t>(random, n, edges),
             b = any_values<double, uint64_t>(random, n, edges);
  const double *da = device->upload(a), *db = device->upload(b);
  double* dc = device->allocate<double>(5 * n);
  device->run("double_math", {.grid = n / 128, .block = 128}, da, db, dc, n);
  for (size_t i = 0; i < n; ++i) {
    const double* o = dc + 5 * i;
    const double x = a[i], y = b[i];
    ASSERT_PRED2(same<double>, o[0], x / y) << x << " / " << y;
    ASSERT_PRED2(same<double>, o[1], std::sqrt(x)) << x;
    ASSERT_PRED2(same<double>, o[2], std::fma(x, y, x));
    ASSERT_PRED2(same<double>, o[3], std::floor(x));
    ASSERT_PRED2(same<double>, o[4], double(float(x)) + double(int(i)));
  }
}

TEST_P(ExecKernels, Integers) {
  const int n = 2048;
  std::vector<int> a(n), b(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = int(uint32_t(random()) >> (random() % 32));
    b[i] = int(uint32_t(random()) >> (random() % 32)) * (random() % 2 ? 1 : -1);
    if (b[i] == 0 || b[i] == -1) b[i] = 7;
  }
  const int *da = device->upload(a), *db = device->upload(b);
  int* dc = device->allocate<int>(8 * n);
  device->run("integers", {.grid = n / 64, .block = 64}, da, db, dc, n);
  for (size_t i = 0; i < n; ++i) {
    const int* o = dc + 8 * i;
    const uint32_t ua = uint32_t(a[i]), ub = uint32_t(b[i]);
    ASSERT_EQ(o[0], a[i] / b[i]);
    ASSERT_EQ(o[1], a[i] % b[i]);
    ASSERT_EQ(uint32_t(o[2]), ua / ub);
    ASSERT_EQ(uint32_t(o[3]), ua % ub);
    ASSERT_EQ(o[4], int((int64_t(a[i]) * b[i]) >> 20));
    ASSERT_EQ(o[5], __builtin_popcount(ua) + __builtin_clz(ub | 1) * 64 + __builtin_ctz(ua | 0x100) * 4096);
    ASSERT_EQ(uint32_t(o[6]), uint32_t(a[i] >> (ub & 31)) ^ (ua << (ub & 15)) ^ (ua >> 3));
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (ua >> bit & 1) << (31 - bit);
    ASSERT_EQ(uint32_t(o[7]), a[i] > b[i] ? ua - ub : reversed);
  }
}

TEST_P(ExecKernels, Longs) {
  const int n = 1024;
  std::vector<int64_t> a(n), b(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = int64_t(random() >> (random() % 64));
    b[i] = int64_t(random() >> (random() % 64));
    if (b[i] == 0 || b[i] == -1) b[i] = 3;
  }
  const int64_t *da = device->upload(a), *db = device->upload(b);
  int64_t* dc = device->allocate<int64_t>(5 * n);
  device->run("longs", {.grid = n / 64, .block = 64}, da, db, dc, n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t* o = dc + 5 * i;
    ASSERT_EQ(o[0], a[i] / b[i]) << a[i] << " / " << b[i];
    ASSERT_EQ(o[1], a[i] % b[i]);
    ASSERT_EQ(o[2], int64_t(uint64_t(a[i]) / uint64_t(b[i])));
    ASSERT_EQ(o[3], int64_t(uint64_t(a[i]) * uint64_t(b[i]) + uint64_t(a[i] >> (b[i] & 63))));
    ASSERT_EQ(o[4], a[i] < b[i] ? a[i] : int64_t(uint64_t(b[i]) << 3));
  }
}

/// The value of a half, and the half nearest to a value; written for the test, by the definition of the
/// format.
double half_to_double(uint16_t h) {
  const int e = h >> 10 & 31, m = h & 1023;
  const double v = e == 31  ? (m ? NAN : INFINITY)
                   : e == 0 ? std::ldexp(m, -24)
                            : std::ldexp(1024 + m, e - 25);
  return h & 0x8000 ? -v : v;
}
uint16_t nearest_half(double x) {
  if (x != x) return 0x7e00;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(x);
  if (a >= 65520) return uint16_t(sign | 0x7c00);
  int e = 0;
  std::frexp(a, &e);
  const int unit = std::max(e - 11, -24);
  const double steps = std::nearbyint(std::ldexp(a, -unit));
  const double r = std::ldexp(steps, unit);
  if (r == 0) return sign;
  std::frexp(r, &e);
  if (e < -13) return uint16_t(sign | int(std::ldexp(r, 24)));
  return uint16_t(sign | (e + 14) << 10 | (int(std::ldexp(r, 11 - e)) - 1024));
}

TEST_P(ExecKernels, Halves) {
  const int n = 8192;
  std::vector<uint16_t> a(n), b(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = uint16_t(random());
    b[i] = uint16_t(random());
  }
  const uint16_t *da = device->upload(a), *db = device->upload(b);
  uint16_t* dc = device->allocate<uint16_t>(4 * n);
  device->run("halves", {.grid = n / 64, .block = 64}, da, db, dc, n);
  for (size_t i = 0; i < n; ++i) {
    const double x = half_to_double(a[i]), y = half_to_double(b[i]);
    const uint16_t* o = dc + 4 * i;
    const auto check = [&](uint16_t got, double exact) {
      if (exact != exact)
        EXPECT_TRUE((got & 0x7fff) > 0x7c00) << x << " " << y;
      else
        EXPECT_EQ(got, nearest_half(exact)) << x << " " << y;
    };
    check(o[0], x + y);
    check(o[1], x * y);
    check(o[2], x - y);
    if (x == x && y == y && !(x == 0 && y == 0)) {
      EXPECT_EQ(half_to_double(o[3]), std::max(x, y));
    }
  }
}

TEST_P(ExecKernels, Pairs) {
  const size_t n = 300;
  std::vector<float> a(2 * n), b(2 * n);
  for (auto* values : {&a, &b})
    for (float& x : *values) x = float(int(random() % 20001) - 10000) / 4096.0f;
  const float *da = device->upload(a), *db = device->upload(b);
  float* dc = device->allocate<float>(16 * n);
  device->run("pairs", {.grid = 2, .block = 256}, da, db, dc, int(n));
  for (size_t i = 0; i < n; ++i) {
    const float x = a[2 * i], x2 = a[2 * i + 1], y = b[2 * i], y2 = b[2 * i + 1], product = x2 * y2;
    const float want[16] = {x * y,
                            product,
                            x + y2,
                            x2 + y,
                            std::fma(x, y, x),
                            std::fma(x2, y2, x2),
                            std::fma(x, -y, 2.0f),
                            std::fma(x, -y2, 2.0f),
                            x * product,
                            x2 * product,
                            -x2 * y,
                            x * -y2,
                            x2 + x2,
                            y + y2,
                            std::clamp(x + 1.0f, 0.0f, 1.0f),
                            std::clamp(x2 + 1.0f, 0.0f, 1.0f)};
    for (size_t k = 0; k < 16; ++k) ASSERT_EQ(dc[16 * i + k], want[k]) << i << " " << k;
  }
}

TEST_P(ExecKernels, Convert) {
  const int n = 1024;
  std::vector<float> a(n);
  for (size_t i = 0; i < n; ++i)
    a[i] = std::ldexp(float(int(random() % 2000001) - 1000000), int(random() % 20) - 24);
  const float* da = device->upload(a);
  int* dc = device->allocate<int>(6 * n);
  device->run("convert", {.grid = n / 64, .block = 64}, da, dc, n);
  for (size_t i = 0; i < n; ++i) {
    const int* o = dc + 6 * i;
    ASSERT_EQ(o[0], int(a[i]));
    const uint16_t h = nearest_half(a[i]);
    if (std::fabs(half_to_double(h)) < 65536) {
      ASSERT_EQ(o[1], int(half_to_double(h)));
    }
    ASSERT_EQ(o[2], int(int8_t(int(a[i]))));
    ASSERT_EQ(uint16_t(o[3]), h);
    ASSERT_EQ(o[4], std::bit_cast<int>(float(uint32_t(i) * 77777777u)));
    const float value = std::bit_cast<float>(o[5]);
    ASSERT_PRED2(same<double>, double(value), half_to_double(uint16_t(i * 31)));
  }
}

TEST_P(ExecKernels, ReduceThroughLds) {
  const int n = 5000;
  std::vector<float> a(n);
  for (auto& x : a) x = float(int(random() % 201) - 100);
  const float* da = device->upload(a);
  float* dc = device->allocate<float>(4);
  device->run("reduce", {.grid = 4, .block = 256}, da, dc, n);
  double want = 0, got = 0;
  for (float x : a) want += x;
  for (int i = 0; i < 4; ++i) got += dc[i];
  EXPECT_EQ(got, want);
}

TEST_P(ExecKernels, Shuffle) {
  std::vector<int> a(64);
  for (auto& x : a) x = int(random());
  const int* da = device->upload(a);
  int* dc = device->allocate<int>(384);
  device->run("shuffle", {.grid = 1, .block = 64}, da, dc);
  const size_t wave = find_chip(GetParam())->wave_size();
  for (size_t t = 0; t < 64; ++t) {
    const size_t first = t / wave * wave;
    ASSERT_EQ(dc[t], a[t ^ 5]);
    ASSERT_EQ(dc[64 + t], t % 16 == 0 ? -1 : a[t - 1]) << t;
    ASSERT_EQ(dc[128 + t], int(uint32_t(a[t ^ 1]) + uint32_t(a[t / 16 * 16 + 15 - t % 16])));
    ASSERT_EQ(dc[192 + t], int(uint32_t(a[first]) + uint32_t(a[first + 7])));
    ASSERT_EQ(dc[256 + t], a[t ^ 1]);
    ASSERT_EQ(dc[320 + t], int(t - first));
  }
}

TEST_P(ExecKernels, Atomics) {
  const int n = 3000;
  std::vector<int> a(n), c(22, 0), want(22, 0);
  for (auto& x : a) x = int(random());
  for (int x : a) {
    ++want[size_t(x & 15)];
    want[16] = std::max(want[16], x);
    want[17] = std::min(want[17], x);
    want[18] ^= x;
  }
  want[19] = std::bit_cast<int>(0.5f * n);
  want[20] = 3 * n;
  int* dc = device->upload(c);
  const int* da = device->upload(a);
  device->run("atomics", {.grid = (n + 255) / 256, .block = 256}, dc, da, n);
  EXPECT_EQ(device->download(dc, 22), want);
}

TEST_P(ExecKernels, HistogramInLds) {
  const int n = 10000;
  std::vector<int> a(n), want(64, 0);
  for (auto& x : a) {
    x = int(random());
    ++want[size_t(x & 63)];
  }
  const int* da = device->upload(a);
  int* dc = device->allocate<int>(64);
  device->run("histogram", {.grid = 1, .block = 256}, dc, da, n);
  EXPECT_EQ(device->download(dc, 64), want);
}

TEST_P(ExecKernels, BitonicSort) {
  std::vector<int> a(512);
  for (auto& x : a) x = int(random());
  int* da = device->upload(a);
  device->run("bitonic", {.grid = 1, .block = 256}, da);
  std::sort(a.begin(), a.end());
  EXPECT_EQ(device->download(da, 512), a);
}

TEST_P(ExecKernels, TiledMatrixProduct) {
  const int n = 64;
  std::vector<float> a(n * n), b(n * n);
  for (auto& x : a) x = float(int(random() % 17) - 8);
  for (auto& x : b) x = float(int(random() % 17) - 8);
  const float *da = device->upload(a), *db = device->upload(b);
  float* dc = device->allocate<float>(n * n);
  device->options.seed = 9;
  device->run("matrix", {.grid = n * n / 256, .block = 256}, da, db, dc, n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      ASSERT_EQ(dc[i * n + j], sum);
    }
}

TEST_P(ExecKernels, PrivateArray) {
  const int n = 256;
  std::vector<int> a(n);
  for (auto& x : a) x = int(random() % 1000);
  const int* da = device->upload(a);
  int* dc = device->allocate<int>(n);
  device->run("local_array", {.grid = n / 64, .block = 64}, da, dc, n);
  for (int i = 0; i < n; ++i) {
    int x[40], at = a[size_t(i)] & 31, sum = 0;
    for (int k = 0; k < 40; ++k) x[k] = a[size_t((i + k) % n)];
    for (int k = 0; k < 8; ++k) {
      sum += x[at + k];
      x[(at * 7 + k) % 40] = sum;
    }
    ASSERT_EQ(dc[i], sum + x[at]) << i;
  }
}

TEST_P(ExecKernels, Calls) {
  std::vector<int> a(128);
  for (auto& x : a) x = int(random() % 1000);
  const int* da = device->upload(a);
  int* dc = device->allocate<int>(128);
  device->run("calls", {.grid = 2, .block = 64}, da, dc);
  for (size_t i = 0; i < 128; ++i) {
    int x = a[i], sum = 0;
    for (int n = (a[i] & 3) + 1; n > 1; --n) {
      x = x * 3 + 1;
      sum += n;
    }
    ASSERT_EQ(dc[i], x + sum);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecKernels,
                         testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151",
                                         "gfx1200", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
