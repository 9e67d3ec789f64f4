// SPDX-License-Identifier: Apache-2.0
// map_lines: the loop of every elementwise operation, one cache line of results at a time. The line is made
// in registers: narrow floats widen into them and are rounded on the way out. A line goes to memory in one
// piece, past the caches if asked: reads and writes then take turns line by line, which memory serves better
// than longer bursts of either. Included inside no namespace.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backends/cpu/kernels/request.h"
#include "beeswax/half.h"
#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// The type that elements of S are computed in.
template <class S>
struct ComputeOf {
  using Type = S;
};
template <>
struct ComputeOf<f16> {
  using Type = float;
};
template <>
struct ComputeOf<bf16> {
  using Type = float;
};
template <>
struct ComputeOf<f8e4m3> {
  using Type = float;
};
template <class S>
using Compute = typename ComputeOf<S>::Type;
template <class S>
constexpr bool kNarrow = !__is_same(S, Compute<S>);

/// Elements made at once: a line of the narrowest of some types, so that compilers find a vector's worth of
/// each.
template <class... S>
constexpr int64_t kBlock = 0;
template <class S>
constexpr int64_t kBlock<S> = 64 / static_cast<int64_t>(sizeof(S));
template <class S, class... Rest>
  requires(sizeof...(Rest) > 0)
constexpr int64_t kBlock<S, Rest...> = kBlock<S> > kBlock<Rest...> ? kBlock<S> : kBlock<Rest...>;

/// n inputs in their compute type: the memory itself, or widened.
template <class S, int64_t n, bool narrow = kNarrow<S>>
struct Inputs {
  const S* value;
  BW_MEMBER_FN explicit Inputs(const S* x) : value(x) {}
};
template <class S, int64_t n>
struct Inputs<S, n, true> {
  alignas(64) float value[n];
  BW_MEMBER_FN explicit Inputs(const S* x) {
    for (int64_t j = 0; j < n; ++j) value[j] = static_cast<float>(x[j]);
  }
};

/// How n results in the compute type become elements of S: nothing to do, or one rounding.
template <class S, int64_t n, bool narrow = kNarrow<S>>
struct Outputs {
  alignas(64) S value[n];
  BW_MEMBER_FN const S* rounded() const { return value; }
};
template <class S, int64_t n>
struct Outputs<S, n, true> {
  alignas(64) float value[n];
  alignas(64) S narrow[n];
  BW_MEMBER_FN const S* rounded() {
    for (int64_t j = 0; j < n; ++j) narrow[j] = S(value[j]);
    return narrow;
  }
};

#if defined(__F16C__)
// The processor's own conversions give the bits of half.h; only a NaN's payload may differ.
template <int64_t n>
struct Inputs<f16, n, true> {
  alignas(64) float value[n];
  BW_MEMBER_FN explicit Inputs(const f16* x) {
    static_assert(n % 32 == 0);
#if defined(__AVX512F__)
    for (int64_t j = 0; j < n; j += 16)
      _mm512_store_ps(value + j, _mm512_maskz_cvtph_ps(
                                     0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + j))));
#else
    for (int64_t j = 0; j < n; j += 8)
      _mm256_store_ps(value + j, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + j))));
#endif
  }
};
template <int64_t n>
struct Outputs<f16, n, true> {
  alignas(64) float value[n];
  alignas(64) f16 narrow[n];
  BW_MEMBER_FN const f16* rounded() {
#if defined(__AVX512F__)
    for (int64_t j = 0; j < n; j += 32) {
      const __m256i low = _mm512_maskz_cvtps_ph(0xffff, _mm512_load_ps(value + j), _MM_FROUND_TO_NEAREST_INT);
      const __m256i high =
          _mm512_maskz_cvtps_ph(0xffff, _mm512_load_ps(value + j + 16), _MM_FROUND_TO_NEAREST_INT);
      _mm512_store_si512(narrow + j, _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(low), high, 1));
    }
#else
    for (int64_t j = 0; j < n; j += 16) {
      const __m128i low = _mm256_cvtps_ph(_mm256_load_ps(value + j), _MM_FROUND_TO_NEAREST_INT);
      const __m128i high = _mm256_cvtps_ph(_mm256_load_ps(value + j + 8), _MM_FROUND_TO_NEAREST_INT);
      _mm256_store_si256(reinterpret_cast<__m256i*>(narrow + j), _mm256_set_m128i(high, low));
    }
#endif
    return narrow;
  }
};
#endif

#if defined(__AVX512BW__)
/// bf16_from_float for 16 numbers, in the upper halves of the lanes. Masks make it five instructions.
BW_FN __m512i round_to_upper_halves(__m512i bits) {
  const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __mmask16 nan =
      _mm512_cmp_ps_mask(_mm512_castsi512_ps(bits), _mm512_castsi512_ps(bits), _CMP_UNORD_Q);
  const __m512i up = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
  return _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
}
/// The upper 16 bits of 32 lanes.
BW_FN __m512i upper_halves(__m512i low, __m512i high) {
  const __m512i odd_words = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33,
                                             31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return _mm512_permutex2var_epi16(low, odd_words, high);
}
template <int64_t n>
struct Outputs<bf16, n, true> {
  alignas(64) float value[n];
  alignas(64) bf16 narrow[n];
  BW_MEMBER_FN const bf16* rounded() {
    for (int64_t j = 0; j < n; j += 32)
      _mm512_store_si512(narrow + j, upper_halves(round_to_upper_halves(_mm512_load_si512(value + j)),
                                                  round_to_upper_halves(_mm512_load_si512(value + j + 16))));
    return narrow;
  }
};
#endif

/// Writes a line; past the caches only where y is 64-byte aligned.
template <class S>
BW_FN void put_line(S* y, const S* line, [[maybe_unused]] bool past_caches) {
#if defined(__AVX512F__)
  const __m512i v = _mm512_load_si512(line);
  if (past_caches) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(y), v);
  } else {
    _mm512_storeu_si512(y, v);
  }
#elif defined(__AVX__)
  const auto* from = reinterpret_cast<const __m256i*>(line);
  auto* to = reinterpret_cast<__m256i*>(y);
  const __m256i low = _mm256_load_si256(from), high = _mm256_load_si256(from + 1);
  if (past_caches) {
    _mm256_stream_si256(to, low);
    _mm256_stream_si256(to + 1, high);
  } else {
    _mm256_storeu_si256(to, low);
    _mm256_storeu_si256(to + 1, high);
  }
#elif defined(__x86_64__)
  const auto* from = reinterpret_cast<const __m128i*>(line);
  auto* to = reinterpret_cast<__m128i*>(y);
  const __m128i v0 = _mm_load_si128(from), v1 = _mm_load_si128(from + 1);
  const __m128i v2 = _mm_load_si128(from + 2), v3 = _mm_load_si128(from + 3);
  if (past_caches) {
    _mm_stream_si128(to, v0);
    _mm_stream_si128(to + 1, v1);
    _mm_stream_si128(to + 2, v2);
    _mm_stream_si128(to + 3, v3);
  } else {
    _mm_storeu_si128(to, v0);
    _mm_storeu_si128(to + 1, v1);
    _mm_storeu_si128(to + 2, v2);
    _mm_storeu_si128(to + 3, v3);
  }
#else
  __builtin_memcpy(y, line, 64);
#endif
}

/// The elements left of an input, and as many copies of the first as make a line: a loop may then do a whole
/// line without reading memory that is not there.
template <class S, int64_t n>
struct Padded {
  alignas(64) S value[n];
  BW_MEMBER_FN Padded(const S* x, int64_t count) {
    for (int64_t j = 0; j < n; ++j) value[j] = x[0];
    __builtin_memcpy(value, x, static_cast<size_t>(count) * sizeof(S));
  }
};

template <class S, int64_t n, class F, class... X>
BW_FN void compute(Outputs<S, n>& out, F f, const Inputs<X, n>&... x) {
  if constexpr (n > 16) {
    for (int64_t j = 0; j < n; ++j) out.value[j] = f(x.value[j]...);
  } else {
    // GCC unrolls so short a loop before it looks for vectors, and then misses some.
#if !defined(__clang__)
#pragma GCC unroll 1
#endif
    for (int64_t j = 0; j < n; ++j) out.value[j] = f(x.value[j]...);
  }
}

/// Whether taking elements apart is most of the work of a line of them.
template <class S>
constexpr bool kBusy = sizeof(S) < 4 || (std::is_integral_v<S> && sizeof(S) == 8);

/// y[i] = f(x[i]...) in the compute types, rounded once. y is one of the x or apart from them. past_caches: y
/// is 64-byte aligned, and its lines bypass the caches; the caller fences. Requests ahead[i] into the second
/// cache, or the first (processor.h), as y[i] is written, so that reads and writes take turns; else, of what
/// streams past the caches, the inputs kBytesAhead or busy_ahead() from here. kIdleBeside: idle instructions
/// beside the requests into the first cache, for each line that streams past them.
template <bool kRequests, int kIdleBeside, class S, class F, class... X>
BW_FN void map_lines_from(const S* ahead, S* y, int64_t count, bool past_caches, F f, const X*... x) {
  constexpr int64_t n = kBlock<S, X...>;
  [[maybe_unused]] const bool into_first = reads_further();
  [[maybe_unused]] const int64_t bytes = !past_caches ? 0 : (kBusy<X> || ...) ? busy_ahead() : kBytesAhead;
  int64_t i = 0;
  for (; i + n <= count; i += n) {
    if constexpr (kRequests) {
      if (into_first) {
        for (int64_t j = 0; j < n; j += kBlock<S>) __builtin_prefetch(ahead + i + j, 0, 3);
        if constexpr (kIdleBeside > 0) {
          if (past_caches) idle<kIdleBeside>();
        }
      } else {
        for (int64_t j = 0; j < n; j += kBlock<S>) __builtin_prefetch(ahead + i + j, 0, 2);
      }
    } else {
      (request_lines<n>(x + i, bytes), ...);
    }
    Outputs<S, n> out;
    compute<S, n, F, X...>(out, f, Inputs<X, n>(x + i)...);
    const S* lines = out.rounded();
    for (int64_t j = 0; j < n; j += kBlock<S>) put_line(y + i + j, lines + j, past_caches);
  }
  if (i < count) {
    Outputs<S, n> out;
    compute<S, n, F, X...>(out, f, Inputs<X, n>(Padded<X, n>(x + i, count - i).value)...);
    __builtin_memcpy(y + i, out.rounded(), static_cast<size_t>(count - i) * sizeof(S));
  }
}
template <class S, class F, class... X>
BW_FN void map_lines(S* y, int64_t count, bool past_caches, F f, const X*... x) {
  map_lines_from<false, 0, S, F, X...>(nullptr, y, count, past_caches, f, x...);
}
/// The same, and requests ahead[i] as it goes.
template <int kIdleBeside = 0, class S, class F, class... X>
BW_FN void map_lines_requesting(const S* ahead, S* y, int64_t count, bool past_caches, F f, const X*... x) {
  map_lines_from<true, kIdleBeside, S, F, X...>(ahead, y, count, past_caches, f, x...);
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
