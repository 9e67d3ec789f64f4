// SPDX-License-Identifier: Apache-2.0
// The loops of elementwise kernels: y[i] = f(x[i]...). Dense operands move in packs; strided ones by walking.
//   floors: the bytes of x and y over the memory's bandwidth; arithmetic per element over the ALU rate
#pragma once

#include "kernels/elements.h"

namespace beeswax::gpu {

constexpr int least(int a) { return a; }
template <class... Rest>
constexpr int least(int a, Rest... rest) {
  const int b = least(rest...);
  return a < b ? a : b;
}
constexpr int most(int a) { return a; }
template <class... Rest>
constexpr int most(int a, Rest... rest) {
  const int b = most(rest...);
  return a > b ? a : b;
}

/// An operand in memory.
template <class S>
struct Memory {
  const S* x;
  using Element = S;
  BW_DEVICE_MEMBER bool is_aligned() const { return aligned16(x); }
  template <int n>
  BW_DEVICE_MEMBER Pack<S, n> pack(uint32_t i) const {
    return *reinterpret_cast<const Pack<S, n>*>(x + i);
  }
  template <int n>
  BW_DEVICE_MEMBER Packed<S, n> words(uint32_t i) const {
    return *reinterpret_cast<const Packed<S, n>*>(x + i);
  }
  BW_DEVICE_MEMBER S at(int64_t i) const { return x[i]; }
};
/// An operand that is memory, or one number where x is null.
template <class S>
struct MemoryOrValue {
  const S* x;
  S value;
  using Element = S;
  BW_DEVICE_MEMBER bool is_aligned() const { return aligned16(x); }
  template <int n>
  BW_DEVICE_MEMBER Pack<S, n> pack(uint32_t i) const {
    if (x != nullptr) return *reinterpret_cast<const Pack<S, n>*>(x + i);
    Pack<S, n> out;
    for (int j = 0; j < n; ++j) out.v[j] = value;
    return out;
  }
  template <int n>
  BW_DEVICE_MEMBER Packed<S, n> words(uint32_t i) const {
    return x != nullptr ? *reinterpret_cast<const Packed<S, n>*>(x + i) : repeated<n>(value);
  }
  BW_DEVICE_MEMBER S at(int64_t i) const { return x != nullptr ? x[i] : value; }
};

/// Whether a function of elements is made of F::wide, of widened elements, two of which an instruction
/// widens.
template <class F>
constexpr bool kByPairs = requires { requires F::kByPairs; };
/// Whether it is F::wide_all, of all widened elements of a pack at once.
template <class F>
constexpr bool kByPacks = requires { requires F::kByPacks; };

/// The pack of x that begins at element i, as words where F takes those.
template <class F, int n, class X>
BW_DEVICE auto pack_for(const X& x, uint32_t i) {
  if constexpr (kByPairs<F> || kByPacks<F>) {
    return x.template words<n>(i);
  } else {
    return x.template pack<n>(i);
  }
}

/// f(i + j, element j of in...) for each j, of what pack_for<F> gives.
template <class Y, int n, class F, class... In>
BW_DEVICE Pack<Y, n> map_pack(F f, uint32_t i, const In&... in) {
  if constexpr (kByPacks<F>) {
    Compute<Y> wide[n];
#pragma unroll
    for (uint32_t j = 0; j < n; ++j) wide[j] = widen_at(in..., j);
    f.wide_all(wide);
    return narrowed<Y>(wide).elements();
  } else if constexpr (kByPairs<F>) {
    Compute<Y> wide[n];
#pragma unroll
    for (uint32_t j = 0; j < n; ++j) wide[j] = f.wide(widen_at(in, j)...);
    return narrowed<Y>(wide).elements();
  } else {
    Pack<Y, n> out;
#pragma unroll
    for (int j = 0; j < n; ++j) out.v[j] = f(i + static_cast<uint32_t>(j), in.v[j]...);
    return out;
  }
}

/// `packs` of a thread from i on, a block's width apart, all loaded before what is made of them. False where
/// not all are whole: i becomes where the first of these begins.
template <class Y, int n, int packs, class F, class S>
BW_DEVICE bool map_several(Y* y, uint32_t& i, uint32_t count, F f, Memory<S> x) {
  constexpr uint32_t kStep = kMapThreads * n;
  if (i + n > count) return false;
  Packed<S, n> in[packs];
#pragma unroll
  for (int u = 0; u < packs; ++u) {  // what is not there is the beginning: loads need no branches
    const uint32_t at = i + static_cast<uint32_t>(u) * kStep;
    in[u] = x.template words<n>(at + n <= count ? at : 0);
  }
  if constexpr (F::kChooses) {  // no load moves behind what is made of another
#pragma unroll
    for (auto& pack : in) pack.hide();
  }
#pragma unroll
  for (int u = 0; u < packs; ++u, i += kStep) {
    if (i + n > count) return false;
    in[u].hide();
    Compute<S> wide[n];
#pragma unroll
    for (uint32_t j = 0; j < n; ++j) wide[j] = widen_at(in[u], j);
    f.wide_all(wide);
    *reinterpret_cast<Pack<Y, n>*>(y + i) = narrowed<Y>(wide).elements();
  }
  return true;
}

/// y[i] = f(i, x[i]...) for i < count. A thread makes one pack, unless the function is costly: blocks that
/// make more end later, one after the other, than they begin.
template <int packs = 1, class Y, class F, class... X>
BW_DEVICE void map_dense(Y* y, uint32_t count, F f, X... x) {
  constexpr int kNarrow =
      least(static_cast<int>(sizeof(Y)), static_cast<int>(sizeof(typename X::Element))...);
  constexpr int kWide = most(static_cast<int>(sizeof(Y)), static_cast<int>(sizeof(typename X::Element))...);
  constexpr int n = map_elements(kNarrow, kWide, static_cast<int>(sizeof(Y)));
  const uint32_t first = block() * (kMapThreads * n * packs);
  if ((aligned16(y) && ... && x.is_aligned())) {
    uint32_t i = first + thread() * n;
    if constexpr (packs > 1) {
      if (map_several<Y, n, packs>(y, i, count, f, x...)) return;
    } else if (i + n <= count) {
      *reinterpret_cast<Pack<Y, n>*>(y + i) = map_pack<Y, n>(f, i, pack_for<F, n>(x, i)...);
      return;
    }
#pragma unroll 1
    for (; i < count; ++i) y[i] = f(i, x.at(i)...);
  } else {
    // Neighbouring threads take neighbouring elements.
    uint32_t i = first + thread();
    for (int j = 0; j < n * packs; ++j, i += kMapThreads)
      if (i < count) y[i] = f(i, x.at(i)...);
  }
}

/// map_strided where the innermost axis is dense or broadcast in every operand: indices count packs of n
/// elements.
template <int n, class Y, class F, class A, class B>
BW_DEVICE void map_packs(Y* y, uint32_t packs, const Walk<2>& walk, F f, A a, B b) {
  uint32_t i = block() * (kMapThreads * kPackedPacks) + thread();
#pragma unroll
  for (int u = 0; u < kPackedPacks; ++u, i += kMapThreads) {
    if (i >= packs) return;
    int64_t offset[2];
    offsets_at(walk, i, offset);
    const auto from = [](auto x, int64_t at, bool dense) __attribute__((always_inline)) {
      // From its place on, as a dense operand, or there as a number.
      if (!dense) x.value = x.at(at);
      x.x = dense && x.x != nullptr ? x.x + at : nullptr;
      return pack_for<F, n>(x, 0);
    };
    const auto x = from(a, offset[0], (walk.packed & 1u) != 0);
    const auto z = from(b, offset[1], (walk.packed & 2u) != 0);
    reinterpret_cast<Pack<Y, n>*>(y)[i] = map_pack<Y, n>(f, i * n, x, z);
  }
}

template <class Index, Index... k>
struct Numbers {};

/// y[i] = f(i, x[offset of i]...) for i < count, y dense.
template <class Y, class F, int n, int... k, class... X>
BW_DEVICE void map_strided(Numbers<int, k...>, Y* y, uint32_t count, const Walk<n>& walk, F f, X... x) {
  uint32_t i = block() * (kMapThreads * kStridedElements) + thread();
#pragma unroll
  for (int j = 0; j < kStridedElements; ++j, i += kMapThreads) {
    if (i >= count) return;
    int64_t offset[n];
    offsets_at(walk, i, offset);
    y[i] = f(i, x.at(offset[k])...);
  }
}
template <class Y, class F, int n, class... X>
BW_DEVICE void map_strided(Y* y, uint32_t count, const Walk<n>& walk, F f, X... x) {
  static_assert(sizeof...(X) == n);
  map_strided(__make_integer_seq<Numbers, int, n>(), y, count, walk, f, x...);
}

}  // namespace beeswax::gpu
