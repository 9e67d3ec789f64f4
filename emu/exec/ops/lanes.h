// SPDX-License-Identifier: Apache-2.0
// Vector instructions from scalar functions: valu<F>() runs a plain function of one lane's values over the
// lanes of a wave, 32 at a time, in loops that the compiler turns into SIMD. Included by the files of ops/
// only, which are compiled once per instruction-set level; everything here has internal linkage or is always
// inlined.
#pragma once
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emu/exec/machine.h"
#include "emu/exec/ops/half_rows.h"
#include "emu/exec/table.h"

#define EMU_FN [[gnu::always_inline]] static inline

// Before a loop whose steps do not depend on each other through memory. (clang compares the addresses when it
// runs.)
#if defined(__clang__)
#define EMU_INDEPENDENT
#else
#define EMU_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace emu::exec {
namespace EMU_ISA {
namespace {

// What a lane function may take besides numbers. Half travels as the float of the same value; a result is
// rounded once, so functions must return what one rounding of a float makes right.
struct Half {
  float f;
};
struct Bit {  // of a mask operand
  uint32_t b;
};
struct VccBit {
  uint32_t b;
};
struct Mode {  // bits of MODE and of the instruction
  bool ieee, dx10_clamp, clamp;
  uint32_t signs;             // dot products: neg_lo, which says what is signed
  bool second_nan = false;    // gfx9: of two quiet NaNs v_min and v_max hand on the second
  bool flush_halves = false;  // denormal halves are read as zeros
};
template <class T>
struct With {  // a value and a bit for a mask (carry)
  T value;
  uint32_t bit;
};

template <class T>
inline constexpr Type kType = Type::None;
template <>
inline constexpr Type kType<float> = Type::F32;
template <>
inline constexpr Type kType<double> = Type::F64;
template <>
inline constexpr Type kType<uint32_t> = Type::U32;
template <>
inline constexpr Type kType<int32_t> = Type::I32;
template <>
inline constexpr Type kType<uint64_t> = Type::U64;
template <>
inline constexpr Type kType<int64_t> = Type::I64;
template <>
inline constexpr Type kType<uint16_t> = Type::U16;
template <>
inline constexpr Type kType<int16_t> = Type::I16;
template <>
inline constexpr Type kType<Half> = Type::F16;
template <>
inline constexpr Type kType<Bit> = Type::Mask;
template <>
inline constexpr Type kType<VccBit> = Type::VccMask;
template <>
inline constexpr Type kType<bool> = Type::Mask;
template <>
inline constexpr Type kType<Mode> = Type::Mode;

template <class T>
inline constexpr bool kIsShort = std::is_same_v<T, Half> || sizeof(T) == 2;
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || std::is_same_v<T, Half>;
template <class T>
struct Unwrap {
  using type = T;
  static constexpr bool carries = false;
};
template <class T>
struct Unwrap<With<T>> {
  using type = T;
  static constexpr bool carries = true;
};

EMU_FN uint64_t& exec_of(Wave& w) { return *reinterpret_cast<uint64_t*>(w.s + kExec); }
EMU_FN uint64_t read_mask(const Wave& w, const Source& s) {
  const uint64_t both = s.place == Place::Constant
                            ? s.value
                            : uint64_t(w.s[s.reg]) | (w.lanes > 32 ? uint64_t(w.s[s.reg + 1]) << 32 : 0);
  return both;
}
EMU_FN void write_mask(Wave& w, unsigned dst, uint64_t mask) {
  w.s[dst] = uint32_t(mask);
  if (w.lanes > 32) w.s[dst + 1] = uint32_t(mask >> 32);
}

#if defined(__x86_64__)
EMU_FN void set_mxcsr(uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
#else
EMU_FN void set_mxcsr(uint32_t) {}
#endif
/// The host's rounding and denormal modes as MODE says, for one operation; nothing to do in the usual mode.
template <bool IsDouble>
struct FpScope {
  bool changed;
  [[gnu::always_inline]] explicit FpScope(const Wave& w) : changed((w.mode & kModeFpMask) != kModeDefault) {
    if (changed) [[unlikely]] {
      constexpr uint32_t kRound[4] = {0, 2, 1, 3};
      const uint32_t round = w.mode >> (IsDouble ? 2 : 0) & 3, denorm = w.mode >> (IsDouble ? 6 : 4) & 3;
      set_mxcsr(0x1f80 | kRound[round] << 13 | (denorm & 1 ? 0 : 1u << 6) | (denorm & 2 ? 0 : 1u << 15));
    }
  }
  [[gnu::always_inline]] ~FpScope() {
    if (changed) [[unlikely]]
      set_mxcsr(0x1f80);
  }
};
struct NoScope {
  [[gnu::always_inline]] explicit NoScope(const Wave&) {}
};

/// A source's 32 lanes from `half` on, with everything that is not plain: scalars, modifiers, DPP, SDWA, 16
/// bits.
[[gnu::noinline, maybe_unused]] void prepare(const Wave& w, const Op* op, const Source& s, Type type,
                                             unsigned half, uint32_t* tmp) {
  const unsigned words = type == Type::F64 || type == Type::U64 || type == Type::I64 || type == Type::B64 ||
                                 type == Type::PackF32
                             ? 2
                             : 1;
  for (unsigned word = 0; word < words; ++word) {
    uint32_t* out = tmp + 32 * word;
    if (s.place == Place::Vector) {
      const uint32_t* in = w.v + s.offset + word * w.lanes;
      if (s.mods & kDpp) {
        for (unsigned i = 0; i < 32; ++i) {
          const unsigned from = op->dpp->from[half + i];
          const bool ok =
              (op->dpp->valid >> (half + i) & 1) &&
              (op->dpp->fetch_inactive || (word64(const_cast<uint32_t*>(w.s) + kExec) >> from & 1));
          out[i] = ok ? in[from] : 0;
        }
      } else {
        std::memcpy(out, in + half, 128);
      }
    } else {
      const uint32_t value = s.place == Place::Scalar ? w.s[s.reg + word] : uint32_t(s.value >> (32 * word));
      for (unsigned i = 0; i < 32; ++i) out[i] = value;
    }
  }
  if (s.mods & kSelect) {
    const unsigned shift = s.select <= Select::Byte3   ? 8 * unsigned(s.select)
                           : s.select == Select::Word1 ? 16
                                                       : 0;
    const unsigned keep = s.select <= Select::Byte3 ? 24 : s.select == Select::Dword ? 0 : 16;
    for (unsigned i = 0; i < 32; ++i) {
      const uint32_t bits = tmp[i] >> shift << keep;
      tmp[i] = s.mods & kSext ? uint32_t(int32_t(bits) >> keep) : bits >> keep;
    }
  }
  const bool is_short = type == Type::F16 || type == Type::U16 || type == Type::I16;
  if (is_short) {
    // Packed operands take the upper half of a constant too.
    const bool packed = s.type == Type::Pack16 || s.type == Type::PackF16;
    const unsigned shift = (s.mods & kHigh) && (s.place != Place::Constant || packed) ? 16 : 0;
    for (unsigned i = 0; i < 32; ++i) tmp[i] = tmp[i] >> shift & 0xffff;
  }
  const uint32_t sign = is_short ? 0x8000 : 0x80000000u;
  uint32_t* top = tmp + 32 * (words - 1);
  if (s.mods & kAbs)
    for (unsigned i = 0; i < 32; ++i) top[i] &= ~sign;
  if (s.mods & kNeg)
    for (unsigned i = 0; i < 32; ++i) top[i] ^= sign;
  if (type == Type::F16) {
    if (!(w.mode & 0x40)) [[unlikely]]
      for (unsigned i = 0; i < 32; ++i) tmp[i] = (tmp[i] & 0x7c00) == 0 ? tmp[i] & 0x8000 : tmp[i];
    widen_halves(tmp, tmp);
  }
}

/// 32 lanes of results -> the registers of those that are enabled.
[[gnu::noinline, maybe_unused]] void write_enabled(uint32_t* d, unsigned lanes, size_t words,
                                                   const uint32_t* out, uint32_t enabled) {
  for (size_t word = 0; word < words; ++word, d += lanes, out += 32) {
    EMU_INDEPENDENT
    for (unsigned i = 0; i < 32; ++i) d[i] = enabled >> i & 1 ? out[i] : d[i];
  }
}

/// omod and clamp on 32 lanes of results, SDWA's destination, rounding to 16 bits; then the enabled lanes are
/// written.
[[gnu::noinline, maybe_unused]] void finish(Wave& w, const Op* op, Type type, unsigned half, uint32_t* out,
                                            uint32_t enabled) {
  const unsigned words = type == Type::F64 || type == Type::U64 || type == Type::I64 || type == Type::B64 ||
                                 type == Type::PackF32
                             ? 2
                             : 1;
  // omod does nothing where denormal results are on, and up to gfx11 in IEEE mode.
  const uint32_t denormal_results = type == Type::F32 ? 0x20 : 0x80;
  const bool scaled = (w.mode & (denormal_results | (w.generation < 12 ? kModeIeee : 0))) == 0;
  const uint8_t omod = scaled ? op->omod : 0;
  const bool changes = omod || (op->flags & kClamp);
  if (changes && (type == Type::F32 || type == Type::F16)) {
    for (unsigned i = 0; i < 32; ++i) {
      float f = std::bit_cast<float>(out[i]);
      if (omod) f = omod == 1 ? f * 2.0f : omod == 2 ? f * 4.0f : f * 0.5f;
      if (op->flags & kClamp) {
        if (f != f)
          f = w.mode & kModeDx10Clamp || w.generation >= 12 ? 0.0f : f;
        else
          f = f > 1.0f ? 1.0f : f > 0.0f ? f : 0.0f;
      }
      out[i] = std::bit_cast<uint32_t>(f);
    }
  } else if (changes && type == Type::F64) {
    for (unsigned i = 0; i < 32; ++i) {
      double f = std::bit_cast<double>(uint64_t(out[32 + i]) << 32 | out[i]);
      if (omod) f = omod == 1 ? f * 2.0 : omod == 2 ? f * 4.0 : f * 0.5;
      if (op->flags & kClamp) {
        if (f != f)
          f = w.mode & kModeDx10Clamp || w.generation >= 12 ? 0.0 : f;
        else
          f = f > 1.0 ? 1.0 : f > 0.0 ? f : 0.0;
      }
      const uint64_t bits = std::bit_cast<uint64_t>(f);
      out[i] = uint32_t(bits);
      out[32 + i] = uint32_t(bits >> 32);
    }
  }
  const bool is_short = type == Type::F16 || type == Type::U16 || type == Type::I16;
  uint32_t* d = w.v + op->dst_offset + half;
  if (type == Type::F16) {
    narrow_halves(out);
    if (!(w.mode & 0x80)) [[unlikely]]
      for (unsigned i = 0; i < 32; ++i) out[i] = (out[i] & 0x7c00) == 0 ? out[i] & 0x8000 : out[i];
  }
  if (op->dst_select != Select::Dword) {  // SDWA
    const Select s = op->dst_select;
    const unsigned shift = s <= Select::Byte3 ? 8 * unsigned(s) : s == Select::Word1 ? 16 : 0;
    const uint32_t field = s <= Select::Byte3 ? 0xff : 0xffff;
    for (unsigned i = 0; i < 32; ++i) {
      const uint32_t value = (out[i] & field) << shift;
      uint32_t rest = 0;
      if (op->flags & kKeepUnused) rest = d[i] & ~(field << shift);
      if ((op->flags & kSextUnused) && (value >> shift & (field + 1) >> 1))
        rest = ~((field << shift) | ((1u << shift) - 1));
      out[i] = value | rest;
    }
  } else if (is_short) {
    if (op->flags & kDstHigh) {
      for (unsigned i = 0; i < 32; ++i) out[i] = (d[i] & 0xffff) | out[i] << 16;
    } else if (op->flags & kZeroHigh) {
      for (unsigned i = 0; i < 32; ++i) out[i] &= 0xffff;
    } else {
      for (unsigned i = 0; i < 32; ++i) out[i] = (d[i] & 0xffff0000) | (out[i] & 0xffff);
    }
  }
  write_enabled(d, w.lanes, words, out, enabled);
}

/// Lanes that an instruction writes, from `half` on: EXEC, and what DPP leaves.
EMU_FN uint32_t enabled_lanes(Wave& w, const Op* op, unsigned half) {
  uint64_t lanes = exec_of(w);
  if (op->dpp) [[unlikely]] {
    lanes &= op->dpp->enabled;
    if (!op->dpp->bound_zero) {
      uint64_t readable = op->dpp->valid;
      if (!op->dpp->fetch_inactive)
        for (unsigned i = 0; i < w.lanes; ++i)
          if (!(exec_of(w) >> op->dpp->from[i] & 1)) readable &= ~(uint64_t(1) << i);
      lanes &= readable;
    }
  }
  return uint32_t(lanes >> half);
}

struct Rows {
  const uint32_t* lo;
  const uint32_t* hi;
  uint32_t bits;
};

template <class T>
EMU_FN Rows fetch(Wave& w, const Op* op, const Source& s, unsigned half, uint32_t* tmp) {
  if constexpr (std::is_same_v<T, Bit>) {
    return {nullptr, nullptr, uint32_t(read_mask(w, s) >> half)};
  } else if constexpr (std::is_same_v<T, VccBit>) {
    return {nullptr, nullptr, w.s[kVcc + half / 32]};
  } else if constexpr (std::is_same_v<T, Mode>) {
    return {};
  } else {
    if constexpr (!kIsShort<T>) {
      if (s.mods == 0) [[likely]] {
        if (s.place == Place::Vector) [[likely]] {
          const uint32_t* p = w.v + s.offset + half;
          return {p, p + w.lanes, 0};
        }
        if (s.place == Place::Constant) return {s.row, s.row + 32, 0};
      }
    } else if (s.place == Place::Vector && (s.mods & ~unsigned(kHigh)) == 0 &&
               (!std::is_same_v<T, Half> || w.mode & 0x40)) {
      const uint32_t* p = w.v + s.offset + half;
      if (s.mods & kHigh) {
        for (unsigned i = 0; i < 32; ++i) tmp[i] = p[i] >> 16;
        p = tmp;
      }
      if constexpr (!std::is_same_v<T, Half>) return {p, p, 0};  // lane() takes the low half
      widen_halves(p, tmp);
      return {tmp, tmp, 0};
    }
    prepare(w, op, s, kType<T>, half, tmp);
    return {tmp, tmp + 32, 0};
  }
}

template <class T>
EMU_FN T lane(const Rows& rows, unsigned i, const Mode& mode) {
  if constexpr (std::is_same_v<T, Bit> || std::is_same_v<T, VccBit>)
    return {rows.bits >> i & 1};
  else if constexpr (std::is_same_v<T, Mode>)
    return mode;
  else if constexpr (std::is_same_v<T, Half>)
    return {std::bit_cast<float>(rows.lo[i])};
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(uint64_t(rows.hi[i]) << 32 | rows.lo[i]);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(rows.lo[i]);
  else
    return T(rows.lo[i]);
}

template <class A>
inline constexpr bool kIsOperand = !std::is_same_v<A, Mode> && !std::is_same_v<A, VccBit>;

/// The place of argument n among the operands.
template <class... A>
constexpr unsigned operand_index(unsigned n) {
  constexpr bool kTakes[] = {kIsOperand<A>..., false};
  unsigned index = 0;
  for (unsigned i = 0; i < n; ++i) index += kTakes[i];
  return index;
}

/// Whether results need no second step and belong to all lanes.
template <class T>
EMU_FN bool in_registers(const Op* op, uint32_t enabled) {
  return !kIsShort<T> && !(op->flags & kSlowOut) && enabled == ~0u;
}
/// 32 lanes of results -> the registers, unless they are there.
template <class T>
EMU_FN void write_results(Wave& w, const Op* op, unsigned half, uint32_t* d, uint32_t enabled) {
  uint32_t* const registers = w.v + op->dst_offset + half;
  const bool slow = kIsShort<T> || (op->flags & kSlowOut);
  // A half or a short integer into the low half of the register.
  const bool low_half =
      kIsShort<T> && !(op->flags & (kSlowOut | kDstHigh)) && (!std::is_same_v<T, Half> || w.mode & 0x80);
  if (low_half) {
    if constexpr (std::is_same_v<T, Half>) narrow_halves(d);
    const uint32_t keep = op->flags & kZeroHigh ? 0 : 0xffff0000;
    EMU_INDEPENDENT
    for (unsigned i = 0; i < 32; ++i)
      registers[i] = enabled >> i & 1 ? (registers[i] & keep) | (d[i] & 0xffff) : registers[i];
  } else if (slow)
    finish(w, op, kType<T>, half, d, enabled);
  else if (!in_registers<T>(op, enabled))
    write_enabled(registers, w.lanes, sizeof(T) / 4, d, enabled);
}

template <auto F, bool WritesExec, class R, class... A, size_t... I>
EMU_FN const Op* run_lanes(Wave& w, const Op* op, std::index_sequence<I...>) {
  using T = typename Unwrap<R>::type;
  constexpr bool kIsMask = std::is_same_v<T, bool>;
  constexpr bool kDouble = std::is_same_v<T, double> || std::is_same_v<T, Half> ||
                           (kIsMask && ((std::is_same_v<A, double> || std::is_same_v<A, Half>) || ...));
  constexpr bool kFloating = kIsFloating<T> || (kIsFloating<A> || ...);
  const std::conditional_t<kFloating, FpScope<kDouble>, NoScope> scope(w);
  const Mode mode{(w.mode & kModeIeee) != 0 || w.generation >= 12,
                  (w.mode & kModeDx10Clamp) != 0 || w.generation >= 12,
                  (op->flags & kClamp) != 0,
                  uint32_t(op->imm),
                  w.generation == 9,
                  (w.mode & 0x40) == 0};
  alignas(64) uint32_t tmp[sizeof...(A) + 1][64];
  uint64_t mask = 0;
  for (unsigned half = 0; half < w.lanes; half += 32) {
    const Rows rows[] = {fetch<A>(w, op, op->src[operand_index<A...>(I)], half, tmp[I])..., Rows{}};
    const uint32_t enabled = enabled_lanes(w, op, half);
    if constexpr (kIsMask) {
      uint32_t bits = 0;
      for (unsigned i = 0; i < 32; ++i) bits |= uint32_t(F(lane<A>(rows[I], i, mode)...)) << i;
      mask |= uint64_t(bits & enabled) << half;
    } else {
      // Straight into the registers where all lanes are on. (With a condition on each store compilers move
      // the arithmetic behind it and make no SIMD.)
      const bool direct = in_registers<T>(op, enabled);
      uint32_t* d = direct ? w.v + op->dst_offset + half : tmp[sizeof...(A)];
      uint32_t* dh = direct ? d + w.lanes : d + 32;
      uint32_t bits = 0;
      EMU_INDEPENDENT
      for (unsigned i = 0; i < 32; ++i) {
        const R result = F(lane<A>(rows[I], i, mode)...);
        T value;
        if constexpr (Unwrap<R>::carries) {
          value = result.value;
          bits |= result.bit << i;
        } else {
          value = result;
        }
        if constexpr (std::is_same_v<T, Half>) {
          d[i] = std::bit_cast<uint32_t>(value.f);
        } else if constexpr (sizeof(T) == 8) {
          const uint64_t both = std::bit_cast<uint64_t>(value);
          d[i] = uint32_t(both);
          dh[i] = uint32_t(both >> 32);
        } else if constexpr (sizeof(T) == 4) {
          d[i] = std::bit_cast<uint32_t>(value);
        } else {
          d[i] = uint16_t(value);
        }
      }
      write_results<T>(w, op, half, d, enabled);
      if constexpr (Unwrap<R>::carries) mask |= uint64_t(bits & enabled) << half;
    }
  }
  if constexpr (kIsMask) {
    if (op->dst_place == Place::Scalar) write_mask(w, op->dst, mask);
    if constexpr (WritesExec) exec_of(w) = mask;
  } else if constexpr (Unwrap<R>::carries) {
    write_mask(w, op->dst2, mask);
  }
  return op + 1;
}

template <auto F, class Signature>
struct LaneFunction;
template <auto F, class R, class... A>
struct LaneFunction<F, R (*)(A...)> {
  using T = typename Unwrap<R>::type;
  template <bool WritesExec>
  static const Op* run(Wave& w, const Op* op) {
    return run_lanes<F, WritesExec, R, A...>(w, op, std::index_sequence_for<A...>());
  }
  static constexpr Row row(const char* name, Class cls, uint16_t flags, Handler handler) {
    Row r{};
    r.name = name;
    r.run = handler;
    r.form = Form::Vector;
    r.cls = cls;
    r.dst = kType<T>;
    if (Unwrap<R>::carries) r.dst2 = Type::Mask;
    constexpr Type kTypes[] = {kType<A>..., Type::None};
    unsigned n = 0;
    for (Type t : kTypes)
      if (t != Type::None && t != Type::Mode && t != Type::VccMask) r.src[n++] = t;
    for (Type t : kTypes)
      if (t == Type::VccMask) flags |= kImplicitVcc;
    if (kIsShort<T>) flags |= kPartial;
    r.flags = flags;
    return r;
  }
};

template <auto F>
using Lanes = LaneFunction<F, decltype(+F)>;

/// A table row for a function of one lane.
template <auto F>
constexpr Row valu(const char* name, unsigned flags = 0, Class cls = Class::Vector) {
  return Lanes<F>::row(name, cls, uint16_t(flags), &Lanes<F>::template run<false>);
}
/// A compare that sets EXEC.
template <auto F>
constexpr Row valu_exec(const char* name, unsigned flags = 0) {
  return Lanes<F>::row(name, Class::Vector, uint16_t(flags | kWritesExec), &Lanes<F>::template run<true>);
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
