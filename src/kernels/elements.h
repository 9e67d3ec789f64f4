// SPDX-License-Identifier: Apache-2.0
// Elements in registers: the type that each dtype computes in, packs of elements that move as one access, and
// walks over strided operands.
#pragma once

#include "beeswax/half.h"
#include "core/math/convert.h"
#include "kernels/args.h"
#include "kernels/gpu.h"

namespace beeswax::gpu {

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
/// The type that elements of S are computed in.
template <class S>
using Compute = typename ComputeOf<S>::Type;

/// Elements that no instruction widens.
template <class S>
inline constexpr bool kManyStepsToWiden = false;
#if !BW_CONVERTS_F8
template <>
inline constexpr bool kManyStepsToWiden<f8e4m3> = true;
#endif

/// Elements of which an instruction widens two.
template <class S>
inline constexpr bool kPairsWiden = false;
#if BW_CONVERTS_F8
template <>
inline constexpr bool kPairsWiden<f8e4m3> = true;
/// The two f8e4m3 of a half word as two f16.
BW_DEVICE uint32_t halves_of(uint16_t elements) {
  uint32_t pair;
  __asm__("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(elements));
  return pair;
}
/// One of the two f8e4m3 of a half word. Compilers see that both are converted at once.
BW_DEVICE float widen_pair(uint16_t elements, int which) {
  return static_cast<float>(bit_cast<_Float16>(static_cast<uint16_t>(halves_of(elements) >> (16 * which))));
}
#endif

/// An element in the type it is computed in, exactly, by the hardware's own conversion where there is one:
/// the bits of half.h but for the payloads of NaN.
template <class S>
BW_DEVICE Compute<S> widen(S x) {
  if constexpr (__is_same(S, f16)) {
    return static_cast<float>(bit_cast<_Float16>(x.bits));
  } else if constexpr (__is_same(S, f8e4m3)) {
#if BW_CONVERTS_F8
    return widen_pair(x.bits, 0);
#else
    // With its fields where a float has them it is a number 2^120 times too small, subnormal ones too.
    const auto moved = static_cast<uint32_t>(static_cast<int32_t>(static_cast<uint32_t>(x.bits) << 24) >> 4);
    const float value = bit_cast<float>(moved & 0x87ffffffu) * 0x1p120f;
    return __builtin_fabsf(value) == 480.0f ? bit_cast<float>(bit_cast<uint32_t>(value) | 0x7fc00000u)
                                            : value;
#endif
  } else {
    return static_cast<Compute<S>>(x);
  }
}

/// Whether larger_pairs compares two elements in one word as they are.
template <class S>
inline constexpr bool kPairsCompare = __is_same(S, f16);
#if BW_NVIDIA
template <>
inline constexpr bool kPairsCompare<bf16> = true;
#endif
/// The larger of each of two elements; a number, where the other is NaN.
template <class S>
BW_DEVICE uint32_t larger_pairs(uint32_t a, uint32_t b) {
  static_assert(kPairsCompare<S>);
#if BW_NVIDIA
  uint32_t out;
  if constexpr (__is_same(S, f16)) {
    __asm__("max.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  } else {
    __asm__("max.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  }
  return out;
#else
  using Halves = _Float16 __attribute__((ext_vector_type(2)));
  return bit_cast<uint32_t>(__builtin_elementwise_max(bit_cast<Halves>(a), bit_cast<Halves>(b)));
#endif
}

#if BW_NVIDIA
/// Whether two elements in one word are compared as they are, NaN included.
template <class S>
inline constexpr bool kPairsOrder = __is_same(S, f16) || __is_same(S, bf16);
/// The larger of each of two elements, NaN where one of them is; of two zeros +0.
template <class S>
BW_DEVICE uint32_t larger_pairs_or_nan(uint32_t a, uint32_t b) {
  static_assert(kPairsOrder<S>);
  uint32_t out;
  if constexpr (__is_same(S, bf16)) {
    __asm__("max.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  } else {
    __asm__("max.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  }
  return out;
}
#else
template <class S>
inline constexpr bool kPairsOrder = false;
template <class S>
BW_DEVICE uint32_t larger_pairs_or_nan(uint32_t, uint32_t);
#endif

#if BW_NVIDIA
/// Whether two neighbouring elements are rounded as one word, or half a word, by an instruction.
template <class S>
inline constexpr bool kPairsNarrow = __is_same(S, f16) || __is_same(S, bf16);
#if BW_CONVERTS_F8
template <>
inline constexpr bool kPairsNarrow<f8e4m3> = true;
#endif
/// Two numbers rounded once each to neighbouring elements.
template <class S>
BW_DEVICE uint32_t narrow_pair(float low, float high) {
  static_assert(kPairsNarrow<S>);
  uint32_t out;
  if constexpr (__is_same(S, f16)) {
    __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  } else if constexpr (__is_same(S, bf16)) {
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  } else {
    uint16_t half;
    __asm__("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(half) : "f"(high), "f"(low));
    out = half;
  }
  return out;
}
#endif

/// A number rounded once to an element, likewise.
template <class S>
BW_DEVICE S narrow(Compute<S> x) {
  if constexpr (__is_same(S, f16)) {
    S out;
    out.bits = f16_bits(x);
    return out;
#if BW_NVIDIA
  } else if constexpr (__is_same(S, bf16)) {
    S out;
    out.bits = bf16_bits(x);
    return out;
#endif
#if BW_CONVERTS_F8
  } else if constexpr (__is_same(S, f8e4m3)) {
    S out;
    out.bits = static_cast<uint8_t>(narrow_pair<S>(x, 0.0f));
    return out;
#endif
  } else {
    return static_cast<S>(x);
  }
}

/// n neighbouring elements, moved by accesses of up to 16 bytes.
template <class S, int n>
struct alignas(sizeof(S) * n < 16 ? sizeof(S) * n : 16) Pack {
  S v[n];
};

/// n elements as words, where compilers would give each narrow element a register of its own.
template <class S, int n>
struct alignas(alignof(Pack<S, n>)) Packed {
  static_assert(sizeof(Pack<S, n>) % 4 == 0);
  uint32_t words[sizeof(Pack<S, n>) / 4];

  BW_DEVICE_MEMBER Pack<S, n> elements() const {
    Pack<S, n> out;
    __builtin_memcpy(&out, words, sizeof(out));
    return out;
  }
  /// From here on compilers know nothing of the bits.
  BW_DEVICE_MEMBER void hide() {
#pragma unroll
    for (uint32_t& word : words) BW_HIDE_WORD(word);
  }
  /// The elements, of which compilers know nothing: what was made of them before is made again rather than
  /// kept in registers.
  BW_DEVICE_MEMBER auto renewed() const {
    Packed hidden = *this;
    hidden.hide();
    if constexpr (kPairsWiden<S>) {
      return hidden;
    } else {
      return hidden.elements();
    }
  }
};

/// n times the same element.
template <int n, class S>
BW_DEVICE Packed<S, n> repeated(S x) {
  constexpr uint32_t kOfBytes = 0x01010101u, kOfHalves = 0x00010001u;
  Packed<S, n> out;
  for (uint32_t& word : out.words) word = x.bits * (sizeof(S) == 1 ? kOfBytes : kOfHalves);
  return out;
}

/// Element j in the type it is computed in.
template <class S, int n>
BW_DEVICE Compute<S> widen_at(const Pack<S, n>& in, uint32_t j) {
  return widen(in.v[j]);
}
template <class S, int n>
BW_DEVICE Compute<S> widen_at(const Packed<S, n>& in, uint32_t j) {
#if BW_CONVERTS_F8
  if constexpr (kPairsWiden<S>)
    return widen_pair(static_cast<uint16_t>(in.words[j / 4] >> (j % 4 / 2 * 16)), j % 2);
#endif
  return widen(in.elements().v[j]);
}

/// n numbers rounded once each to elements.
template <class S, int n>
BW_DEVICE Packed<S, n> narrowed(const Compute<S> (&x)[n]) {
  Packed<S, n> out;
#if BW_NVIDIA
  if constexpr (kPairsNarrow<S>) {
    constexpr int kPerWord = 4 / sizeof(S);
#pragma unroll
    for (int w = 0; w < n / kPerWord; ++w) {
      const int i = w * kPerWord;
      out.words[w] = narrow_pair<S>(x[i], x[i + 1]);
      if constexpr (kPerWord == 4) out.words[w] |= narrow_pair<S>(x[i + 2], x[i + 3]) << 16;
    }
    return out;
  }
#endif
  Pack<S, n> each;
#pragma unroll
  for (int j = 0; j < n; ++j) each.v[j] = narrow<S>(x[j]);
  __builtin_memcpy(&out, &each, sizeof(out));
  return out;
}

/// The same as a pack, of any n.
template <class S, int n>
BW_DEVICE Pack<S, n> narrow_pack(const Compute<S> (&x)[n]) {
  if constexpr (sizeof(Pack<S, n>) % 4 == 0) {
    return narrowed<S>(x).elements();
  } else {
    Pack<S, n> out;
#pragma unroll
    for (int j = 0; j < n; ++j) out.v[j] = narrow<S>(x[j]);
    return out;
  }
}

/// Stores a pack at once: compilers would write it in pieces.
template <class S, int n>
BW_DEVICE void store_whole(S* to, const Pack<S, n>& pack) {
  if constexpr (sizeof(pack) % 4 == 0 && n > 1) {
    constexpr int kWords = sizeof(pack) / 4;
    typedef uint32_t Words __attribute__((ext_vector_type(kWords)));
    uint32_t word[kWords];
    __builtin_memcpy(word, &pack, sizeof(pack));
    Words all;
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      if constexpr (sizeof(S) < 4) BW_HIDE_WORD(word[k]);
      all[k] = word[k];
    }
    *reinterpret_cast<Words*>(to) = all;
  } else {
    *reinterpret_cast<Pack<S, n>*>(to) = pack;
  }
}

template <class T>
BW_DEVICE T from_bytes(uint64_t bytes) {
  T value;
  __builtin_memcpy(&value, &bytes, sizeof(T));
  return value;
}

/// How many elements x is after the beginning of a pack of so many bytes.
template <class S>
BW_DEVICE uint32_t elements_past(const S* x, uint32_t pack_bytes) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(x) % pack_bytes / sizeof(S));
}
BW_DEVICE bool aligned16(const void* a) { return (reinterpret_cast<uintptr_t>(a) & 15u) == 0; }

/// Offsets of a walk's operands at a linear index.
template <int n>
BW_DEVICE void offsets_at(const Walk<n>& walk, uint32_t index, int64_t (&offset)[n]) {
  for (int k = 0; k < n; ++k) offset[k] = 0;
#pragma unroll
  for (int axis = 0; axis < kMaxWalk; ++axis) {
    if (axis >= walk.rank) break;
    const uint32_t rest = divide(index, walk.dims[axis]);
    const auto at = static_cast<int64_t>(index - rest * walk.dims[axis].divisor);
    for (int k = 0; k < n; ++k) offset[k] += at * walk.strides[k][axis];
    index = rest;
  }
}

}  // namespace beeswax::gpu
