// SPDX-License-Identifier: Apache-2.0
// Register<A>: the widest vector register of the level, as a vector of A. Loads and stores go through memcpy.
// Included by kernels only, after their namespace is chosen.
#pragma once

#include <cstdint>
#include <type_traits>

namespace beeswax::cpu::BW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRegister = 64;
#elif defined(__AVX2__)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif

// Of numbers only, so that narrow floats choose among load_widened's overloads without an error.
template <class A>
struct RegisterOf {};
template <class A>
  requires std::is_arithmetic_v<A>
struct RegisterOf<A> {
  typedef A type __attribute__((vector_size(kRegister)));
};
template <class A>
using Register = typename RegisterOf<A>::type;

/// Calls f(std::integral_constant<int, k>) where `columns` elements are k registers of kWidth, for a power of
/// two k of at most kMost; returns whether that is so.
template <int kMost, int kWidth, class F>
bool with_registers(int64_t columns, const F& f) {
  if constexpr (kMost > 0) {
    if (columns == kMost * kWidth) {
      f(std::integral_constant<int, kMost>{});
      return true;
    }
    return with_registers<kMost / 2, kWidth>(columns, f);
  }
  return false;
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
