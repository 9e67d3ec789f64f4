// SPDX-License-Identifier: Apache-2.0
// Packed 16-bit arithmetic, mixed precision, and dot products.
#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/real.h"

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

template <auto F, class Signature>
struct PackedFunction;
template <auto F, class R, class... A>
struct PackedFunction<F, R (*)(A...)> {
  static constexpr bool kHalves = std::is_same_v<R, Half>;
  template <size_t... I>
  EMU_FN const Op* call(Wave& w, const Op* op, std::index_sequence<I...>) {
    const std::conditional_t<kHalves, FpScope<true>, NoScope> scope(w);
    const Mode mode{(w.mode & kModeIeee) != 0 || w.generation >= 12, (w.mode & kModeDx10Clamp) != 0,
                    (op->flags & kClamp) != 0, 0};
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
        if constexpr (kHalves) narrow_halves(o);
      }
      const u32 enabled = enabled_lanes(w, op, half);
      u32* d = w.v + op->dst_offset + half;
      for (unsigned i = 0; i < 32; ++i)
        d[i] = enabled >> i & 1 ? (out[0][i] & 0xffff) | out[1][i] << 16 : d[i];
    }
    return op + 1;
  }
  static const Op* run(Wave& w, const Op* op) { return call(w, op, std::index_sequence_for<A...>()); }
  static constexpr Row row(const char* name, unsigned flags) {
    Row r{};
    r.name = name;
    r.run = &run;
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
template <auto F>
constexpr Row packed(const char* name, unsigned flags = 0) {
  return PackedFunction<F, decltype(+F)>::row(name, flags);
}
EMU_FN i16 sat(i32 x, bool clamp) { return i16(!clamp ? x : x > 32767 ? 32767 : x < -32768 ? -32768 : x); }
EMU_FN u16 satu(i32 x, bool clamp) { return u16(!clamp ? x : x > 65535 ? 65535 : x < 0 ? 0 : x); }
template <class T>
EMU_FN T larger_of(T a, T b) {
  return a > b ? a : b;
}
EMU_FN bool nan_half(u16 h) { return (h & 0x7fff) > 0x7c00; }
/// v_pk_min/max_f16: on bits, because a signaling NaN must be told apart.
template <bool Max>
EMU_FN Half extreme(u16 a, u16 b, Mode m) {
  const float x = half_value(a), y = half_value(b);
  u16 r = Max ? (x > y ? a : x == y ? u16(a & b) : b) : (x < y ? a : x == y ? u16(a | b) : b);
  r = nan_half(a) ? b : r;
  r = nan_half(b) ? a : r;
  r = m.ieee && nan_half(b) && !(b & 0x200) ? u16(b | 0x200) : r;
  r = m.ieee && nan_half(a) && !(a & 0x200) ? u16(a | 0x200) : r;
  return {half_value(r)};
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
    if (Result) narrow_halves(out);
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
EMU_FN i32 two_signed(u32 a, u32 b, i32 c, bool clamp) {
  const int64_t sum = int64_t(i16(a)) * i16(b) + int64_t(i16(a >> 16)) * i16(b >> 16) + c;
  return !clamp                ? i32(sum)
         : sum > 2147483647    ? 2147483647
         : sum < -2147483648LL ? i32(-2147483647 - 1)
                               : i32(sum);
}
EMU_FN u32 two_unsigned(u32 a, u32 b, u32 c, bool clamp) {
  const uint64_t sum = uint64_t(a & 0xffff) * (b & 0xffff) + uint64_t(a >> 16) * (b >> 16) + c;
  return clamp && sum > 0xffffffffu ? ~0u : u32(sum);
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

const Row kRows[] = {
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
    packed<[](Half a, Half b) { return Half{a.f + b.f}; }>("v_pk_add_f16"),
    packed<[](Half a, Half b) { return Half{a.f * b.f}; }>("v_pk_mul_f16"),
    packed<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_pk_fma_f16"),
    packed<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_pk_fmac_f16", kAccumulate),
    packed<[](u16 a, u16 b, Mode m) { return extreme<false>(a, b, m); }>("v_pk_min_f16"),
    packed<[](u16 a, u16 b, Mode m) { return extreme<true>(a, b, m); }>("v_pk_max_f16"),
    packed<[](u16 a, u16 b, Mode m) { return extreme<false>(a, b, m); }>("v_pk_min_num_f16"),
    packed<[](u16 a, u16 b, Mode m) { return extreme<true>(a, b, m); }>("v_pk_max_num_f16"),
    packed<[](Half a, Half b) { return Half{minimum(a.f, b.f)}; }>("v_pk_minimum_f16"),
    packed<[](Half a, Half b) { return Half{maximum(a.f, b.f)}; }>("v_pk_maximum_f16"),
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
    valu<[](u32 a, u32 b, i32 c, Mode m) { return two_signed(a, b, c, m.clamp); }>("v_dot2_i32_i16", 0,
                                                                                   Class::Dot),
    valu<[](u32 a, u32 b, u32 c, Mode m) { return two_unsigned(a, b, c, m.clamp); }>("v_dot2_u32_u16", 0,
                                                                                     Class::Dot),
    valu<[](u32 a, u32 b, i32 c, Mode m) { return two_signed(a, b, c, m.clamp); }>("v_dot2c_i32_i16",
                                                                                   kAccumulate, Class::Dot),
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
