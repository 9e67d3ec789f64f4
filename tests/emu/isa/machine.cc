// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/machine.h"

#include <cmath>

namespace emu::isa {
namespace {

struct Variable {
  int symbol;
  std::vector<Value> values;
};
/// Bits of a place: a variable's or a register's.
struct Place {
  Value* value = nullptr;
  int low = 0, width = 0;
  Base base = Base::Bits;
  bool whole = true, typed = false, reversed = false;
};
enum class Flow { Next, Break, Return };

class Machine {
 public:
  Machine(State& state, const Library& library) : state_(state), library_(library) {}

  Flow block(const Node& n) {
    for (const Tree& kid : n.kids)
      if (const Flow flow = statement(*kid); flow != Flow::Next) return flow;
    return Flow::Next;
  }

 private:
  struct Names {
    int s[3], sources, d0, d1, scc, vcc, exec, exec_lo, vgpr, m0, memory, data, data2, returned, vdata, sdata;
  };
  static const Names& names() {
    static const Names kNames = {{symbol_of("S0"), symbol_of("S1"), symbol_of("S2")},
                                 symbol_of("S"),
                                 symbol_of("D0"),
                                 symbol_of("D1"),
                                 symbol_of("SCC"),
                                 symbol_of("VCC"),
                                 symbol_of("EXEC"),
                                 symbol_of("EXEC_LO"),
                                 symbol_of("VGPR"),
                                 symbol_of("M0"),
                                 symbol_of("MEM"),
                                 symbol_of("DATA"),
                                 symbol_of("DATA2"),
                                 symbol_of("RETURN_DATA"),
                                 symbol_of("VDATA"),
                                 symbol_of("SDATA")};
    return kNames;
  }

  Flow statement(const Node& n) {
    switch (n.kind) {
      case Kind::If:
        for (size_t i = 0; i + 1 < n.kids.size(); i += 2)
          if (eval(*n.kids[i]).truth()) return block(*n.kids[i + 1]);
        return n.kids.size() % 2 == 1 ? block(*n.kids.back()) : Flow::Next;
      case Kind::For: {
        const i128 first = as_integer(eval(*n.kids[0])), last = as_integer(eval(*n.kids[1]));
        for (i128 i = first; i <= last; ++i) {
          variable(n.symbol, 1)->values[0] = make_signed(32, i);
          const Flow flow = block(*n.kids[2]);
          if (flow == Flow::Break) break;
          if (flow == Flow::Return) return flow;
        }
        return Flow::Next;
      }
      case Kind::Declare: {
        if (n.symbol == names().sources) return Flow::Next;  // V_FMA_MIX: S[i] are the operands
        if (n.width > 128) throw TextError("more than 128 bits");
        Variable* v = variable(n.symbol, size_t(std::max(1, n.count)));
        for (Value& value : v->values) value = make(n.base, n.width, 0);
        // The one table that the text leaves out: sixteenths, signed (ISA documents, V_CVT_OFF_F32_I4).
        if (n.name == "CVT_OFF_TABLE")
          for (int i = 0; i < 16; ++i) {
            Number sixteenths = integer(i >= 8, u128(unsigned(i >= 8 ? 16 - i : i)));
            sixteenths.exponent = -4;
            v->values[size_t(i)] = from_number(sixteenths, n.base, n.width, Rounding::NearestEven);
          }
        return Flow::Next;
      }
      case Kind::Lambda:
        lambdas_[n.symbol] = &n;
        return Flow::Next;
      case Kind::Return:
        result_ = eval(*n.kids[0]);
        return Flow::Return;
      case Kind::Break:
        return Flow::Break;
      default:
        result_ = eval(n);
        return Flow::Next;
    }
  }

  Variable* find(int symbol) {
    for (Variable& v : variables_)
      if (v.symbol == symbol) return &v;
    return nullptr;
  }
  Variable* variable(int symbol, size_t count) {
    Variable* v = find(symbol);
    if (v == nullptr) {
      if (variables_.capacity() == 0) variables_.reserve(64);  // places point into it
      if (variables_.size() == 64) throw TextError("more than 64 variables");
      v = &variables_.emplace_back(Variable{symbol, {}});
    }
    if (v->values.size() != count) v->values.assign(count, make(Base::Bits, 128, 0));
    return v;
  }

  static Place all_of(Value* v) { return {v, 0, v->width, v->base, true, false, false}; }
  /// Whether the tree names a place, and which. `create`: unknown names become variables.
  bool place(const Node& n, Place& out, bool create) {
    const Names& is = names();
    switch (n.kind) {
      case Kind::Name: {
        if (Variable* v = find(n.symbol); v != nullptr) return out = all_of(&v->values[0]), true;
        for (int i = 0; i < 3; ++i)
          if (n.symbol == is.s[i]) return out = all_of(&state_.source[i]), true;
        if (n.symbol == is.d0) return out = all_of(&state_.d0), true;
        if (n.symbol == is.d1) return out = all_of(&state_.d1), true;
        if (n.symbol == is.scc) return out = all_of(&state_.scc), true;
        if (n.symbol == is.vcc) return out = all_of(&state_.vcc), true;
        if (n.symbol == is.exec || n.symbol == is.exec_lo) return out = all_of(&state_.exec), true;
        const bool moved = n.symbol == is.vdata || n.symbol == is.sdata;
        if (n.symbol == is.data || (moved && state_.stores)) return out = all_of(&state_.source[2]), true;
        if (n.symbol == is.data2) return out = all_of(&state_.source[1]), true;
        if (n.symbol == is.returned || moved) return out = all_of(&state_.d0), true;
        if (n.symbol == is.m0) return out = all_of(&state_.m0), true;
        if (!create) return false;
        return out = all_of(&variable(n.symbol, 1)->values[0]), true;
      }
      case Kind::View: {
        if (in_memory(*n.kids[0], out)) {
          out.width = n.width;
          out.base = n.base;
          out.typed = true;
          return true;
        }
        if (!place(*n.kids[0], out, create)) return false;
        // A float read as another float is converted: no place.
        const bool to_float = n.base == Base::Float || n.base == Base::Bfloat;
        if (!create && to_float && out.width != n.width && out.base == Base::Float) return false;
        if (!create && n.width > out.width && out.low + n.width > out.value->width) return false;
        if (!create && n.width > out.width && !out.whole) return false;
        if (create && n.width > out.width && out.whole && out.value->width < n.width) {
          out.value->width = n.width;
          out.value->base = n.base;
        }
        out.width = n.width;
        out.base = n.base;
        out.typed = true;
        out.whole = false;
        return true;
      }
      case Kind::Index: {
        const Node& of = *n.kids[0];
        if (of.kind == Kind::Name && of.symbol == is.vgpr) return false;
        if (in_memory(n, out)) return true;
        if (of.kind == Kind::Index && of.kids[0]->kind == Kind::Name && of.kids[0]->symbol == is.vgpr) {
          const size_t lane = size_t(as_integer(eval(*of.kids[1])));
          const size_t operand = size_t(as_integer(eval(*n.kids[1])));
          if (operand > 3) throw TextError("a register of no operand");
          if (state_.wave[operand] != nullptr) return out = all_of(&state_.wave[operand]->at(lane)), true;
          if (lane != state_.lane) throw TextError("another lane's register");
          out = all_of(operand == 3 ? &state_.d0 : &state_.source[operand]);
          return true;
        }
        if (of.kind == Kind::Name && of.symbol == is.sources && find(is.sources) == nullptr) {
          out = all_of(&state_.source[size_t(as_integer(eval(*n.kids[1])))]);
          out.width = 32;
          return true;
        }
        const i128 index = as_integer(eval(*n.kids[1]));
        if (of.kind == Kind::Name)
          if (Variable* v = find(of.symbol); v != nullptr && v->values.size() > 1) {
            if (index < 0 || size_t(index) >= v->values.size()) throw TextError("index outside " + of.name);
            return out = all_of(&v->values[size_t(index)]), true;
          }
        if (!place(of, out, create)) return false;
        return narrow(out, int(index), 1);
      }
      case Kind::Slice: {
        const int high = int(as_integer(eval(*n.kids[1]))), low = int(as_integer(eval(*n.kids[2])));
        if (!place(*n.kids[0], out, create)) return false;
        if (high < low) {
          narrow(out, high, low - high + 1);
          out.reversed = true;
          return true;
        }
        return narrow(out, low, high - low + 1);
      }
      case Kind::Part: {
        const int low = int(as_integer(eval(*n.kids[1]))), count = int(as_integer(eval(*n.kids[2])));
        if (!place(*n.kids[0], out, create)) return false;
        return narrow(out, low, count);
      }
      default:
        return false;
    }
  }
  /// MEM[address]: bytes behind the instruction's own address, which counts as 0.
  bool in_memory(const Node& n, Place& out) {
    if (n.kind != Kind::Index || n.kids[0]->kind != Kind::Name || n.kids[0]->symbol != names().memory)
      return false;
    i128 address = as_integer(eval(*n.kids[1]));
    if (state_.wide) address -= 16 * state_.window;
    const bool outside = address < 0 || address > 12;
    if (outside && !state_.wide) throw TextError("an address outside the item's bytes");
    out = {outside ? &state_.outside : &state_.memory,
           outside ? 0 : 8 * int(address),
           32,
           Base::Bits,
           false,
           false,
           false};
    return true;
  }
  bool narrow(Place& out, int low, int count) {
    if (state_.wide && out.value == &state_.d0 && out.whole) {
      low -= 128 * state_.window;
      if (low < 0 || low >= 128) {
        out.value = &state_.outside;
        low = 0;
      }
    }
    if (low < 0 || out.low + low + count > 128) throw TextError("slice outside a register");
    out.low += low;
    out.width = count;
    out.base = out.base == Base::Bits ? Base::Bits : Base::Unsigned;
    out.whole = false;
    return true;
  }

  static Value load(const Place& p, int arithmetic) {
    Value v = make(p.base, p.width, p.value->bits >> p.low);
    v.loose = p.value->loose >> p.low & ones(p.width);
    if (p.reversed) {
      u128 bits = 0;
      for (int i = 0; i < p.width; ++i) bits |= (v.bits >> i & 1) << (p.width - 1 - i);
      v.bits = bits;
    }
    v.arithmetic = std::max(v.width, arithmetic);
    return v;
  }
  void store(const Place& p, const Value& from, bool is_d0) {
    if (p.whole && !is_d0) {
      const bool fixed = p.value == &state_.scc || p.value == &state_.exec || p.value == &state_.vcc;
      if (p.value == &state_.vcc && state_.vector) {
        const u128 bit = u128(1) << state_.lane;
        p.value->bits = from.truth() ? p.value->bits | bit : p.value->bits & ~bit;
        return;
      }
      const Value old = *p.value;
      *p.value = from;
      if (fixed)
        *p.value = p.value == &state_.scc ? make_bool(from.truth())
                                          : converted(from, old.base, old.width, Rounding::NearestEven);
      return;
    }
    const int width = p.whole ? std::min(from.width, p.width) : p.width;
    const Base base = p.whole ? from.base : p.base;
    Value v = p.typed ? converted(from, base, width, state_.rounding)
                      : converted(from, from.floating() ? from.base : base,
                                  from.floating() ? from.width : width, state_.rounding);
    const u128 mask = ones(width) << p.low;
    p.value->bits = (p.value->bits & ~mask) | (v.bits << p.low & mask);
    p.value->loose = (p.value->loose & ~mask) | (v.loose << p.low & mask);
    if (is_d0 && p.low == 0) {
      state_.d0_base = base;
      state_.d0_width = width;
    }
  }

  Value assign(const Node& n) {
    Value value = eval(*n.kids[1]);
    if (n.name != "=")
      value = binary(n.name[0] == '+' ? "+" : n.name[0] == '-' ? "-" : "|", eval(*n.kids[0]), value);
    const Node& to = *n.kids[0];
    if (to.kind == Kind::Name && to.name.starts_with("TRAPSTS")) return value;  // no traps
    if (to.kind == Kind::Name && to.name == "ROUND_MODE") {
      state_.rounding = Rounding(int(value.bits));
      return value;
    }
    if (to.kind == Kind::Join) {
      int low = 0;
      for (size_t i = to.kids.size(); i-- > 0;) {
        Place p;
        if (!place(*to.kids[i], p, true)) throw TextError("assignment to no place");
        store(p, sliced(value, low, p.width), false);
        low += p.width;
      }
      return value;
    }
    Place p;
    if (!place(to, p, true)) throw TextError("assignment to no place");
    store(p, value, p.value == &state_.d0);
    return value;
  }

  Value eval(const Node& n) {
    switch (n.kind) {
      case Kind::Literal:
        return n.value;
      case Kind::Name: {
        Place p;
        if (place(n, p, false))
          return p.value->arithmetic > p.width ? *p.value : load(p, p.value->arithmetic);
        return constant(n.name);
      }
      case Kind::View: {
        const Node& of = *n.kids[0];
        if (of.kind == Kind::Name && (of.name == "INF" || of.name == "NAN"))
          return converted(constant(of.name), n.base, n.width, state_.rounding);
        Place p;
        if (place(n, p, false)) return load(p, 0);
        return viewed(eval(of), n.base, n.width);
      }
      case Kind::Index:
      case Kind::Slice:
      case Kind::Part: {
        Place p;
        if (place(n, p, false)) {
          // A slice counts as wide as what it was cut from.
          Place whole;
          int arithmetic = p.width;
          if (p.base == Base::Unsigned && place(*n.kids[0], whole, false) && whole.typed)
            arithmetic = whole.width;
          return load(p, arithmetic);
        }
        const Value v = eval(*n.kids[0]);
        const int first = int(as_integer(eval(*n.kids[1])));
        if (n.kind == Kind::Index) return sliced(v, first, 1);
        const int second = int(as_integer(eval(*n.kids[2])));
        return n.kind == Kind::Slice ? sliced(v, second, first - second + 1) : sliced(v, first, second);
      }
      case Kind::Cast: {
        const Node& of = *n.kids[0];
        if (n.width > 128) throw TextError("more than 128 bits");
        const Value v = eval(of);
        // 32'F(0xffc00000) means these bits.
        if (n.base == Base::Float && of.kind == Kind::Literal && of.hexadecimal)
          return make(n.base, n.width, v.bits);
        return converted(v, n.base, n.width, state_.rounding);
      }
      case Kind::Join: {
        Value out = make(Base::Bits, 0, 0);
        for (const Tree& kid : n.kids) {
          const Value v = eval(*kid);
          if (out.width + v.width > 128) throw TextError("more than 128 bits joined");
          out.bits = out.bits << v.width | v.bits;
          out.loose = out.loose << v.width | v.loose;
          out.width += v.width;
        }
        out.arithmetic = out.width;
        return out;
      }
      case Kind::Call:
        return invoke(n);
      case Kind::Choice:
        return eval(*n.kids[eval(*n.kids[0]).truth() ? 1 : 2]);
      case Kind::Unary:
        return unary(n.name[0], eval(*n.kids[0]));
      case Kind::Binary:
        return operation(n);
      case Kind::Assign:
        return assign(n);
      default:
        throw TextError("a statement where a value is needed");
    }
  }

  Value constant(const std::string& name) const {
    if (name == "laneId") return make(Base::Unsigned, 32, state_.lane);
    if (name == "WAVE32" || name == "wave32") return make_bool(state_.lanes == 32);
    if (name == "WAVE64") return make_bool(state_.lanes == 64);
    if (name == "WAVE_MODE.IEEE") return make_bool(state_.ieee);
    if (name == "ADDR" || name == "OFFSET" || name == "OFFSET0" || name == "ADDR_BASE")
      return make(Base::Unsigned, 32, 0);
    // Without SDWA the whole register, whose lowest byte and half count.
    if (name == "SDWA_SRC0_SEL") return make(Base::Bits, 3, 0);
    if (name == "BYTE1") return make(Base::Bits, 3, 1);
    if (name == "BYTE2") return make(Base::Bits, 3, 2);
    if (name == "BYTE3") return make(Base::Bits, 3, 3);
    if (name == "WORD1") return make(Base::Bits, 3, 5);
    if (name == "OFFSET1") return make(Base::Unsigned, 32, state_.offset1);
    if (name == "SIMM32" || name == "SIMM16") return make(Base::Bits, 32, state_.literal);
    if (name == "OPSEL") return make(Base::Unsigned, 4, state_.op_sel);
    if (name == "OPSEL_HI") return make(Base::Unsigned, 3, state_.op_sel_hi);
    if (name == "NEG") return make(Base::Unsigned, 3, state_.neg);
    if (name == "SRC0") return make(Base::Unsigned, 32, 0);
    if (name == "SRC1") return make(Base::Unsigned, 32, 1);
    if (name == "SRC2") return make(Base::Unsigned, 32, 2);
    if (name == "VDST" || name == "DST") return make(Base::Unsigned, 32, 3);
    if (name == "ROUND_MODE") return make(Base::Unsigned, 2, u128(unsigned(state_.rounding)));
    if (name == "ROUND_NEAREST_EVEN") return make(Base::Unsigned, 2, unsigned(Rounding::NearestEven));
    if (name == "ROUND_TOWARD_ZERO") return make(Base::Unsigned, 2, unsigned(Rounding::TowardZero));
    const u128 infinity = u128(0x7ff) << 52;
    if (name == "INF") return make(Base::Float, 64, infinity);
    if (name == "NAN") return make(Base::Float, 64, u128(0xfff) << 51);
    if (name == "PI") return make(Base::Float, 64, 0x400921fb54442d18);
    if (name == "MAX_FLOAT_F32") return make(Base::Float, 32, 0x7f7fffff);
    // What is too large or too small for the format, rounded to nearest.
    if (name == "OVERFLOW_F32") return make(Base::Float, 32, 0x7f800000);
    if (name == "UNDERFLOW_F32") return make(Base::Float, 32, 0);
    if (name == "OVERFLOW_F64") return make(Base::Float, 64, infinity);
    if (name == "UNDERFLOW_F64") return make(Base::Float, 64, 0);
    throw TextError("name " + name);
  }

  static Value unary(char mark, const Value& v) {
    Value out = v;
    switch (mark) {
      case '-':
        if (v.floating()) {
          out.bits ^= u128(1) << (v.width - 1);
          return out;
        }
        return make_signed(v.width, -as_integer(v));
      case '!':
        return make_bool(!v.truth());
      case '~':
        out.bits = ~v.bits & ones(v.width);
        return out;
      default:
        return v;
    }
  }

  static bool is_power_of_two(const Node& n, const Node** power) {
    const Node* p = n.kind == Kind::Cast ? n.kids[0].get() : &n;
    if (p->kind != Kind::Binary || p->name != "**" || p->kids[0]->kind != Kind::Literal) return false;
    *power = p->kids[1].get();
    return true;
  }
  Value operation(const Node& n) {
    if (n.name == "&&") return make_bool(eval(*n.kids[0]).truth() && eval(*n.kids[1]).truth());
    if (n.name == "||") return make_bool(eval(*n.kids[0]).truth() || eval(*n.kids[1]).truth());
    if (n.name == "==" && n.kids[1]->kind == Kind::View && n.kids[1]->kids[0]->name == "DENORM") {
      const Number x = as_number(eval(*n.kids[0]));
      const Format f = format_of(make(Base::Float, n.kids[1]->width, 0));
      Number least = integer(false, 1);
      least.exponent = 1 - f.bias();
      Number magnitude = x;
      magnitude.negative = false;
      return make_bool(!x.zero() && compare(magnitude, least) == -1);
    }
    // Against a zero that is written with its sign, the sign counts: V_MAX_F32 of CDNA.
    if (n.name == "==" && n.kids[1]->kind == Kind::Unary && n.kids[1]->kids[0]->kind == Kind::Literal &&
        n.kids[1]->kids[0]->value.floating() && n.kids[1]->kids[0]->value.bits == 0) {
      const Number x = as_number(eval(*n.kids[0]));
      return make_bool(x.zero() && x.negative == (n.kids[1]->name == "-"));
    }
    // x * 2 ** n is one exact scaling, rounded once.
    const Node* power = nullptr;
    if (n.name == "*" && (is_power_of_two(*n.kids[1], &power) || is_power_of_two(*n.kids[0], &power))) {
      const Value v = eval(*n.kids[power == nullptr || is_power_of_two(*n.kids[1], &power) ? 0 : 1]);
      is_power_of_two(*n.kids[1], &power);
      return from_number(scaled(as_number(v), limited(as_integer(eval(*power)))), v.base, v.width,
                         state_.rounding);
    }
    return binary(n.name, eval(*n.kids[0]), eval(*n.kids[1]));
  }
  Value binary(const std::string& mark, const Value& a, const Value& b) const {
    if (a.floating() || b.floating()) return floating(mark, a, b);
    const i128 x = as_integer(a), y = as_integer(b);
    if (mark == "==") return make_bool(same_width(a, b, x, y));
    if (mark == "!=" || mark == "<>") return make_bool(!same_width(a, b, x, y));
    if (mark == "<") return make_bool(x < y);
    if (mark == ">") return make_bool(x > y);
    if (mark == "<=") return make_bool(x <= y);
    if (mark == ">=") return make_bool(x >= y);
    int width = std::max(a.arithmetic, b.arithmetic);
    Base base = a.base == Base::Bits ? b.base : a.base;
    if (mark == "<<" || mark == ">>") {
      width = a.arithmetic;
      base = a.base;
      const int shift = y > 127 || y < 0 ? 127 : int(y);
      // Bits that a slice was cut from are gone, but there is room for what is shifted up.
      return make(base, width, mark == "<<" ? u128(x) << shift : u128(x >> shift));
    }
    if (mark == "&" || mark == "|" || mark == "^") width = std::max(a.width, b.width);
    switch (mark[0]) {
      case '+':
        return make(base, width, u128(x) + u128(y));
      case '-':
        return make(base, width, u128(x) - u128(y));
      case '*':
        return make(base, width, u128(x) * u128(y));
      case '&':
        return make(base, width, u128(x) & u128(y));
      case '|':
        return make(base, width, u128(x) | u128(y));
      case '^':
        return make(base, width, u128(x) ^ u128(y));
      default:
        throw TextError("operator " + mark);
    }
  }
  /// Equality of numbers; of bits where one side is plain bits.
  static bool same_width(const Value& a, const Value& b, i128 x, i128 y) {
    if (a.base == Base::Bits || b.base == Base::Bits) return a.bits == b.bits;
    return x == y;
  }
  Value floating(const std::string& mark, const Value& left, const Value& right) const {
    const Value& typed = !left.floating()            ? right
                         : !right.floating()         ? left
                         : left.width >= right.width ? left
                                                     : right;
    const Value a = left.floating() ? left : converted(left, typed.base, typed.width, state_.rounding);
    const Value b = right.floating() ? right : converted(right, typed.base, typed.width, state_.rounding);
    const Number x = as_number(a), y = as_number(b);
    if (mark == "==") return make_bool(compare(x, y) == 0);
    if (mark == "!=") return make_bool(compare(x, y) != 0);
    if (mark == "<>") return make_bool(compare(x, y) == 1 || compare(x, y) == -1);
    if (mark == "<") return make_bool(compare(x, y) == -1);
    if (mark == ">") return make_bool(compare(x, y) == 1);
    if (mark == "<=") return make_bool(compare(x, y) == -1 || compare(x, y) == 0);
    if (mark == ">=") return make_bool(compare(x, y) == 1 || compare(x, y) == 0);
    Number n;
    if (mark == "+")
      n = add(x, y, state_.rounding);
    else if (mark == "-")
      n = add(x, negated(y), state_.rounding);
    else if (mark == "*")
      n = multiply(x, y);
    else if (mark == "/")
      n = divide(x, y);
    else
      throw TextError("operator " + mark + " on floats");
    return from_number(n, typed.base, typed.width, state_.rounding);
  }

  Value invoke(const Node& n) {
    // Addresses are made by the kernel; each item has its own bytes at 0.
    if (n.name.starts_with("Calc") && n.name.ends_with("Addr")) return make(Base::Unsigned, 32, 0);
    std::vector<Value> arguments;
    for (const Tree& kid : n.kids) arguments.push_back(eval(*kid));
    if (const auto found = lambdas_.find(n.symbol); found != lambdas_.end()) {
      Machine inner(state_, library_);
      inner.lambdas_ = lambdas_;
      for (size_t i = 0; i < arguments.size(); ++i)
        inner.variable(found->second->parameters.at(i), 1)->values[0] = arguments[i];
      inner.block(*found->second->kids[0]);
      return inner.result_;
    }
    if (n.name.starts_with("v_") || n.name.starts_with("s_ff1")) {
      const Node* text = library_(n.name);
      if (text != nullptr) {
        State inner = state_;
        for (size_t i = 0; i < arguments.size() && i < 3; ++i) {
          inner.source[i] = arguments[i];
          inner.source[i].base = Base::Bits;
          inner.source[i].width = std::max(arguments[i].width, 32);
        }
        inner.vector = n.name.starts_with("v_");
        Machine(inner, library_).block(*text);
        Value v = make(inner.d0_base, inner.d0_width, inner.d0.bits);
        v.loose = inner.d0.loose & ones(inner.d0_width);
        return v;
      }
    }
    return call(n.name, arguments, state_);
  }

  State& state_;
  const Library& library_;
  std::vector<Variable> variables_;
  std::map<int, const Node*> lambdas_;
  Value result_;
};

}  // namespace

void run(const Node& text, State& state, const Library& library) { Machine(state, library).block(text); }

}  // namespace emu::isa
