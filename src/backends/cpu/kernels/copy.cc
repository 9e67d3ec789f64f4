// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/copy.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// The steps of interleaved data, which compilers turn into loads of whole vectors.
template <int64_t kStride, class T>
BW_FN void gather_every(T* __restrict y, const T* __restrict x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i * kStride];
}

template <class T>
void gather(void* out, const void* from, int64_t stride, int64_t count) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  if (stride == 0) {
    const T value = *x;
    for (int64_t i = 0; i < count; ++i) y[i] = value;
    return;
  }
  switch (stride) {
    case 2:
      return gather_every<2>(y, x, count);
    case 3:
      return gather_every<3>(y, x, count);
    case 4:
      return gather_every<4>(y, x, count);
    default:
      for (int64_t i = 0; i < count; ++i) y[i] = x[i * stride];
  }
}

template <class T>
void scatter(void* out, int64_t stride, const void* from, int64_t count) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) y[i * stride] = x[i];
}

void stream(void* out, const void* from, size_t bytes) {
  auto* y = static_cast<unsigned char*>(out);
  const auto* x = static_cast<const unsigned char*>(from);
#if defined(__x86_64__)
  const size_t head = (64 - reinterpret_cast<uintptr_t>(y) % 64) % 64;
  if (bytes >= head + 64) {
    __builtin_memcpy(y, x, head);
    y += head;
    x += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, x += 64, y += 64) {
#if defined(__AVX512F__)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(y), _mm512_loadu_si512(x));
#elif defined(__AVX__)
      for (int part = 0; part < 64; part += 32)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(y + part),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + part)));
#else
      for (int part = 0; part < 64; part += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(y + part),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + part)));
#endif
    }
  }
#endif
  __builtin_memcpy(y, x, bytes);
}

void stream_rows(std::byte* out, size_t stride, const std::byte* from, size_t bytes, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r, out += stride, from += bytes) stream(out, from, bytes);
}

void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace

const CopyKernels& copy_kernels() {
  static constexpr CopyKernels kTable = {
      {gather<uint8_t>, gather<uint16_t>, gather<uint32_t>, gather<uint64_t>},
      {scatter<uint8_t>, scatter<uint16_t>, scatter<uint32_t>, scatter<uint64_t>},
      stream,
      stream_rows,
      fence,
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
