// SPDX-License-Identifier: Apache-2.0
// Requests of what is read later. Included inside no namespace.
#pragma once

#include <cstdint>

#include "backends/cpu/processor.h"
#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Bytes ahead that loops request which keep a core busy beside reading. With AVX2 these do not run far
/// enough ahead by themselves on any processor: two Zen 3 cores negate f16 at 0.87 of the speed of copying
/// without requests and at 1.0 with them, and find places of the largest at 0.70 and 0.88 of the speed of
/// reading. Sums would become up to a fifth slower, and f64 to f32 a seventh.
BW_FN int64_t busy_ahead() {
#if defined(BW_ISA_v3)
  return 4096;
#else
  return kBytesAhead;
#endif
}
/// The same for loops that only read.
BW_FN int64_t busy_read_ahead() {
#if defined(BW_ISA_v3)
  return 4096;
#else
  return kReadAhead;
#endif
}

/// Requests the lines of n elements, `ahead` bytes behind them.
template <int64_t n, class T>
BW_FN void request_lines(const T* x, int64_t ahead) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t j = 0; j < n; j += kLine)
    __builtin_prefetch(reinterpret_cast<const char*>(x + j) + ahead, 0, 3);
}

/// The lines of one quarter of kBytes, for loops that request while they work rather than all at once. Two
/// Zen 5 cores generate so with Q4_K_M at 1.2 billion in 0.95 to 0.98 of the time, with Q6_K in 0.95 to 0.97
/// (at 50 GB/s; Q4_K_M at 80 GB/s in 0.98 to 1.00). Others lose: at 80 GB/s Q2_K a tenth, Q8_0 a twentieth.
template <int64_t kBytes>
BW_FN void request_quarter(const uint8_t* x, int64_t ahead, int quarter) {
  constexpr int64_t kLines = (kBytes + 63) / 64;
  for (int64_t line = quarter * kLines / 4; line < (quarter + 1) * kLines / 4; ++line)
    __builtin_prefetch(x + line * 64 + ahead, 0, 3);
}

/// Instructions that do nothing, beside the requests of a loop whose loads would otherwise run so far ahead
/// of the rest of it that they meet lines which are still on their way: it seems that these loads take the
/// places of further requests, and the loop stays as slow as without any. Where memory gives 80 GB/s, one Zen
/// 5 core multiplies rows of 8192 of Q4_0 with an activation at 22 GB/s without them and at 35 to 39 with 40
/// of them (in caches at 80 and at 63 to 68).
template <int kCount>
BW_FN void idle() {
  if constexpr (kCount > 0) asm volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(kCount));
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
