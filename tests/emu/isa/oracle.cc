// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/oracle.h"

#include <bit>
#include <cmath>

namespace emu::isa {
namespace {

constexpr Rounding kNearest = Rounding::NearestEven;

/// Whether the text names registers of other lanes than its own.
bool crosses_lanes(const std::string& text) {
  for (size_t at = text.find("VGPR["); at != std::string::npos; at = text.find("VGPR[", at + 1))
    if (text.compare(at, 12, "VGPR[laneId]") != 0) return true;
  return false;
}
/// neg and abs, at the element's sign; op_sel before them.
u128 modified(u128 bits, const Operand& o, unsigned index, const Case& c) {
  const Element e = element_of(o.format);
  if (c.instruction->family == "VOP3P") {
    // Some texts select by OPSEL themselves.
    if (c.instruction->source.find("OPSEL") != std::string::npos) return bits;
    if (!o.format.starts_with("PK2_") || c.instruction->base.find("DOT4") != std::string::npos) return bits;
    const u128 low = bits >> ((c.op_sel >> index & 1) != 0 ? e.width : 0) & ones(e.width);
    const u128 high = bits >> ((c.op_sel_hi >> index & 1) != 0 ? e.width : 0) & ones(e.width);
    const u128 sign = u128(1) << (e.width - 1);
    return (low ^ ((c.modifiers.neg >> index & 1) != 0 ? sign : 0)) |
           (high ^ ((c.neg_hi >> index & 1) != 0 ? sign : 0)) << e.width;
  }
  if (e.width == 16 && (c.op_sel >> index & 1) != 0) bits >>= 16;
  const u128 sign = u128(1) << (e.width - 1);
  if ((c.modifiers.abs >> index & 1) != 0) bits &= ~sign;
  if ((c.modifiers.neg >> index & 1) != 0) bits ^= sign;
  return bits;
}
/// A denormal becomes a zero of its sign.
void flush(Value& v) {
  const Format f = format_of(v);
  if ((v.bits >> f.mantissa_bits & u128(f.top())) == 0) v.bits &= ~ones(f.mantissa_bits);
}
/// The lowest float of a register.
void flush(Value& v, int width) {
  Value part = make(Base::Float, width, v.bits);
  flush(part);
  v.bits = (v.bits & ~ones(width)) | part.bits;
}
/// omod, then clamp, on the float that the text left in D0 from bit `low` on. AMD's ISA documents: omod does
/// nothing where denormal results or IEEE mode (up to gfx11) are on.
void finish(Value& d0, const Element& e, int low, const Case& c, const Target& t) {
  if (c.omod == 0 && !c.clamp) return;
  if (!e.floating) throw TextError("clamp of an integer");
  Value v = make(e.bfloat ? Base::Bfloat : Base::Float, e.width, d0.bits >> low);
  v.loose = d0.loose >> low & ones(e.width);
  if (c.omod != 0 && !c.mode.denormals && (!c.mode.ieee || t.generation >= 12)) {
    const int powers[] = {0, 1, 2, -1};
    v = from_number(scaled(as_number(v), powers[c.omod]), v.base, v.width, c.mode.rounding);
    flush(v);
  }
  if (c.clamp) {
    const Number n = as_number(v), one = integer(false, 1);
    if (n.nan() || n.negative || n.zero())
      v = from_number(integer(false, 0), v.base, v.width, kNearest);
    else if (compare(n, one) == 1)
      v = from_number(one, v.base, v.width, kNearest);
  }
  const u128 mask = ones(e.width) << low;
  d0.bits = (d0.bits & ~mask) | v.bits << low;
  d0.loose = (d0.loose & ~mask) | v.loose << low;
}

/// The text multiplies by 2 pi in the instruction's own format, which loses what hardware keeps.
u128 turns(const Value& source, const Instruction& in) {
  const Value x = viewed(source, Base::Float, in.base.ends_with("F16") ? 16 : 32);
  Value turned = from_number(as_number(x), Base::Float, 64, kNearest);
  const double angle = std::bit_cast<double>(uint64_t(turned.bits));
  // Brought into a quarter of a turn exactly, so that zeros are zeros.
  long double part = std::remainder(static_cast<long double>(angle), 1.0L);
  if (in.base.starts_with("V_COS")) part = 0.25L - std::fabs(part);
  if (part > 0.25L) part = 0.5L - part;
  if (part < -0.25L) part = -0.5L - part;
  const double result = double(std::sin(6.283185307179586476925286766559L * part));
  turned.bits = std::bit_cast<uint64_t>(result);
  return converted(turned, Base::Float, x.width, kNearest).bits;
}
/// With op_sel the upper half of the destination counts as the lower one.
void exchange_halves(Value& v) {
  const auto exchanged = [](u128 bits) {
    return (bits & ~ones(32)) | (bits & 0xffff) << 16 | (bits >> 16 & 0xffff);
  };
  v.bits = exchanged(v.bits);
  v.loose = exchanged(v.loose);
}

State state_for(const Case& c, const Target& t) {
  State s;
  s.lanes = t.lanes;
  s.ieee = c.mode.ieee;
  s.rounding = c.mode.rounding;
  s.ocp = t.generation >= 12;
  s.literal = c.literal;
  s.op_sel = c.op_sel;
  s.op_sel_hi = c.op_sel_hi;
  s.neg = c.modifiers.neg;
  s.vector = !is_scalar(*c.instruction);
  return s;
}

std::vector<Expected> scalars(const Case& c, const std::vector<Item>& items, const Document& doc,
                              const Target& t) {
  const Instruction& in = *c.instruction;
  std::vector<Expected> out;
  for (const Item& item : items) {
    State s = state_for(c, t);
    for (int i = 0; i < 3; ++i) s.source[i] = make(Base::Bits, 128, item.source[size_t(i)] & ones(64));
    const Operand* destination = in.operand("sdst");
    s.d0 = make(Base::Bits, 128,
                destination == nullptr ? 0 : item.destination & ones(32 * destination->registers()));
    if (in.family == "SOPK") {
      // The immediate is the last source that the text names; a first source before it is the register.
      const Value immediate = make(Base::Bits, 128, c.literal & 0xffff);
      const bool two = in.source.find("S1") != std::string::npos;
      s.source[0] = two || in.source.find("SIMM16") != std::string::npos ? s.d0 : immediate;
      if (two) s.source[1] = immediate;
    }
    s.exec = make(Base::Bits, 64, item.source[2] & ones(int(t.lanes)));
    s.scc = make_bool(item.vcc);
    run(*in.text, s, doc.library());
    Expected e;
    e.d0 = s.d0;
    e.vcc = s.scc.truth();
    e.exec_word = uint64_t(s.exec.bits);
    out.push_back(e);
  }
  return out;
}

}  // namespace

bool is_scalar(const Instruction& in) { return in.family[0] == 'S'; }

namespace {

/// Signs, absolute values, clamp and halves.
std::vector<Case> with_signs(const Case& plain, const Target& target) {
  const Instruction& in = *plain.instruction;
  std::vector<Case> all = {plain};
  unsigned floats = 0, halves = 0, count = 0;
  bool packed_floats = false;
  for (const Operand& o : in.operands) {
    if (!o.role.starts_with("src") || o.type.starts_with("SSRC") || o.format == "M64") continue;
    const unsigned bit = 1u << (o.role[3] - '0');
    const Element e = element_of(o.format);
    ++count;
    if (e.floating && !o.format.starts_with("PK")) floats |= bit;
    if (e.width == 16 && !o.format.starts_with("PK")) halves |= bit;
    packed_floats |= e.floating && o.format.starts_with("PK");
  }
  const Operand* d = in.operand("vdst");
  const auto bits = [count](unsigned value) {
    std::string text;
    for (unsigned i = 0; i < count; ++i)
      text += std::string(i == 0 ? "[" : ",") + ((value >> i & 1) != 0 ? "1" : "0");
    return text + "]";
  };
  const auto push = [&](Case c) {
    c.line = written(in, target, c.literal, c.modifiers);
    all.push_back(std::move(c));
  };
  if (in.family == "VOP3P") {
    if (in.base.find("DOT4") != std::string::npos || in.base.find("DOT8") != std::string::npos) {
      // Here neg_lo says which factors are signed.
      if (in.base.find("_IU") != std::string::npos)
        for (unsigned signs = 1; signs < 4; ++signs) {
          Case c = plain;
          c.modifiers.neg = signs;
          c.modifiers.after = " neg_lo:" + bits(signs);
          push(c);
        }
      return all;
    }
    Case c = plain;
    c.op_sel = 5 & ((1u << count) - 1);
    c.op_sel_hi = 2;
    c.modifiers.after = " op_sel:" + bits(c.op_sel) + " op_sel_hi:" + bits(c.op_sel_hi);
    if (packed_floats) {
      c.modifiers.neg = 2;
      c.neg_hi = 1;
      c.modifiers.after += " neg_lo:" + bits(2) + " neg_hi:" + bits(1);
    }
    push(c);
    return all;
  }
  if (in.family != "VOP3" && in.family != "VOP3SD") return all;
  if (floats != 0) {
    Case c = plain;
    c.modifiers.neg = floats & 5;
    c.modifiers.abs = floats & 2;
    push(c);
    c.modifiers.neg = floats & 2;
    c.modifiers.abs = floats & 3;
    if (d != nullptr && !gives_mask(in) && (d->format[0] == 'F' || d->format == "PK2_F16")) {
      c.clamp = true;
      c.modifiers.after = " clamp";
    }
    push(c);
  }
  // V_FMAC adds to the destination, and which half of it op_sel takes is not said.
  if (halves != 0 && in.base.find("FMAC") == std::string::npos &&
      in.source.find("OPSEL") == std::string::npos) {
    Case c = plain;
    c.op_sel = 5 | (d != nullptr && d->bits == 16 && !gives_mask(in) ? 8 : 0);
    std::string text = bits(c.op_sel & 7);
    text.back() = ',';
    c.modifiers.after = " op_sel:" + text + ((c.op_sel & 8) != 0 ? "1]" : "0]");
    push(c);
  }
  return all;
}

/// Arithmetic whose denormals and omod need no more than the documents' chapter on modes. (Not of halves:
/// whether they are rounded before omod is not said.)
bool is_plain_arithmetic(const Instruction& in) {
  return in.base == "V_ADD_F32" || in.base == "V_SUB_F32" || in.base == "V_MUL_F32" ||
         in.base == "V_FMA_F32" || in.base == "V_ADD_F64" || in.base == "V_MUL_F64" || in.base == "V_FMA_F64";
}

}  // namespace

std::vector<Case> with_modifiers(const Case& plain, const Target& target) {
  const Instruction& in = *plain.instruction;
  std::vector<Case> all = with_signs(plain, target);
  bool floats = false, integers = false;
  unsigned sources = 0;
  for (const Operand& o : in.operands) {
    const bool source = o.role.starts_with("src") && o.format != "M64";
    sources += source;
    floats |= element_of(o.format).floating;
    integers |= source && !element_of(o.format).floating;
  }
  const auto push = [&](Case c) {
    c.line = written(in, target, c.literal, c.modifiers);
    all.push_back(std::move(c));
  };
  const bool vector = in.family.starts_with("VOP");
  // Dot products and conversions to normalized integers: the text does not say what of MODE they follow.
  const bool rounds = floats && (vector || is_scalar(in)) && in.base.find("DOT") == std::string::npos &&
                      in.base.find("NORM") == std::string::npos;
  if (rounds)
    for (const Rounding rounding : {Rounding::TowardZero, Rounding::Up, Rounding::Down}) {
      Case c = plain;
      c.mode.rounding = rounding;
      push(c);
    }
  if (in.family == "VOP3" && is_plain_arithmetic(in))
    for (int omod = 1; omod <= 3; ++omod)
      for (int mode = 0; mode < 4; ++mode) {
        Case c = plain;
        c.omod = omod;
        c.mode.denormals = (mode & 1) != 0;
        c.mode.ieee = (mode & 2) != 0;
        const char* const kTexts[] = {"", " mul:2", " mul:4", " div:2"};
        c.modifiers.after = kTexts[omod];
        push(c);
      }
  if (in.family != "VOP1" && in.family != "VOP2" && in.family != "VOPC") return all;
  const std::vector<LanePattern> patterns = lane_patterns(target.generation, target.lanes);
  for (size_t i = 0; i < patterns.size(); ++i) {
    // Each instruction has some of the patterns, the first of each family all of them.
    if (in.opcode > 4 && i % 5 != size_t(in.opcode) % 5) continue;
    Case c = plain;
    c.dpp = patterns[i];
    c.modifiers.suffix = "_dpp";
    c.modifiers.after = c.dpp.text;
    push(c);
  }
  if (in.source.find("SDWA") != std::string::npos) return all;
  for (const Selection& selection : selections(in.family == "VOPC", sources, integers)) {
    Case c = plain;
    c.sdwa = selection;
    c.modifiers.sext = unsigned(selection.sign[0]) | unsigned(selection.sign[1] && sources > 1) << 1;
    c.modifiers.suffix = "_sdwa";
    c.modifiers.after = selection.text;
    push(c);
  }
  return all;
}

bool gives_mask(const Instruction& in) {
  if (in.family == "VOPC") return true;
  const Operand* d = in.operand("vdst");
  return d != nullptr && (d->format == "M64" || (d->scalar() && d->bits == 64));
}

std::vector<Item> items_for(const Instruction& in) {
  std::array<std::string, 3> formats;
  std::string destination = "B32";
  for (const Operand& o : in.operands) {
    if (o.role.starts_with("src") && o.format != "M64") formats[size_t(o.role[3] - '0')] = o.format;
    if (o.role == "vdst" || o.role == "sdst") destination = o.format;
  }
  std::vector<Item> items = make_items(formats, destination);
  // It scales the source that equals one of the others.
  if (in.base.starts_with("V_DIV_SCALE"))
    for (size_t i = 0; i < items.size(); ++i) items[i].source[0] = items[i].source[i % 2 == 0 ? 1 : 2];
  return items;
}

std::vector<Expected> expect(const Case& c, const std::vector<Item>& items, const Document& doc,
                             const Target& t) {
  const Instruction& in = *c.instruction;
  if (is_scalar(in)) return scalars(c, items, doc, t);
  const bool across = crosses_lanes(in.source), mask = gives_mask(in);
  const Operand* destination = in.operand("vdst");
  std::vector<Expected> out(items.size());
  for (size_t first = 0; first < items.size(); first += t.lanes) {
    uint64_t exec = 0;
    std::vector<Value> wave[4];
    for (unsigned lane = 0; lane < t.lanes; ++lane) {
      const Item& item = items[first + lane];
      exec |= uint64_t(item.active) << lane;
      for (size_t i = 0; i < 3; ++i) {
        const Operand* o = in.operand("src" + std::to_string(i));
        // Scalar operands hold the first lane's value.
        const u128 bits =
            o != nullptr && o->type.starts_with("SSRC") ? items[first].source[i] : item.source[i];
        const int width = i < 2 ? 64 : 128;
        const bool part = c.sdwa.on() && i < 2;
        wave[i].push_back(make(
            Base::Bits, 128,
            o == nullptr
                ? 0
                : modified(part ? c.sdwa.taken(bits, unsigned(i)) : bits & ones(width), *o, unsigned(i), c)));
      }
      wave[3].push_back(make(Base::Bits, 128, item.destination));
    }
    // DPP: a lane that finds none to read keeps its destination, or reads zero.
    uint64_t off = 0;
    if (c.dpp.on()) {
      const std::vector<Value> own = wave[0];
      for (unsigned lane = 0; lane < t.lanes; ++lane) {
        const int from = c.dpp.from[lane];
        const bool found = from >= 0 && (c.dpp.inactive || items[first + size_t(from)].active);
        wave[0][lane] = found ? own[size_t(from)] : make(Base::Bits, 128, 0);
        if (!c.dpp.wants(lane) || (!found && !c.dpp.bound_zero)) off |= uint64_t(1) << lane;
      }
    }
    State whole = state_for(c, t);
    for (unsigned lane = 0; lane < t.lanes; ++lane) {
      if (across && lane != 0) break;
      const Item& item = items[first + lane];
      State s = state_for(c, t);
      s.lane = lane;
      s.exec.bits = exec;
      s.vcc.bits = u128(item.vcc) << lane;
      for (size_t i = 0; i < 3; ++i) s.source[i] = wave[i][lane];
      if (c.flush) flush(s.source[0], 32);
      if (!c.mode.denormals)
        for (Value& source : s.source) flush(source, element_of(destination->format).width);
      s.d0 = make(Base::Bits, 128, mask ? 0 : item.destination);
      s.d1 = make(Base::Bits, 128, 0);
      // V_DIV_SCALE: the text writes D0 where it scales; otherwise S0 passes. V_FMAC: S2 is the destination.
      if (in.base.starts_with("V_DIV_SCALE")) s.d0 = s.source[0];
      if (in.operand("src2") == nullptr) s.source[2] = s.d0;
      if (across)
        for (size_t i = 0; i < 4; ++i) s.wave[i] = &wave[i];
      Expected& e = out[first + lane];
      const bool runs = item.active && (off >> lane & 1) == 0;
      if (across || runs || (!mask && destination != nullptr && destination->scalar())) {
        const bool upper = (c.op_sel & 8) != 0 && in.family != "VOP3P";
        if (upper) exchange_halves(s.d0);
        if (in.base.starts_with("V_SIN_") || in.base.starts_with("V_COS_"))
          s.d0.bits = turns(s.source[0], in);
        else
          run(*in.text, s, doc.library());
        if (c.flush) flush(s.d0, 32);
        if (!across && !mask && destination != nullptr) {
          const Element element = element_of(destination->format);
          if (!c.mode.denormals) flush(s.d0, element.width);
          finish(s.d0, element, 0, c, t);
          if (destination->format.starts_with("PK2_")) finish(s.d0, element, element.width, c, t);
          e.nan =
              element.floating &&
              as_number(make(element.bfloat ? Base::Bfloat : Base::Float, element.width, s.d0.bits)).nan();
          if (c.sdwa.on()) s.d0.bits = c.sdwa.placed(s.d0.bits, item.destination);
        }
        if (upper) exchange_halves(s.d0);
        e.d0 = s.d0;
        e.source0 = c.dpp.on() || c.sdwa.on() ? make(Base::Bits, 64, item.source[0]) : s.source[0];
        const bool bit = mask ? (s.d0.bits >> lane & 1) != 0
                         : in.operand("sdst") != nullptr && in.source.find("D1") != std::string::npos
                             ? s.d1.truth()
                             : (s.vcc.bits >> lane & 1) != 0;
        e.mask = bit;
        e.vcc = (s.vcc.bits >> lane & 1) != 0;
        e.exec = (s.exec.bits >> lane & 1) != 0;
      } else {
        e.d0 = s.d0;
        e.source0 = make(Base::Bits, 64, item.source[0]);
        // Masks hold 0 for lanes that are off.
        e.vcc = false;
      }
      whole = s;
    }
    if (!across) continue;
    for (unsigned lane = 0; lane < t.lanes; ++lane) {
      Expected& e = out[first + lane];
      e.d0 = destination != nullptr && destination->scalar() ? whole.d0 : wave[3][lane];
      e.source0 = wave[0][lane];
      e.vcc = items[first + lane].vcc;
      e.exec = items[first + lane].active;
    }
  }
  return out;
}

}  // namespace emu::isa
