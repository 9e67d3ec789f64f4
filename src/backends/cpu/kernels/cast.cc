// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/cast.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <type_traits>

#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class T>
BW_FN auto widen(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return static_cast<float>(x);  // exact
  }
}

template <class From, class To>
void cast_loop(const void* x, void* y, int64_t count) {
  const From* from = static_cast<const From*>(x);
  To* to = static_cast<To*>(y);
  for (int64_t i = 0; i < count; ++i) to[i] = m::convert<To>(widen(from[i]));
}

#if defined(__F16C__)
// The processor's own conversions give the bits of half.h; only a NaN's payload may differ.
template <>
void cast_loop<f16, float>(const void* x, void* y, int64_t count) {
  const auto* from = static_cast<const uint16_t*>(x);
  auto* to = static_cast<float*>(y);
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16)
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(
                                 0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
#endif
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < count; ++i) to[i] = f16_to_float(from[i]);
}

template <>
void cast_loop<float, f16>(const void* x, void* y, int64_t count) {
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<uint16_t*>(y);
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < count; ++i) to[i] = f16_from_float(from[i]);
}
#endif

template <class From, class To>
constexpr CastLoop loop_of() {
  if constexpr (std::is_same_v<From, To>) {
    return nullptr;
  } else {
    return cast_loop<From, To>;
  }
}

template <class From>
constexpr void fill_row(CastLoop* loops) {
#define BW_DTYPE(Name, name, ctype, ...) loops[static_cast<size_t>(DType::Name)] = loop_of<From, ctype>();
#include "tables/dtypes.def"
}

constexpr CastKernels make_table() {
  CastKernels table{};
#define BW_DTYPE(Name, name, ctype, ...) fill_row<ctype>(table.loops[static_cast<size_t>(DType::Name)]);
#include "tables/dtypes.def"
  return table;
}

}  // namespace

const CastKernels& cast_kernels() {
  static constexpr CastKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
