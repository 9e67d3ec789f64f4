// SPDX-License-Identifier: Apache-2.0
// Requests of what is read later. Included inside no namespace.
#pragma once

#include <cstdint>

#include "backends/cpu/processor.h"
#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Requests the lines of n elements, `ahead` bytes behind them.
template <int64_t n, class T>
BW_FN void request_lines(const T* x, int64_t ahead) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t j = 0; j < n; j += kLine)
    __builtin_prefetch(reinterpret_cast<const char*>(x + j) + ahead, 0, 3);
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
