// SPDX-License-Identifier: Apache-2.0
// The words of CUDA and HIP that kernels of users find, whoever compiles them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/half.h"
#include "support/expect_error.h"
#include "support/kernel_fixture.h"

namespace beeswax {
namespace {

class KernelWords : public test::KernelTest {};

// Votes in blocks of one axis and of three, whose last wave may be short, and among some threads of a wave.
TEST_P(KernelWords, OfVotes) {
  const Kernel vote = compile(R"(
    #ifdef __HIPCC_RTC__  // which has HIP's names alone in early releases
    #define VOTE(name, mask, vote) name(vote)
    #define __activemask() __ballot(1)
    #define __any(vote) (__ballot(vote) != 0)  // that of 5.2 asks 32 threads alone
    #else
    #define VOTE(name, mask, vote) name##_sync(mask, vote)
    #endif
    #ifdef __CUDACC_RTC__
    #define EVERY 0xffffffffu
    #define __ballot(vote) __ballot_sync(EVERY, vote)
    #else
    #define EVERY ~0ull
    #endif
    __global__ void vote(long long* out) {
      const int own = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      long long* of = out + 8 * own;
      of[0] = warpSize;
      of[1] = VOTE(__ballot, EVERY, own % 3 == 0);
      of[2] = VOTE(__any, EVERY, own == 40);
      of[3] = VOTE(__all, EVERY, own < 70);
      of[4] = __popcll(__ballot(own % 5 == 0));
      of[5] = __popcll(__activemask());
      const auto odd = VOTE(__ballot, EVERY, own % 2);
      if (own % 2) {
        of[6] = VOTE(__ballot, odd, own % 3 == 1);
        of[7] = VOTE(__all, odd, own % 2);
      }
    })",
                              "vote");
  for (const std::array<uint32_t, 3> block : {std::array<uint32_t, 3>{200, 1, 1}, {5, 3, 6}, {8, 16, 1}}) {
    SCOPED_TRACE(testing::PrintToString(block));
    const auto threads = static_cast<int64_t>(block[0]) * block[1] * block[2];
    const Tensor out = Tensor::zeros({threads, 8}, DType::I64, device_);
    vote.launch({.block = {block[0], block[1], block[2]}}, output(out));
    const std::vector<std::vector<int64_t>> got = out.to_vec2<int64_t>();
    for (int64_t own = 0; own < threads; ++own) {
      const int64_t wave = got[static_cast<size_t>(own)][0];
      ASSERT_TRUE(wave == 32 || wave == 64) << wave;
      const int64_t first = own / wave * wave, last = std::min(first + wave, threads) - 1;
      std::vector<int64_t> want = {wave, 0,      first <= 40 && 40 <= last, last < 70, 0, last - first + 1,
                                   0,    own % 2};
      for (int64_t i = first; i <= last; ++i) {
        const auto bit = static_cast<int64_t>(uint64_t{1} << (i - first));
        want[1] |= i % 3 == 0 ? bit : 0;
        want[4] += i % 5 == 0;
        want[6] |= own % 2 == 1 && i % 2 == 1 && i % 3 == 1 ? bit : 0;
      }
      ASSERT_EQ(got[static_cast<size_t>(own)], want) << "thread " << own;
    }
  }
}

TEST_P(KernelWords, OfAtomics) {
  const Kernel kernel = compile(R"(
    __global__ void atomics(unsigned* words, unsigned long long* cells) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      atomicOr(words, 1u << i % 32);
      atomicAnd(words + 1, ~(1u << i % 16));
      atomicXor(words + 2, i + 1);
      atomicSub(words + 3, 2);
      atomicInc(words + 4, 99);
      atomicDec(words + 5, 99);
      atomicOr(cells, 1ull << i % 61);
      atomicAnd(cells + 1, ~(1ull << i % 33));
      atomicXor(cells + 2, (i + 1ull) << 32);
    })",
                                "atomics");
  const Tensor words = Tensor::from_vec<uint32_t>({0, ~0u, 5, 1000, 0, 0}, {6}, device_);
  const Tensor cells = Tensor::from_vec<int64_t>({0, -1, 5}, {3}, device_);
  kernel.launch({.grid = {2}, .block = {128}}, output(words), output(cells));
  EXPECT_EQ(words.to_vec<uint32_t>(), (std::vector<uint32_t>{~0u, 0xffff0000u, 256 ^ 5, 1000 - 512, 56, 44}));
  EXPECT_EQ(cells.to_vec<int64_t>(),
            (std::vector<int64_t>{(int64_t{1} << 61) - 1, -(int64_t{1} << 33), (int64_t{256} << 32) | 5}));
}

// Vectors lie as CUDA's do and are copied whole; integers' bits are counted and floats' bits read.
TEST_P(KernelWords, OfVectorsAndBits) {
  const Kernel words = compile(R"(
    #include <cassert>
    #include <cmath>
    static_assert(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(float2) == 8 && alignof(char4) == 4, "");
    static_assert(sizeof(ushort3) == 6 && sizeof(double2) == 16 && alignof(int4) == 16 && sizeof(longlong2) == 16, "");
    __global__ void words(const float4* x, float4* y, long long* out) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      assert(blockDim.x == 96 && i >= 0);
      const float4 v = x[i];
      const uint3 place = make_uint3(threadIdx.x, 1, 2);
      y[i] = make_float4(v.w, v.z, v.y, v.x + place.x);
      const int bits = i * 0x1e3779b1u;
      const long long wide = bits * 0x100000001ll;
      long long* of = out + 16 * i;
      of[0] = __popc(bits);
      of[1] = __popcll(wide);
      of[2] = __clz(bits);
      of[3] = __clzll(wide >> 20);
      of[4] = __ffs(bits);
      of[5] = __ffsll(wide << 20);
      of[6] = __brev(bits);
      of[7] = __float_as_int(v.x) + 2ll * __float_as_uint(v.y);
      of[8] = __double_as_longlong(__longlong_as_double(wide / 3));
      of[9] = __int_as_float(__float_as_int(v.z)) == v.z && __uint_as_float(0x3f800000u) == 1.0f;
      const float special = i % 4 == 0 ? NAN : i % 4 == 1 ? -INFINITY : i % 4 == 2 ? INFINITY : v.x;
      const double special64 = special;
      of[10] = (isnan(special) ? 1 : 0) + (isinf(special) ? 2 : 0) + (isfinite(special) ? 4 : 0);
      of[11] = (isnan(special64) ? 1 : 0) + (isinf(special64) ? 2 : 0) + (isfinite(special64) ? 4 : 0);
      of[12] = min(i, 7) + 1000 * max(v.x, NAN) + max(min(i, bits), -5);
      #ifdef __HIPCC_RTC__
      of[13] = max(i, static_cast<int>(blockDim.x));
      #else  // of two types too
      of[13] = max(i, blockDim.x);
      #endif
    })",
                               "words");
  const int n = 192;
  const Tensor x = numbers(4 * n), y = x.zeros_like();
  const Tensor out = Tensor::zeros({n, 16}, DType::I64, device_);
  words.launch({.grid = {2}, .block = {96}}, x, output(y), output(out));
  const std::vector<float> in = x.to_vec<float>(), turned = y.to_vec<float>();
  const std::vector<std::vector<int64_t>> got = out.to_vec2<int64_t>();
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const float* v = in.data() + 4 * at;
    for (size_t k = 0; k < 4; ++k)
      ASSERT_EQ(turned[4 * at + k], v[3 - k] + static_cast<float>(k == 3 ? i % 96 : 0));
    const uint32_t bits = static_cast<uint32_t>(i) * 0x1e3779b1u;
    const auto whole = static_cast<int32_t>(bits);
    const int64_t wide = whole * int64_t{0x100000001};
    uint32_t reversed = 0;
    for (uint32_t k = 0; k < 32; ++k) reversed |= (bits >> k & 1) << (31 - k);
    const auto first_bit = [](uint64_t of) { return of == 0 ? 0 : std::countr_zero(of) + 1; };
    const int64_t kinds[] = {1, 2, 2, 4};
    const std::vector<int64_t> want = {
        std::popcount(bits),
        std::popcount(static_cast<uint64_t>(wide)),
        std::countl_zero(bits),
        std::countl_zero(static_cast<uint64_t>(wide >> 20)),
        first_bit(bits),
        first_bit(static_cast<uint64_t>(wide) << 20),
        reversed,
        std::bit_cast<int32_t>(v[0]) + 2 * int64_t{std::bit_cast<uint32_t>(v[1])},
        wide / 3,
        1,
        kinds[i % 4],
        kinds[i % 4],
        std::min(i, 7) + static_cast<int64_t>(1000 * v[0]) + std::max(std::min(i, whole), -5),
        std::max(i, 96),
        0,
        0};
    ASSERT_EQ(got[at], want) << "thread " << i;
  }
}

// Everything is exact but the conversions.
TEST_P(KernelWords, OfNumbersOf16Bits) {
  const Kernel halves = compile(R"(
    #include <cuda_bf16.h>
    #include <cuda_fp16.h>
    #include <cuda_runtime.h>
    #include <hip/hip_fp16.h>
    #include <hip/hip_runtime.h>
    template <class T>
    __device__ int compare(T a, T b) {
      return (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b);
    }
    __global__ void halves(const float* x, const float* y, __half* h, float* out) {
      __shared__ half kept[128];
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      float* of = out + 16 * i;
      const half a = __float2half(x[i]), b = __float2half(y[i]);
      kept[threadIdx.x] = h[i];
      h[i] = -a;
      of[0] = __half2float(a + b);
      of[1] = __half2float(a - b);
      of[2] = __half2float(a * b);
      of[3] = __half2float(a / b);
      of[4] = __half2float(__hfma(a, b, a));
      of[5] = __half2float(__hadd(a, b)) + __half2float(__hmul(a, b));
      of[6] = compare(a, b);
      half sum = kept[threadIdx.x];
      sum += a;
      sum *= b;
      of[7] = __half2float(sum);
      of[8] = __half2float(__float2half(x[i] * 1.2345f));
      const __nv_bfloat16 c = __float2bfloat16(x[i]), d = __float2bfloat16(y[i]);
      of[9] = __bfloat162float(c + d);
      of[10] = __bfloat162float(c * d);
      of[11] = __bfloat162float(c / d - d);
      of[12] = compare(c, d);
      of[13] = __bfloat162float(__float2bfloat16(x[i] * 1.2345f));
    })",
                                "halves");
  const int n = 256;
  const Tensor x = numbers(n), h = Tensor::full({n}, 2.0, DType::F16, device_);
  std::vector<float> powers(n);
  for (int i = 0; i < n; ++i)
    powers[static_cast<size_t>(i)] = std::ldexp(i % 2 == 0 ? 1.0f : -1.0f, i % 7 - 3);
  const Tensor y = Tensor::from_vec(powers, {n}, device_), out = Tensor::zeros({n, 16}, DType::F32, device_);
  halves.launch({.grid = {2}, .block = {128}}, x, y, output(h), output(out));
  const std::vector<float> in = x.to_vec<float>(), negative = h.to_dtype(DType::F32).to_vec<float>();
  const std::vector<std::vector<float>> got = out.to_vec2<float>();
  const auto f = [](float value) { return static_cast<float>(f16(value)); };
  const auto g = [](float value) { return static_cast<float>(bf16(value)); };
  const auto compare = [](float a, float b) { return static_cast<float>(a < b ? 11 : a == b ? 38 : 56); };
  for (size_t i = 0; i < powers.size(); ++i) {
    const float a = in[i], b = powers[i], c = g(a);
    ASSERT_EQ(negative[i], -a);
    const float d = b, scaled = a * 1.2345f;
    const std::vector<float> want = {
        a + b,         a - b,       a * b,     a / b,    f(a * b + a), a + b + a * b,
        compare(a, b), (2 + a) * b, f(scaled), g(c + d), g(c * d),     g(g(c / d) - d),
        compare(c, d), g(scaled),   0,         0};
    ASSERT_EQ(got[i], want) << a << " and " << b;
  }
}

// Within what the vendors' fast functions keep; ours are exact to a few last places.
TEST_P(KernelWords, OfMathematics) {
  const Kernel functions = compile(R"(
    #include <cmath>
    __global__ void functions(const float* x, const float* y, float* out) {
      const int i = threadIdx.x;
      const float a = __ldg(x + i), b = y[i];
      float* of = out + 8 * i;
      of[0] = atan2f(a, b);
      of[1] = atan2(static_cast<double>(a), static_cast<double>(b));
      of[2] = __expf(a);
      of[3] = __logf(std::sqrt(a * a + 1.0f));
      of[4] = __sinf(a) + __cosf(b);
      of[5] = __powf(fabsf(a) + 1.0f, b);
      of[6] = __fdividef(a, fabsf(b) + 1.0f);
      of[7] = std::pow(2.0f, a) + tanf(b) + roundf(a) + copysignf(1.0f, b);
    })",
                                   "functions");
  std::vector<float> x, y;
  for (const float a : {-3.0f, -1.5f, -0.4f, -0.0f, 0.0f, 0.1f, 1.0f, 2.5f})
    for (const float b : {-2.5f, -1.0f, -0.3f, -0.0f, 0.0f, 0.2f, 1.25f, 3.0f}) {
      x.push_back(a);
      y.push_back(b);
    }
  const Tensor out = Tensor::zeros({64, 8}, DType::F32, device_);
  functions.launch({.block = {64}}, Tensor::from_vec(x, {64}, device_), Tensor::from_vec(y, {64}, device_),
                   output(out));
  const std::vector<std::vector<float>> got = out.to_vec2<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
    const double want[] = {std::atan2(a, b),
                           std::atan2(a, b),
                           std::exp(a),
                           std::log(std::sqrt(a * a + 1)),
                           std::sin(a) + std::cos(b),
                           std::pow(std::fabs(a) + 1, b),
                           a / (std::fabs(b) + 1),
                           std::exp2(a) + std::tan(b) + std::round(a) + std::copysign(1.0, b)};
    for (size_t k = 0; k < 8; ++k)
      EXPECT_NEAR(got[i][k], want[k], (k < 2 ? 3e-7 : 1e-5) * (1 + std::fabs(want[k])))
          << k << " of " << a << " and " << b;
    EXPECT_EQ(std::signbit(got[i][0]), std::signbit(a));
  }
}

TEST_P(KernelWords, DoNotPrint) {
  if (GetParam() == KernelCompiler::Vendor) GTEST_SKIP() << "the vendors' own do";
  EXPECT_ERROR(compile("__global__ void print(int x) { printf(\"%d\", x); }", "print"), InvalidArgument,
               "kernels cannot print here; write to a tensor");
}

// CUDA's masks of 32 bits are errors where they cannot name all threads of a wave.
TEST_P(KernelWords, MasksNameAWholeWave) {
  if (GetParam() != KernelCompiler::Clang) GTEST_SKIP() << "the vendors' own say";
  const bool wide = device_.to_string().find("gfx9") != std::string::npos;
  for (const char* vote : {"__ballot_sync(0xffffffffu, 1)", "__shfl_sync(0xffffffffu, 1, 0)",
                           "__shfl_up_sync(0xffffffffu, 1, 1)"}) {
    const std::string source = std::string("__global__ void vote(int* out) { out[0] = ") + vote + "; }";
    if (wide) {
      EXPECT_ERROR(compile(source, "vote"), InvalidArgument, "give a mask of 64 bits");
    } else {
      compile(source, "vote");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, KernelWords,
                         testing::Values(KernelCompiler::Vendor, KernelCompiler::Clang),
                         [](const auto& info) {
                           return info.param == KernelCompiler::Vendor ? "Vendor" : "Clang";
                         });

}  // namespace
}  // namespace beeswax
