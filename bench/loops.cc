// SPDX-License-Identifier: Apache-2.0
// Fills have no variant with ordinary vector stores: these leave a cache full of lines that have yet to be
// written, and whatever runs next pays for them. What a fill writes comes from memory that is not zero: there
// are machines that store zeros three times as fast as anything else. Vector loops come in one version for
// each level (functions carry their own target); on other processors the plain loops below serve.
#include "loops.h"

#include <cstring>

#include "backends/cpu/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace beeswax::bench {
namespace {

uint64_t copy_plain(std::byte* out, const std::byte* a, const std::byte*, int64_t bytes) {
  std::memcpy(out, a, static_cast<size_t>(bytes));
  return 0;
}

uint64_t write_plain(std::byte* out, const std::byte*, const std::byte*, int64_t bytes) {
  std::memset(out, 1, static_cast<size_t>(bytes));
  return 0;
}

#if !defined(__x86_64__)

uint64_t read_plain(std::byte*, const std::byte* a, const std::byte*, int64_t bytes) {
  const auto* words = reinterpret_cast<const uint64_t*>(a);
  uint64_t sum[8] = {};
  for (int64_t i = 0; i < bytes / 8; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane) sum[lane] += words[i + lane];
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

template <int kTimes>
uint64_t widen_plain(std::byte* out, const std::byte* a, const std::byte*, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64 * kTimes)
    for (int64_t copy = 0; copy < kTimes; ++copy) std::memcpy(out + i + 64 * copy, a + i / kTimes, 64);
  return 0;
}

template <int kTimes>
uint64_t narrow_plain(std::byte* out, const std::byte* a, const std::byte*, int64_t bytes) {
  const auto* x = reinterpret_cast<const uint64_t*>(a);
  auto* z = reinterpret_cast<uint64_t*>(out);
  for (int64_t i = 0; i < bytes / 8; i += 8 * kTimes)
    for (int64_t lane = 0; lane < 8; ++lane) {
      uint64_t sum = 0;
      for (int64_t part = 0; part < kTimes; ++part) sum += x[i + 8 * part + lane];
      z[i / kTimes + lane] = sum;
    }
  return 0;
}

uint64_t triad_plain(std::byte* out, const std::byte* a, const std::byte* b, int64_t bytes) {
  const auto* x = reinterpret_cast<const float*>(a);
  const auto* y = reinterpret_cast<const float*>(b);
  auto* z = reinterpret_cast<float*>(out);
  for (int64_t i = 0; i < bytes / 4; ++i) z[i] = x[i] + y[i];
  return 0;
}

// Twelve independent chains hide the latency of the additions. The factors are read from memory that the
// compiler cannot see into, and keep the values near 1.
template <class T>
uint64_t multiply_add_plain(int64_t rounds) {
  static volatile T factor = T(0.5);
  const T mul = factor;
  T acc[12];
  for (T& one : acc) one = mul;
  for (int64_t i = 0; i < rounds; ++i)
    for (T& one : acc) one = one * mul + mul;
  T sum = 0;
  for (T one : acc) sum += one;
  return static_cast<uint64_t>(sum);
}

#else

template <class V>
__attribute__((always_inline)) inline uint64_t sum_words(const V& v) {
  uint64_t words[sizeof(V) / 8];
  std::memcpy(words, &v, sizeof(V));
  uint64_t sum = 0;
  for (const uint64_t word : words) sum += word;
  return sum;
}

// One set of memory loops for a vector type. BYTES is its width; LOADS of them make one step.
#define BW_MEMORY_LOOPS(suffix, TARGET, V, BYTES, LOAD, STORE, STREAM, ADD64, ADDF, ZERO)                  \
  __attribute__((target(TARGET))) uint64_t read_##suffix(std::byte*, const std::byte* a, const std::byte*, \
                                                         int64_t bytes) {                                  \
    V s0 = ZERO, s1 = s0, s2 = s0, s3 = s0;                                                                \
    for (int64_t i = 0; i < bytes; i += 4 * (BYTES)) {                                                     \
      s0 = ADD64(s0, LOAD(a + i));                                                                         \
      s1 = ADD64(s1, LOAD(a + i + (BYTES)));                                                               \
      s2 = ADD64(s2, LOAD(a + i + 2 * (BYTES)));                                                           \
      s3 = ADD64(s3, LOAD(a + i + 3 * (BYTES)));                                                           \
    }                                                                                                      \
    return sum_words(ADD64(ADD64(s0, s1), ADD64(s2, s3)));                                                 \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t copy_##suffix(std::byte* out, const std::byte* a,               \
                                                         const std::byte*, int64_t bytes) {                \
    for (int64_t i = 0; i < bytes; i += 4 * (BYTES)) {                                                     \
      const V v0 = LOAD(a + i), v1 = LOAD(a + i + (BYTES));                                                \
      const V v2 = LOAD(a + i + 2 * (BYTES)), v3 = LOAD(a + i + 3 * (BYTES));                              \
      STREAM(out + i, v0);                                                                                 \
      STREAM(out + i + (BYTES), v1);                                                                       \
      STREAM(out + i + 2 * (BYTES), v2);                                                                   \
      STREAM(out + i + 3 * (BYTES), v3);                                                                   \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t write_##suffix(std::byte* out, const std::byte* a,              \
                                                          const std::byte*, int64_t bytes) {               \
    const V v = LOAD(a);                                                                                   \
    for (int64_t i = 0; i < bytes; i += 2 * (BYTES)) {                                                     \
      STREAM(out + i, v);                                                                                  \
      STREAM(out + i + (BYTES), v);                                                                        \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t widen_2_##suffix(std::byte* out, const std::byte* a,            \
                                                            const std::byte*, int64_t bytes) {             \
    for (int64_t i = 0; i < bytes; i += 2 * (BYTES)) {                                                     \
      const V v = LOAD(a + i / 2);                                                                         \
      STREAM(out + i, v);                                                                                  \
      STREAM(out + i + (BYTES), v);                                                                        \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t widen_4_##suffix(std::byte* out, const std::byte* a,            \
                                                            const std::byte*, int64_t bytes) {             \
    for (int64_t i = 0; i < bytes; i += 4 * (BYTES)) {                                                     \
      const V v = LOAD(a + i / 4);                                                                         \
      STREAM(out + i, v);                                                                                  \
      STREAM(out + i + (BYTES), v);                                                                        \
      STREAM(out + i + 2 * (BYTES), v);                                                                    \
      STREAM(out + i + 3 * (BYTES), v);                                                                    \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t narrow_2_##suffix(std::byte* out, const std::byte* a,           \
                                                             const std::byte*, int64_t bytes) {            \
    for (int64_t i = 0; i < bytes; i += 2 * (BYTES)) {                                                     \
      V v = LOAD(a + i);                                                                                   \
      for (int64_t part = 1; part < 2; ++part) v = ADD64(v, LOAD(a + i + part * (BYTES)));                 \
      STREAM(out + i / 2, v);                                                                              \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t narrow_4_##suffix(std::byte* out, const std::byte* a,           \
                                                             const std::byte*, int64_t bytes) {            \
    for (int64_t i = 0; i < bytes; i += 4 * (BYTES)) {                                                     \
      V v = LOAD(a + i);                                                                                   \
      for (int64_t part = 1; part < 4; ++part) v = ADD64(v, LOAD(a + i + part * (BYTES)));                 \
      STREAM(out + i / 4, v);                                                                              \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t narrow_8_##suffix(std::byte* out, const std::byte* a,           \
                                                             const std::byte*, int64_t bytes) {            \
    for (int64_t i = 0; i < bytes; i += 8 * (BYTES)) {                                                     \
      V v = LOAD(a + i);                                                                                   \
      for (int64_t part = 1; part < 8; ++part) v = ADD64(v, LOAD(a + i + part * (BYTES)));                 \
      STREAM(out + i / 8, v);                                                                              \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t triad_##suffix(std::byte* out, const std::byte* a,              \
                                                          const std::byte* b, int64_t bytes) {             \
    for (int64_t i = 0; i < bytes; i += 2 * (BYTES)) {                                                     \
      STREAM(out + i, ADDF(LOAD(a + i), LOAD(b + i)));                                                     \
      STREAM(out + i + (BYTES), ADDF(LOAD(a + i + (BYTES)), LOAD(b + i + (BYTES))));                       \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
    return 0;                                                                                              \
  }                                                                                                        \
  __attribute__((target(TARGET))) uint64_t triad_cached_##suffix(std::byte* out, const std::byte* a,       \
                                                                 const std::byte* b, int64_t bytes) {      \
    for (int64_t i = 0; i < bytes; i += 2 * (BYTES)) {                                                     \
      STORE(out + i, ADDF(LOAD(a + i), LOAD(b + i)));                                                      \
      STORE(out + i + (BYTES), ADDF(LOAD(a + i + (BYTES)), LOAD(b + i + (BYTES))));                        \
    }                                                                                                      \
    return 0;                                                                                              \
  }

#define LOAD16(p) _mm_load_si128(reinterpret_cast<const __m128i*>(p))
#define STORE16(p, v) _mm_store_si128(reinterpret_cast<__m128i*>(p), v)
#define STREAM16(p, v) _mm_stream_si128(reinterpret_cast<__m128i*>(p), v)
#define ADDF16(a, b) _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)))
BW_MEMORY_LOOPS(sse2, "sse2", __m128i, 16, LOAD16, STORE16, STREAM16, _mm_add_epi64, ADDF16,
                _mm_setzero_si128())

#define LOAD32(p) _mm256_load_si256(reinterpret_cast<const __m256i*>(p))
#define STORE32(p, v) _mm256_store_si256(reinterpret_cast<__m256i*>(p), v)
#define STREAM32(p, v) _mm256_stream_si256(reinterpret_cast<__m256i*>(p), v)
#define ADDF32(a, b) _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)))
BW_MEMORY_LOOPS(avx2, "avx2", __m256i, 32, LOAD32, STORE32, STREAM32, _mm256_add_epi64, ADDF32,
                _mm256_setzero_si256())

#define LOAD64(p) _mm512_load_si512(p)
#define STORE64(p, v) _mm512_store_si512(p, v)
#define STREAM64(p, v) _mm512_stream_si512(reinterpret_cast<__m512i*>(p), v)
#define ADDF64(a, b) _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
BW_MEMORY_LOOPS(avx512, "avx512f", __m512i, 64, LOAD64, STORE64, STREAM64, _mm512_add_epi64, ADDF64,
                _mm512_setzero_si512())

// Chains of one instruction in twelve registers: enough for two units with a latency of five cycles. The
// empty asm keeps the accumulators in registers and the compiler from folding the chain.
#define BW_CHAINS(name, TARGET, V, INIT, STEP)                                                          \
  __attribute__((target(TARGET))) uint64_t name(int64_t rounds) {                                       \
    V a = INIT, b = INIT;                                                                               \
    asm volatile("" : "+x"(a), "+x"(b));                                                                \
    V c0 = a, c1 = a, c2 = a, c3 = a, c4 = a, c5 = a, c6 = a, c7 = a, c8 = a, c9 = a, c10 = a, c11 = a; \
    for (int64_t i = 0; i < rounds; ++i) {                                                              \
      c0 = STEP(c0), c1 = STEP(c1), c2 = STEP(c2), c3 = STEP(c3);                                       \
      c4 = STEP(c4), c5 = STEP(c5), c6 = STEP(c6), c7 = STEP(c7);                                       \
      c8 = STEP(c8), c9 = STEP(c9), c10 = STEP(c10), c11 = STEP(c11);                                   \
      asm volatile(""                                                                                   \
                   : "+x"(c0), "+x"(c1), "+x"(c2), "+x"(c3), "+x"(c4), "+x"(c5), "+x"(c6), "+x"(c7),    \
                     "+x"(c8), "+x"(c9), "+x"(c10), "+x"(c11));                                         \
    }                                                                                                   \
    uint64_t out = 0;                                                                                   \
    std::memcpy(&out, &c0, sizeof(out));                                                                \
    return out;                                                                                         \
  }

#define STEP_F32_SSE(c) _mm_add_ps(_mm_mul_ps(c, a), b)
#define STEP_F64_SSE(c) _mm_add_pd(_mm_mul_pd(c, a), b)
#define STEP_F32_AVX2(c) _mm256_fmadd_ps(c, a, b)
#define STEP_F64_AVX2(c) _mm256_fmadd_pd(c, a, b)
#define STEP_F32_AVX512(c) _mm512_fmadd_ps(c, a, b)
#define STEP_F64_AVX512(c) _mm512_fmadd_pd(c, a, b)
BW_CHAINS(f32_sse2, "sse2", __m128, _mm_set1_ps(0.5f), STEP_F32_SSE)
BW_CHAINS(f64_sse2, "sse2", __m128d, _mm_set1_pd(0.5), STEP_F64_SSE)
BW_CHAINS(f32_avx2, "avx2,fma", __m256, _mm256_set1_ps(0.5f), STEP_F32_AVX2)
BW_CHAINS(f64_avx2, "avx2,fma", __m256d, _mm256_set1_pd(0.5), STEP_F64_AVX2)
BW_CHAINS(f32_avx512, "avx512f", __m512, _mm512_set1_ps(0.5f), STEP_F32_AVX512)
BW_CHAINS(f64_avx512, "avx512f", __m512d, _mm512_set1_pd(0.5), STEP_F64_AVX512)

// Without a dot-product instruction: 8-bit products summed in pairs and then in fours, or 16-bit ones (base).
// The empty asm makes every product a new one.
#define BW_INT8_STEP(name, TARGET, V, SUM)                                                                \
  __attribute__((target(TARGET), always_inline)) inline V name(V c, V& a, V b, [[maybe_unused]] V ones) { \
    asm volatile("" : "+x"(a));                                                                           \
    return SUM;                                                                                           \
  }
BW_INT8_STEP(step_i8_sse2, "sse2", __m128i, _mm_add_epi32(c, _mm_madd_epi16(a, b)))
BW_INT8_STEP(step_i8_avx2, "avx2", __m256i,
             _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones)))
BW_INT8_STEP(step_i8_avx512, "avx512f,avx512bw", __m512i,
             _mm512_add_epi32(c, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), ones)))
#define STEP_I8_SSE(c) step_i8_sse2(c, a, b, b)
#define STEP_I8_AVX2(c) step_i8_avx2(c, a, b, b)
#define STEP_I8_AVX512(c) step_i8_avx512(c, a, b, b)
#define STEP_I8_AVX_VNNI(c) _mm256_dpbusd_avx_epi32(c, a, b)
#define STEP_I8_VNNI(c) _mm512_dpbusd_epi32(c, a, b)
BW_CHAINS(i8_sse2, "sse2", __m128i, _mm_set1_epi8(1), STEP_I8_SSE)
BW_CHAINS(i8_avx2, "avx2", __m256i, _mm256_set1_epi8(1), STEP_I8_AVX2)
BW_CHAINS(i8_avx512, "avx512f,avx512bw", __m512i, _mm512_set1_epi8(1), STEP_I8_AVX512)
BW_CHAINS(i8_avx_vnni, "avx2,avxvnni", __m256i, _mm256_set1_epi8(1), STEP_I8_AVX_VNNI)
BW_CHAINS(i8_vnni, "avx512f,avx512bw,avx512vnni", __m512i, _mm512_set1_epi8(1), STEP_I8_VNNI)

#endif

}  // namespace

std::vector<MemoryVariant> memory_variants(Ceiling ceiling) {
  std::vector<MemoryVariant> out;
  if (ceiling == Ceiling::Copy) out.push_back({"memcpy", copy_plain});
  if (ceiling == Ceiling::Write) out.push_back({"memset", write_plain});
#if defined(__x86_64__)
  const cpu::Isa level = cpu::isa();
#define BW_ADD(suffix, streaming, cached)                                         \
  if (ceiling == Ceiling::Read) out.push_back({"loads " cached, read_##suffix});  \
  if (ceiling == Ceiling::Write) out.push_back({streaming, write_##suffix});      \
  if (ceiling == Ceiling::Copy) out.push_back({streaming, copy_##suffix});        \
  if (ceiling == Ceiling::Widen2) out.push_back({streaming, widen_2_##suffix});   \
  if (ceiling == Ceiling::Widen4) out.push_back({streaming, widen_4_##suffix});   \
  if (ceiling == Ceiling::Narrow2) out.push_back({streaming, narrow_2_##suffix}); \
  if (ceiling == Ceiling::Narrow4) out.push_back({streaming, narrow_4_##suffix}); \
  if (ceiling == Ceiling::Narrow8) out.push_back({streaming, narrow_8_##suffix}); \
  if (ceiling == Ceiling::Triad) out.push_back({streaming, triad_##suffix});      \
  if (ceiling == Ceiling::Triad) out.push_back({"stores " cached, triad_cached_##suffix});
  if (level == cpu::Isa::base) {
    BW_ADD(sse2, "streaming stores 128", "128")
  }
  if (level >= cpu::Isa::v3) {
    BW_ADD(avx2, "streaming stores 256", "256")
  }
  if (level >= cpu::Isa::v4) {
    BW_ADD(avx512, "streaming stores 512", "512")
  }
#undef BW_ADD
#else
  if (ceiling == Ceiling::Read) out.push_back({"plain", read_plain});
  if (ceiling == Ceiling::Triad) out.push_back({"plain", triad_plain});
  if (ceiling == Ceiling::Widen2) out.push_back({"plain", widen_plain<2>});
  if (ceiling == Ceiling::Widen4) out.push_back({"plain", widen_plain<4>});
  if (ceiling == Ceiling::Narrow2) out.push_back({"plain", narrow_plain<2>});
  if (ceiling == Ceiling::Narrow4) out.push_back({"plain", narrow_plain<4>});
  if (ceiling == Ceiling::Narrow8) out.push_back({"plain", narrow_plain<8>});
#endif
  return out;
}

std::vector<ArithmeticVariant> arithmetic_variants(Ceiling ceiling) {
  std::vector<ArithmeticVariant> out;
  [[maybe_unused]] constexpr double kChains = 12;
#if defined(__x86_64__)
  const cpu::Isa level = cpu::isa();
  const auto add = [&](const char* name, ArithmeticLoop loop, double operations) {
    out.push_back({name, loop, kChains * operations});
  };
  if (ceiling == Ceiling::FmaF32) {
    if (level == cpu::Isa::base) add("mul and add 128", f32_sse2, 8);
    if (level >= cpu::Isa::v3) add("fma 256", f32_avx2, 16);
    if (level >= cpu::Isa::v4) add("fma 512", f32_avx512, 32);
  } else if (ceiling == Ceiling::FmaF64) {
    if (level == cpu::Isa::base) add("mul and add 128", f64_sse2, 4);
    if (level >= cpu::Isa::v3) add("fma 256", f64_avx2, 8);
    if (level >= cpu::Isa::v4) add("fma 512", f64_avx512, 16);
  } else if (ceiling == Ceiling::Int8Dot) {
    if (level == cpu::Isa::base) add("pmaddwd 128", i8_sse2, 16);
    if (level >= cpu::Isa::v3) add("pmaddubsw 256", i8_avx2, 64);
    if (level >= cpu::Isa::v4) add("pmaddubsw 512", i8_avx512, 128);
    if (level >= cpu::Isa::v3 && cpu::has_vnni(cpu::Isa::v3)) add("vnni 256", i8_avx_vnni, 64);
    if (level >= cpu::Isa::v4 && cpu::has_vnni(cpu::Isa::v4)) add("vnni 512", i8_vnni, 128);
  }
#else
  if (ceiling == Ceiling::FmaF32) out.push_back({"plain", multiply_add_plain<float>, kChains * 2});
  if (ceiling == Ceiling::FmaF64) out.push_back({"plain", multiply_add_plain<double>, kChains * 2});
#endif
  return out;
}

}  // namespace beeswax::bench
