// SPDX-License-Identifier: Apache-2.0
// Conversions. Floating to integer saturates and takes NaN to 0; the rest rounds as MODE says.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/real.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

template <class To, class From>
EMU_FN To saturate(From x, From lowest, From above, To least, To most) {
  // `above` is the first value that no longer fits.
  const From inside = x > lowest ? x : lowest;
  const To converted = To(inside < above ? inside : From(0));
  const To r = inside < above ? converted : most;
  return is_nan(x) ? To(0) : x > lowest ? r : least;
}
EMU_FN int32_t to_i32(float x) {
  return saturate<int32_t>(x, -2147483648.0f, 2147483648.0f, int32_t(-2147483647 - 1), 2147483647);
}
EMU_FN uint32_t to_u32(float x) {
  return uint32_t(saturate<int64_t>(x, 0.0f, 4294967296.0f, int64_t(0), int64_t(4294967295)));
}
EMU_FN int32_t to_i32(double x) {
  return int32_t(
      saturate<int64_t>(x, -2147483648.0, 2147483648.0, int64_t(-2147483648LL), int64_t(2147483647)));
}
EMU_FN uint32_t to_u32(double x) {
  return uint32_t(saturate<int64_t>(x, 0.0, 4294967296.0, int64_t(0), int64_t(4294967295)));
}
EMU_FN int16_t to_i16(float x) { return int16_t(saturate<int32_t>(x, -32768.0f, 32768.0f, -32768, 32767)); }
EMU_FN uint16_t to_u16(float x) { return uint16_t(saturate<int32_t>(x, 0.0f, 65536.0f, 0, 65535)); }
EMU_FN uint32_t to_u8(float x) {
  return uint32_t(saturate<int32_t>(__builtin_truncf(x), 0.0f, 256.0f, 0, 255));
}
EMU_FN uint16_t snorm(float x) {
  const float limited = is_nan(x) ? 0.0f : x > 1.0f ? 1.0f : x < -1.0f ? -1.0f : x;
  return uint16_t(int32_t(__builtin_rint(double(limited) * 32767.0)));
}
EMU_FN uint16_t unorm(float x) {
  const float limited = is_nan(x) ? 0.0f : x > 1.0f ? 1.0f : x > 0.0f ? x : 0.0f;
  return uint16_t(int32_t(__builtin_rint(double(limited) * 65535.0)));
}
EMU_FN uint32_t pack(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
/// Towards zero, whatever MODE says; what is too large becomes the largest number.
EMU_FN uint32_t half_towards_zero(float x) {
  const uint32_t b = bits(x), sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  if (magnitude >= 0x47800000) return sign | 0x7bff;
  if (magnitude >= 0x38800000) return sign | (magnitude - 0x38000000) >> 13;
  const uint32_t shift = 126 - (magnitude >> 23);
  return sign | (shift > 31 ? 0 : ((magnitude & 0x7fffff) | 0x800000) >> shift);
}
/// (Clamped before: between 0 and 1 that is the same.)
EMU_FN uint32_t halves_towards_zero(float a, float b, Mode m) {
  const auto clamped = [&](float x) {
    return !m.clamp ? x : is_nan(x) ? (m.dx10_clamp ? 0.0f : x) : x > 1.0f ? 1.0f : x > 0.0f ? x : 0.0f;
  };
  return half_towards_zero(clamped(a)) | half_towards_zero(clamped(b)) << 16;
}
EMU_FN uint32_t u16_of(uint32_t x) { return x > 0xffff ? 0xffff : x; }
EMU_FN uint32_t i16_of(int32_t x) { return uint32_t(x > 32767 ? 32767 : x < -32768 ? -32768 : x); }
EMU_FN uint32_t sat8(int32_t x) { return uint32_t(x < 0 ? 0 : x > 255 ? 255 : x); }
EMU_FN uint32_t put_byte(float x, uint32_t n, uint32_t rest) {
  const uint32_t shift = 8 * (n & 3);
  return (rest & ~(0xffu << shift)) | to_u8(x) << shift;
}
EMU_FN float byte_value(uint32_t x, int shift) { return float(x >> shift & 0xff); }
EMU_FN uint16_t sat_pack(uint32_t x) { return uint16_t(sat8(int16_t(x)) | sat8(int32_t(x) >> 16) << 8); }
EMU_FN float off_i4(uint32_t x) { return float(int32_t(x << 28) >> 28) * 0.0625f; }

constexpr Row kRows[] = {
    valu<[](int32_t a) { return float(a); }>("v_cvt_f32_i32"),
    valu<[](uint32_t a) { return float(a); }>("v_cvt_f32_u32"),
    valu<[](float a) { return to_i32(a); }>("v_cvt_i32_f32"),
    valu<[](float a) { return to_u32(a); }>("v_cvt_u32_f32"),
    valu<[](float a) { return Half{a}; }>("v_cvt_f16_f32", kZeroHigh9),
    valu<[](Half a) { return a.f; }>("v_cvt_f32_f16"),
    valu<[](float a) { return to_i32(__builtin_floorf(a + 0.5f)); }>("v_cvt_nearest_i32_f32"),
    valu<[](float a) { return to_i32(__builtin_floorf(a + 0.5f)); }>("v_cvt_rpi_i32_f32"),
    valu<[](float a) { return to_i32(__builtin_floorf(a)); }>("v_cvt_floor_i32_f32"),
    valu<[](float a) { return to_i32(__builtin_floorf(a)); }>("v_cvt_flr_i32_f32"),
    valu<[](uint32_t a) { return off_i4(a); }>("v_cvt_off_f32_i4"),
    valu<[](uint32_t a) { return float(a & 0xff); }>("v_cvt_f32_ubyte0"),
    valu<[](uint32_t a) { return byte_value(a, 8); }>("v_cvt_f32_ubyte1"),
    valu<[](uint32_t a) { return byte_value(a, 16); }>("v_cvt_f32_ubyte2"),
    valu<[](uint32_t a) { return byte_value(a, 24); }>("v_cvt_f32_ubyte3"),
    valu<[](double a) { return float(a); }>("v_cvt_f32_f64", 0, Class::Double),
    valu<[](float a) { return double(a); }>("v_cvt_f64_f32", 0, Class::Double),
    valu<[](int32_t a) { return double(a); }>("v_cvt_f64_i32", 0, Class::Double),
    valu<[](uint32_t a) { return double(a); }>("v_cvt_f64_u32", 0, Class::Double),
    valu<[](double a) { return to_i32(a); }>("v_cvt_i32_f64", 0, Class::Double),
    valu<[](double a) { return to_u32(a); }>("v_cvt_u32_f64", 0, Class::Double),
    valu<[](uint16_t a) { return Half{float(a)}; }>("v_cvt_f16_u16", kZeroHigh9),
    valu<[](int16_t a) { return Half{float(a)}; }>("v_cvt_f16_i16", kZeroHigh9),
    valu<[](Half a) { return to_u16(a.f); }>("v_cvt_u16_f16", kZeroHigh9),
    valu<[](Half a) { return to_i16(a.f); }>("v_cvt_i16_f16", kZeroHigh9),
    valu<[](Half a) { return snorm(a.f); }>("v_cvt_norm_i16_f16", kZeroHigh9),
    valu<[](Half a) { return unorm(a.f); }>("v_cvt_norm_u16_f16", kZeroHigh9),
    valu<[](int16_t a) { return int32_t(a); }>("v_cvt_i32_i16"),
    valu<[](uint16_t a) { return uint32_t(a); }>("v_cvt_u32_u16"),
    valu<[](float a, float b, Mode m) { return halves_towards_zero(a, b, m); }>("v_cvt_pk_rtz_f16_f32"),
    valu<[](float a, float b, Mode m) { return halves_towards_zero(a, b, m); }>("v_cvt_pkrtz_f16_f32"),
    valu<[](float a, float b) { return pack(uint16_t(to_i16(a)), uint16_t(to_i16(b))); }>("v_cvt_pk_i16_f32"),
    valu<[](float a, float b) { return pack(to_u16(a), to_u16(b)); }>("v_cvt_pk_u16_f32"),
    valu<[](float a, float b) { return pack(snorm(a), snorm(b)); }>("v_cvt_pk_norm_i16_f32"),
    valu<[](float a, float b) { return pack(unorm(a), unorm(b)); }>("v_cvt_pk_norm_u16_f32"),
    valu<[](float a, float b) { return pack(snorm(a), snorm(b)); }>("v_cvt_pknorm_i16_f32"),
    valu<[](float a, float b) { return pack(unorm(a), unorm(b)); }>("v_cvt_pknorm_u16_f32"),
    valu<[](Half a, Half b) { return pack(snorm(a.f), snorm(b.f)); }>("v_cvt_pk_norm_i16_f16"),
    valu<[](Half a, Half b) { return pack(unorm(a.f), unorm(b.f)); }>("v_cvt_pk_norm_u16_f16"),
    valu<[](Half a, Half b) { return pack(snorm(a.f), snorm(b.f)); }>("v_cvt_pknorm_i16_f16"),
    valu<[](Half a, Half b) { return pack(unorm(a.f), unorm(b.f)); }>("v_cvt_pknorm_u16_f16"),
    valu<[](uint32_t a, uint32_t b) { return pack(u16_of(a), u16_of(b)); }>("v_cvt_pk_u16_u32"),
    valu<[](int32_t a, int32_t b) { return pack(i16_of(a), i16_of(b)); }>("v_cvt_pk_i16_i32"),
    valu<[](float a, uint32_t b, uint32_t c) { return put_byte(a, b, c); }>("v_cvt_pk_u8_f32"),
    valu<[](float a, uint32_t b, uint32_t old) { return put_byte(a, b, old); }>("v_cvt_pkaccum_u8_f32",
                                                                                kAccumulate),
    valu<[](uint32_t a) { return sat_pack(a); }>("v_sat_pk_u8_i16"),
};

}  // namespace
EMU_GROUP(vector_convert, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
