// SPDX-License-Identifier: Apache-2.0
// Packed 16-bit arithmetic, mixed precision, and dot products.
#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/half_extremes.h"
#include "emu/exec/ops/real.h"
#include "emu/exec/ops/wide.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using i16 = int16_t;
using u16 = uint16_t;
using i32 = int32_t;
using u32 = uint32_t;

/// The operand that the packed instruction's high part sees as its low one.
EMU_FN Source high_part(const Source& s) {
  Source high = s;
  high.mods = uint8_t((s.mods & kDpp) | (s.mods & kPackHigh ? kHigh : 0) | (s.mods & kNegHigh ? kNeg : 0));
  return high;
}
EMU_FN Source low_part(const Source& s) {
  Source low = s;
  low.mods &= kDpp | kHigh | kNeg | kAbs;
  return low;
}

/// 32 lanes of the two elements that op_sel, op_sel_hi, neg_lo and neg_hi choose: the register itself, or
/// words in `to`.
EMU_FN const u32* elements_of(const Wave& w, const Source& s, unsigned half, u32* to) {
  const u32* from = s.place == Place::Vector ? w.v + s.offset + half : s.row;
  const unsigned chosen = s.mods & (kHigh | kPackHigh);
  const u32 flip = (s.mods & kNeg ? 0x8000u : 0) | (s.mods & kNegHigh ? 0x80000000u : 0);
  if (s.place != Place::Scalar && chosen == kPackHigh && flip == 0) [[likely]]
    return from;
  if (s.place == Place::Scalar)
    for (unsigned i = 0; i < 32; ++i) to[i] = w.s[s.reg];
  else
    std::memcpy(to, from, 32 * sizeof(u32));
  if (chosen == 0)
    for (unsigned i = 0; i < 32; ++i) to[i] = (to[i] & 0xffff) | to[i] << 16;
  else if (chosen == kHigh)
    for (unsigned i = 0; i < 32; ++i) to[i] = to[i] >> 16 | to[i] << 16;
  else if (chosen == (kHigh | kPackHigh))
    for (unsigned i = 0; i < 32; ++i) to[i] = to[i] >> 16 | (to[i] & 0xffff0000);
  for (unsigned i = 0; i < 32; ++i) to[i] ^= flip;
  return to;
}

/// Denormal halves of 32 results -> zeros where MODE asks for it.
EMU_FN void flush_results(const Wave& w, u32* out) {
  if (!(w.mode & 0x80)) [[unlikely]]
    for (unsigned i = 0; i < 32; ++i) out[i] = (out[i] & 0x7c00) == 0 ? out[i] & 0x8000 : out[i];
}

/// F on each of the two elements.
template <auto F, class Signature>
struct PackedFunction;
template <auto F, class R, class... A>
struct PackedFunction<F, R (*)(A...)> {
  static constexpr bool kHalves = std::is_same_v<R, Half>;
  using Indices = std::index_sequence_for<A...>;
  template <size_t... I>
  [[gnu::noinline]] static void in_parts(Wave& w, const Op* op, std::index_sequence<I...>) {
    const std::conditional_t<kHalves, FpScope<true>, NoScope> scope(w);
    const Mode mode{(w.mode & kModeIeee) != 0 || w.generation >= 12,
                    (w.mode & kModeDx10Clamp) != 0,
                    (op->flags & kClamp) != 0,
                    0,
                    w.generation == 9,
                    (w.mode & 0x40) == 0};
    alignas(64) u32 in[sizeof...(A)][64], out[2][64];
    for (unsigned half = 0; half < w.lanes; half += 32) {
      for (unsigned part = 0; part < 2; ++part) {
        (prepare(
             w, op,
             part ? high_part(op->src[operand_index<A...>(I)]) : low_part(op->src[operand_index<A...>(I)]),
             std::is_same_v<A, Mode> ? Type::U16 : kType<A>, half, in[I]),
         ...);
        u32* o = out[part];
        for (unsigned i = 0; i < 32; ++i) {
          const R r = F(lane<A>(Rows{in[I], in[I] + 32, 0}, i, mode)...);
          if constexpr (kHalves) {
            float f = r.f;
            if (mode.clamp)
              f = f != f     ? (mode.dx10_clamp || w.generation >= 12 ? 0.0f : f)
                  : f > 1.0f ? 1.0f
                  : f > 0.0f ? f
                             : 0.0f;
            o[i] = std::bit_cast<u32>(f);
          } else {
            o[i] = u16(r);
          }
        }
        if constexpr (kHalves) {
          narrow_halves(o);
          flush_results(w, o);
        }
      }
      const u32 enabled = enabled_lanes(w, op, half);
      u32* d = w.v + op->dst_offset + half;
      for (unsigned i = 0; i < 32; ++i)
        d[i] = enabled >> i & 1 ? (out[0][i] & 0xffff) | out[1][i] << 16 : d[i];
    }
  }
  /// Whether MODE is the usual one and nothing but the choice of elements and signs is asked for.
  EMU_FN bool usual(const Wave& w, const Op* op) {
    unsigned mods = 0;
    for (unsigned i = 0; i < op->sources; ++i) mods |= op->src[i].mods;
    return !((kHalves && (w.mode & kModeFpMask) != kModeDefault) || (op->flags & kClamp) ||
             (mods & (kDpp | kAbs)) || op->dpp != nullptr);
  }
  static constexpr Row row(const char* name, unsigned flags, Handler run) {
    Row r{};
    r.name = name;
    r.run = run;
    r.form = Form::Vector;
    r.cls = Class::Vector;
    r.dst = Type::U32;
    constexpr Type kTypes[] = {kType<A>..., Type::None};
    unsigned n = 0;
    for (Type t : kTypes)
      if (t != Type::None && t != Type::Mode) r.src[n++] = t == Type::F16 ? Type::PackF16 : Type::Pack16;
    r.flags = u16(flags);
    return r;
  }
};

/// In the usual case Quick on the bits of all elements in one loop.
template <auto F, auto Quick, class Signature>
struct PackedBits;
template <auto F, auto Quick, class R, class... A>
struct PackedBits<F, Quick, R (*)(A...)> {
  using Slow = PackedFunction<F, decltype(+F)>;
  template <class T>
  EMU_FN T element(const u16* bits, unsigned i, const Mode& mode) {
    if constexpr (std::is_same_v<T, Mode>)
      return mode;
    else
      return T(bits[i]);
  }
  template <size_t... I>
  EMU_FN void at_once(Wave& w, const Op* op, std::index_sequence<I...>) {
    const Mode mode{(w.mode & kModeIeee) != 0 || w.generation >= 12, false, false, 0, w.generation == 9};
    alignas(64) u32 words[sizeof...(A)][32], out[32];
    alignas(64) u16 in[sizeof...(A)][64], results[64];
    for (unsigned half = 0; half < w.lanes; half += 32) {
      const auto fill = [&]<class T>(unsigned n, const Source& s, T*) {
        if constexpr (!std::is_same_v<T, Mode>)
          std::memcpy(in[n], elements_of(w, s, half, words[n]), sizeof(in[n]));
      };
      (fill(I, op->src[operand_index<A...>(I)], static_cast<A*>(nullptr)), ...);
      for (unsigned i = 0; i < 64; ++i) results[i] = u16(Quick(element<A>(in[I], i, mode)...));
      std::memcpy(out, results, sizeof(out));
      const u32 enabled = u32(exec_of(w) >> half);
      u32* d = w.v + op->dst_offset + half;
      for (unsigned i = 0; i < 32; ++i) d[i] = enabled >> i & 1 ? out[i] : d[i];
    }
  }
  static const Op* run(Wave& w, const Op* op) {
    if (Slow::usual(w, op)) [[likely]]
      at_once(w, op, std::index_sequence_for<A...>());
    else
      Slow::in_parts(w, op, typename Slow::Indices());
    return op + 1;
  }
};
template <auto F, auto Quick = F>
constexpr Row packed(const char* name, unsigned flags = 0) {
  return PackedFunction<F, decltype(+F)>::row(name, flags, &PackedBits<F, Quick, decltype(+Quick)>::run);
}

/// A function of two halves that are read as MODE says.
template <auto F>
constexpr Row packed_read(const char* name) {
  return packed<[](u16 a, u16 b, Mode m) { return half_from(F(half_read(a, m), half_read(b, m))); },
                [](u16 a, u16 b) { return F(a, b); }>(name);
}

/// In the usual case Quick on many floats, which may be any that round to the right halves.
template <auto F, auto Quick, unsigned Count>
const Op* packed_floats(Wave& w, const Op* op) {
  using Slow = PackedFunction<F, decltype(+F)>;
  if (!Slow::usual(w, op)) [[unlikely]] {
    Slow::in_parts(w, op, typename Slow::Indices());
    return op + 1;
  }
  alignas(64) u32 words[Count][32];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    const u16* in[Count];
    for (unsigned n = 0; n < Count; ++n)
      in[n] = reinterpret_cast<const u16*>(elements_of(w, op->src[n], half, words[n]));
    const u32 enabled = u32(exec_of(w) >> half);
    u32* d = w.v + op->dst_offset + half;
    constexpr unsigned kLanes = Floats::kLanes;
    for (unsigned i = 0; i < 32; i += kLanes) {
      const auto part = [&](unsigned at) {
        const auto value = [&](unsigned n) { return Floats::load_halves(in[n] + at); };
        if constexpr (Count == 2)
          return Quick(value(0), value(1));
        else
          return Quick(value(0), value(1), value(2));
      };
      store_halves(d + i, part(2 * i), part(2 * i + kLanes), enabled >> i);
    }
  }
  return op + 1;
}
template <auto F, auto Quick>
constexpr Row packed_sum(const char* name) {
  return PackedFunction<F, decltype(+F)>::row(name, 0, &packed_floats<F, Quick, 2>);
}
constexpr auto kFused = [](Half a, Half b, Half c) { return fused_half(a, b, c); };
constexpr auto kFusedQuick = [](Floats a, Floats b, Floats c) { return fused_nearly(a, b, c); };
constexpr Row packed_fused(const char* name, unsigned flags = 0) {
  return PackedFunction<kFused, decltype(+kFused)>::row(name, flags, &packed_floats<kFused, kFusedQuick, 3>);
}

EMU_FN i16 sat(i32 x, bool clamp) { return i16(!clamp ? x : x > 32767 ? 32767 : x < -32768 ? -32768 : x); }
EMU_FN u16 satu(i32 x, bool clamp) { return u16(!clamp ? x : x > 65535 ? 65535 : x < 0 ? 0 : x); }
template <class T>
EMU_FN T larger_of(T a, T b) {
  return a > b ? a : b;
}
EMU_FN bool nan_half(u16 h) { return (h & 0x7fff) > 0x7c00; }
/// v_pk_min/max_f16: on bits, because a signaling NaN must be told apart. As integers halves are in order
/// once the magnitude of negative ones is turned around; that puts -0 below +0.
template <bool Max>
EMU_FN u16 extreme_bits(u16 a, u16 b, Mode m) {
  a = half_read(a, m);
  b = half_read(b, m);
  const i16 x = i16(a ^ (i16(a) >> 15 & 0x7fff)), y = i16(b ^ (i16(b) >> 15 & 0x7fff));
  u16 r = (Max ? x > y : x < y) ? a : b;
  r = nan_half(a) ? b : r;
  r = nan_half(b) && !(m.second_nan && nan_half(a)) ? a : r;
  r = m.ieee && nan_half(b) && !(b & 0x200) ? u16(b | 0x200) : r;
  return m.ieee && nan_half(a) && !(a & 0x200) ? u16(a | 0x200) : r;
}
template <bool Max>
EMU_FN Half extreme(u16 a, u16 b, Mode m) {
  return {half_value(extreme_bits<Max>(a, b, m))};
}
/// v_fma_mix: each source is an f32 or a half. Result 0: f32, 1: low half, 2: high half.
template <int Result>
const Op* fma_mix(Wave& w, const Op* op) {
  const FpScope<Result != 0> scope(w);
  alignas(64) u32 in[3][64], out[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    for (unsigned n = 0; n < 3; ++n) {
      Source s = op->src[n];
      const bool is_half = s.mods & kPackHigh;
      s.mods &= kDpp | kNeg | kAbs | (is_half ? kHigh : 0);
      prepare(w, op, s, is_half ? Type::F16 : Type::F32, half, in[n]);
    }
    const bool clamp = op->flags & kClamp;
    for (unsigned i = 0; i < 32; ++i) {
      float f = fused(std::bit_cast<float>(in[0][i]), std::bit_cast<float>(in[1][i]),
                      std::bit_cast<float>(in[2][i]));
      if (clamp) f = f != f ? 0.0f : f > 1.0f ? 1.0f : f > 0.0f ? f : 0.0f;
      out[i] = std::bit_cast<u32>(f);
    }
    if (Result) {
      narrow_halves(out);
      flush_results(w, out);
    }
    const u32 enabled = enabled_lanes(w, op, half);
    u32* d = w.v + op->dst_offset + half;
    for (unsigned i = 0; i < 32; ++i) {
      const u32 now = Result == 0   ? out[i]
                      : Result == 1 ? (d[i] & 0xffff0000) | (out[i] & 0xffff)
                                    : (d[i] & 0xffff) | out[i] << 16;
      d[i] = enabled >> i & 1 ? now : d[i];
    }
  }
  return op + 1;
}

EMU_FN float bf16(u32 x) { return std::bit_cast<float>(x << 16); }
enum class Dot2 { F32F16, F16F16, F32Bf16, Bf16Bf16 };
/// Products of the two halves, added to the third operand one after the other as the pseudo-code writes it.
template <Dot2 Kind>
const Op* dot2(Wave& w, const Op* op) {
  constexpr bool kBf = Kind == Dot2::F32Bf16 || Kind == Dot2::Bf16Bf16,
                 kShort = Kind == Dot2::F16F16 || Kind == Dot2::Bf16Bf16;
  const FpScope<kShort> scope(w);
  alignas(64) u32 a[2][64], b[2][64], c[64], out[64];
  const auto value = [](u32 x) { return kBf ? bf16(x) : std::bit_cast<float>(x); };
  for (unsigned half = 0; half < w.lanes; half += 32) {
    const Type type = kBf ? Type::U16 : Type::F16;
    prepare(w, op, low_part(op->src[0]), type, half, a[0]);
    prepare(w, op, high_part(op->src[0]), type, half, a[1]);
    prepare(w, op, low_part(op->src[1]), type, half, b[0]);
    prepare(w, op, high_part(op->src[1]), type, half, b[1]);
    prepare(w, op, low_part(op->src[2]), kShort ? type : Type::F32, half, c);
    const bool clamp = op->flags & kClamp;
    for (unsigned i = 0; i < 32; ++i) {
      float sum = kShort ? value(c[i]) : std::bit_cast<float>(c[i]);
      for (unsigned part = 0; part < 2; ++part) {
        float product = value(a[part][i]) * value(b[part][i]);
        if (Kind == Dot2::F16F16) product = half_value(half_bits(product));
        if (Kind == Dot2::Bf16Bf16) product = bf16(bf16_bits(product));
        sum += product;
        if (Kind == Dot2::F16F16) sum = half_value(half_bits(sum));
        if (Kind == Dot2::Bf16Bf16) sum = bf16(bf16_bits(sum));
      }
      if (clamp) sum = sum != sum ? 0.0f : sum > 1.0f ? 1.0f : sum > 0.0f ? sum : 0.0f;
      out[i] = Kind == Dot2::F16F16     ? half_bits(sum)
               : Kind == Dot2::Bf16Bf16 ? bf16_bits(sum)
                                        : std::bit_cast<u32>(sum);
    }
    const u32 enabled = enabled_lanes(w, op, half);
    u32* d = w.v + op->dst_offset + half;
    for (unsigned i = 0; i < 32; ++i) {
      const u32 now = !kShort                ? out[i]
                      : op->flags & kDstHigh ? (d[i] & 0xffff) | out[i] << 16
                                             : (d[i] & 0xffff0000) | (out[i] & 0xffff);
      d[i] = enabled >> i & 1 ? now : d[i];
    }
  }
  return op + 1;
}

EMU_FN i32 byte_at(u32 x, int n, bool is_signed) {
  return is_signed ? i32(x << (24 - 8 * n)) >> 24 : i32(x >> (8 * n) & 0xff);
}
EMU_FN i32 nibble_at(u32 x, int n, bool is_signed) {
  return is_signed ? i32(x << (28 - 4 * n)) >> 28 : i32(x >> (4 * n) & 0xf);
}
EMU_FN i32 sum_i(i32 products, i32 c, bool clamp) {
  const int64_t sum = int64_t(products) + c;
  return !clamp                ? i32(sum)
         : sum > 2147483647    ? 2147483647
         : sum < -2147483648LL ? i32(-2147483647 - 1)
                               : i32(sum);
}
EMU_FN u32 sum_u(u32 products, u32 c, bool clamp) {
  const u32 sum = products + c;
  return clamp && sum < c ? ~0u : sum;
}
EMU_FN i32 four(u32 a, u32 b, bool sa, bool sb) {
  return byte_at(a, 0, sa) * byte_at(b, 0, sb) + byte_at(a, 1, sa) * byte_at(b, 1, sb) +
         byte_at(a, 2, sa) * byte_at(b, 2, sb) + byte_at(a, 3, sa) * byte_at(b, 3, sb);
}
EMU_FN i32 eight(u32 a, u32 b, bool sa, bool sb) {
  i32 sum = 0;
  for (int n = 0; n < 8; ++n) sum += nibble_at(a, n, sa) * nibble_at(b, n, sb);
  return sum;
}
/// Products of the two halves that op_sel and op_sel_hi choose, and the third operand.
template <bool Signed>
const Op* dot2_integers(Wave& w, const Op* op) {
  alignas(64) u32 a[2][64], b[2][64], c[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    for (unsigned part = 0; part < 2; ++part) {
      const auto chosen = [&](const Source& s) { return part ? high_part(s) : low_part(s); };
      prepare(w, op, chosen(op->src[0]), Type::U16, half, a[part]);
      prepare(w, op, chosen(op->src[1]), Type::U16, half, b[part]);
    }
    prepare(w, op, op->src[2], Type::U32, half, c);
    const bool clamp = op->flags & kClamp;
    for (unsigned i = 0; i < 32; ++i) {
      const auto factor = [](u32 x) { return Signed ? int64_t(i16(x)) : int64_t(x); };
      const int64_t sum = factor(a[0][i]) * factor(b[0][i]) + factor(a[1][i]) * factor(b[1][i]) +
                          (Signed ? int64_t(i32(c[i])) : int64_t(c[i]));
      constexpr int64_t kLeast = Signed ? -2147483648LL : 0, kMost = Signed ? 2147483647LL : 0xffffffffLL;
      c[i] = u32(!clamp ? sum : sum < kLeast ? kLeast : sum > kMost ? kMost : sum);
    }
    write_enabled(w.v + op->dst_offset + half, w.lanes, 1, c, enabled_lanes(w, op, half));
  }
  return op + 1;
}

constexpr Row special(const char* name, Handler run, Type a, Type c, Class cls, unsigned flags = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Vector;
  r.cls = cls;
  r.dst = Type::U32;
  r.src[0] = r.src[1] = a;
  r.src[2] = c;
  r.flags = u16(flags);
  return r;
}
constexpr Row dot_short(const char* name, Handler run) {
  Row r = special(name, run, Type::PackF16, Type::F16, Class::Dot, kPartial);
  r.dst = Type::F16;
  return r;
}

constexpr Row kRows[] = {
    packed<[](i16 a, i16 b, i16 c, Mode m) { return sat(i32(int64_t(a) * b + c), m.clamp); }>("v_pk_mad_i16"),
    packed<[](u16 a, u16 b, u16 c, Mode m) {
      return m.clamp && (uint64_t(u32(a) * b) + c > 65535u) ? u16(65535) : u16(u32(a) * b + c);
    }>("v_pk_mad_u16"),
    packed<[](u16 a, u16 b) { return u16(u32(a) * b); }>("v_pk_mul_lo_u16"),
    packed<[](i16 a, i16 b, Mode m) { return sat(a + b, m.clamp); }>("v_pk_add_i16"),
    packed<[](i16 a, i16 b, Mode m) { return sat(a - b, m.clamp); }>("v_pk_sub_i16"),
    packed<[](u16 a, u16 b, Mode m) { return satu(a + b, m.clamp); }>("v_pk_add_u16"),
    packed<[](u16 a, u16 b, Mode m) { return satu(a - b, m.clamp); }>("v_pk_sub_u16"),
    packed<[](u16 a, u16 b) { return u16(b << (a & 15)); }>("v_pk_lshlrev_b16"),
    packed<[](u16 a, u16 b) { return u16((b >> (a & 15))); }>("v_pk_lshrrev_b16"),
    packed<[](u16 a, i16 b) { return i16((b >> (a & 15))); }>("v_pk_ashrrev_i16"),
    packed<[](i16 a, i16 b) { return larger_of(a, b); }>("v_pk_max_i16"),
    packed<[](i16 a, i16 b) { return a < b ? a : b; }>("v_pk_min_i16"),
    packed<[](u16 a, u16 b) { return larger_of(a, b); }>("v_pk_max_u16"),
    packed<[](u16 a, u16 b) { return a < b ? a : b; }>("v_pk_min_u16"),
    packed_sum<[](Half a, Half b) { return Half{a.f + b.f}; }, [](Floats a, Floats b) { return a + b; }>(
        "v_pk_add_f16"),
    packed_sum<[](Half a, Half b) { return Half{a.f * b.f}; }, [](Floats a, Floats b) { return a * b; }>(
        "v_pk_mul_f16"),
    packed_fused("v_pk_fma_f16"),
    packed_fused("v_pk_fmac_f16", kAccumulate),
    packed<[](u16 a, u16 b, Mode m) { return extreme<false>(a, b, m); },
           [](u16 a, u16 b, Mode m) { return extreme_bits<false>(a, b, m); }>("v_pk_min_f16"),
    packed<[](u16 a, u16 b, Mode m) { return extreme<true>(a, b, m); },
           [](u16 a, u16 b, Mode m) { return extreme_bits<true>(a, b, m); }>("v_pk_max_f16"),
    packed_read<half_number<false>>("v_pk_min_num_f16"),
    packed_read<half_number<true>>("v_pk_max_num_f16"),
    packed_read<half_nan_wins<false>>("v_pk_minimum_f16"),
    packed_read<half_nan_wins<true>>("v_pk_maximum_f16"),
    special("v_fma_mix_f32", fma_mix<0>, Type::Mix, Type::Mix, Class::Vector),
    special("v_fma_mixlo_f16", fma_mix<1>, Type::Mix, Type::Mix, Class::Vector, kPartial),
    special("v_fma_mixhi_f16", fma_mix<2>, Type::Mix, Type::Mix, Class::Vector, kPartial),
    special("v_dot2_f32_f16", dot2<Dot2::F32F16>, Type::PackF16, Type::F32, Class::Dot),
    special("v_dot2c_f32_f16", dot2<Dot2::F32F16>, Type::PackF16, Type::F32, Class::Dot, kAccumulate),
    special("v_dot2acc_f32_f16", dot2<Dot2::F32F16>, Type::PackF16, Type::F32, Class::Dot, kAccumulate),
    special("v_dot2_f32_bf16", dot2<Dot2::F32Bf16>, Type::PackBf16, Type::F32, Class::Dot),
    special("v_dot2acc_f32_bf16", dot2<Dot2::F32Bf16>, Type::PackBf16, Type::F32, Class::Dot, kAccumulate),
    dot_short("v_dot2_f16_f16", dot2<Dot2::F16F16>),
    dot_short("v_dot2_bf16_bf16", dot2<Dot2::Bf16Bf16>),
    special("v_dot2_i32_i16", dot2_integers<true>, Type::Pack16, Type::I32, Class::Dot),
    special("v_dot2_u32_u16", dot2_integers<false>, Type::Pack16, Type::U32, Class::Dot),
    special("v_dot2c_i32_i16", dot2_integers<true>, Type::Pack16, Type::I32, Class::Dot, kAccumulate),
    valu<[](u32 a, u32 b, i32 c, Mode m) { return sum_i(four(a, b, m.signs & 1, m.signs & 2), c, m.clamp); }>(
        "v_dot4_i32_iu8", kNegIsSign, Class::Dot),
    valu<[](u32 a, u32 b, i32 c, Mode m) {
      return sum_i(eight(a, b, m.signs & 1, m.signs & 2), c, m.clamp);
    }>("v_dot8_i32_iu4", kNegIsSign, Class::Dot),
    valu<[](u32 a, u32 b, i32 c, Mode m) { return sum_i(four(a, b, true, true), c, m.clamp); }>(
        "v_dot4_i32_i8", 0, Class::Dot),
    valu<[](u32 a, u32 b, i32 c, Mode m) { return sum_i(four(a, b, true, true), c, m.clamp); }>(
        "v_dot4c_i32_i8", kAccumulate, Class::Dot),
    valu<[](u32 a, u32 b, u32 c, Mode m) { return sum_u(u32(four(a, b, false, false)), c, m.clamp); }>(
        "v_dot4_u32_u8", 0, Class::Dot),
    valu<[](u32 a, u32 b, i32 c, Mode m) { return sum_i(eight(a, b, true, true), c, m.clamp); }>(
        "v_dot8_i32_i4", 0, Class::Dot),
    valu<[](u32 a, u32 b, i32 c, Mode m) { return sum_i(eight(a, b, true, true), c, m.clamp); }>(
        "v_dot8c_i32_i4", kAccumulate, Class::Dot),
    valu<[](u32 a, u32 b, u32 c, Mode m) { return sum_u(u32(eight(a, b, false, false)), c, m.clamp); }>(
        "v_dot8_u32_u4", 0, Class::Dot),
};

}  // namespace
EMU_GROUP(vector_packed, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
