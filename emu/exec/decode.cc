// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/decode.h"

#include "emu/exec/operand.h"
#include "emu/exec/registers.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace {

uint8_t words_of(Type type) {
  return type == Type::F64 || type == Type::U64 || type == Type::I64 || type == Type::B64 ||
                 type == Type::PackF32
             ? 2
             : 1;
}
bool is_packed(Type type) {
  return type == Type::Pack16 || type == Type::PackF16 || type == Type::PackBf16 || type == Type::PackF32;
}
bool is_short(Type type) { return type == Type::F16 || type == Type::U16 || type == Type::I16; }

class Binder {
 public:
  Binder(const Text& text, const DecodeContext& context, Op& op) : text_(text), context_(context), op_(op) {}

  bool bind(const Row& row) {
    row_ = &row;
    switch (row.form) {
      case Form::Vector:
        return vector();
      case Form::Scalar:
      case Form::ScalarK:
        return scalar();
      case Form::Branch:
        return branch();
      case Form::Immediate:
        return immediate();
      case Form::Smem:
        return scalar_memory();
      case Form::Flat:
        return flat();
      case Form::Lds:
        return local();
      case Form::Buffer:
        return buffer();
      case Form::Lane:
        return custom();
      case Form::Custom:
        return !text_.dpp && !text_.sdwa && custom();
    }
    return false;
  }

 private:
  bool more() const { return next_ < text_.operands.size(); }
  bool take(Operand& operand) { return more() && parse_operand(text_.operands[next_++], operand); }

  void use_registers(uint32_t first, uint32_t words) {
    if (first + words > *context_.vector_registers) *context_.vector_registers = first + words;
  }
  bool put(const Operand& operand, Type type, Source& source, uint8_t words = 0) {
    source.type = type;
    source.words = words ? words : words_of(type);
    source.mods = operand.mods;
    source.place = operand.place;
    source.reg = operand.reg;
    source.select = Select::Dword;
    if (type == Type::Mask) source.words = uint8_t(context_.lanes / 32);
    if (operand.place == Place::Scalar && operand.reg == kNull) {
      source.place = Place::Constant;
      source.value = 0;
      source.row = row(0);
    } else if (operand.place == Place::Vector) {
      source.offset = operand.reg * context_.lanes;
      use_registers(operand.reg, source.words);
    } else if (operand.place == Place::Constant) {
      if (!constant_bits(operand.constant, type, source.value)) return false;
      source.row = row(source.value);
    }
    return true;
  }
  const uint32_t* row(uint64_t value) {
    const uint32_t*& found = (*context_.row_of)[value];
    if (found == nullptr) {
      auto& fresh = context_.rows->emplace_back();
      for (int i = 0; i < 32; ++i) {
        fresh[size_t(i)] = uint32_t(value);
        fresh[size_t(i) + 32] = uint32_t(value >> 32);
      }
      found = fresh.data();
    }
    return found;
  }
  bool put_dst(const Operand& operand, uint8_t words) {
    op_.dst_place = operand.place;
    op_.dst_words = words;
    op_.dst = operand.reg;
    if (operand.place == Place::Scalar && operand.reg == kNull) op_.dst = kTrash;
    if (operand.place == Place::Vector) {
      op_.dst_offset = operand.reg * context_.lanes;
      use_registers(operand.reg, words);
      if (operand.mods & kHigh) op_.flags |= kDstHigh;
    }
    return operand.place == Place::Vector || operand.place == Place::Scalar;
  }
  void accumulate(unsigned n, Type type) {
    Operand self;
    self.place = op_.dst_place;
    self.reg = op_.dst;
    if (op_.flags & kDstHigh) self.mods |= kHigh;
    put(self, type, op_.src[n]);
    op_.sources = uint8_t(n + 1);
  }

  bool vector() {
    Operand operand;
    unsigned wanted = 0;
    while (wanted < 4 && row_->src[wanted] != Type::None) ++wanted;
    const bool accumulates = (row_->flags & kAccumulate) != 0;
    const unsigned written = wanted - accumulates;
    const bool compare = row_->dst == Type::Mask;
    if (compare && (row_->flags & kWritesExec) && text_.operands.size() == written) {
      op_.dst_place = Place::None;
    } else if (row_->dst != Type::None) {
      if (!take(operand)) return false;
      if (!put_dst(operand, compare ? uint8_t(context_.lanes / 32) : words_of(row_->dst))) return false;
      if (compare != (operand.place == Place::Scalar)) return false;
    }
    if (row_->dst2 == Type::Mask) {
      Operand second;
      if (!take(second) || second.place != Place::Scalar) return false;
      op_.dst2 = second.reg == kNull ? uint16_t(kTrash) : second.reg;
    }
    for (unsigned i = 0; i < written; ++i) {
      Operand source;
      if (row_->src[i] == Type::Mask && !more()) {
        source.place = Place::Scalar;  // VOPD leaves VCC unwritten
        source.reg = kVcc;
      } else if (!take(source)) {
        return false;
      }
      if (!put(source, row_->src[i], op_.src[i])) return false;
    }
    op_.sources = uint8_t(written);
    if (accumulates) accumulate(written, row_->src[written]);
    if (more()) return false;
    return modifiers();
  }

  bool modifiers() {
    if (text_.has("clamp")) op_.flags |= kClamp | kSlowOut;
    if (const auto times = text_.number("mul")) op_.omod = *times == 2 ? 1 : 2;
    if (text_.number("div")) op_.omod = 3;
    if (op_.omod) op_.flags |= kSlowOut;
    const auto neg = text_.list("neg");  // products of doubles
    for (size_t i = 0; i < neg.size() && i < 4; ++i)
      if (neg[i]) op_.src[i].mods |= kNeg;
    const auto sel = text_.list("op_sel"), sel_hi = text_.list("op_sel_hi"), neg_lo = text_.list("neg_lo"),
               neg_hi = text_.list("neg_hi");
    const bool mix = row_->src[0] == Type::Mix;
    for (unsigned i = 0; i < op_.sources; ++i) {
      Source& s = op_.src[i];
      const bool packed = is_packed(s.type) || mix;
      if (i < sel.size() && sel[i]) s.mods |= kHigh;
      if (packed && (i < sel_hi.size() ? sel_hi[i] != 0 : !mix)) s.mods |= kPackHigh;
      if (row_->flags & kNegIsSign) {
        if (i < neg_lo.size() && neg_lo[i]) op_.imm |= 1 << i;
        continue;
      }
      if (i < neg_lo.size() && neg_lo[i]) s.mods |= kNeg;
      if (i < neg_hi.size() && neg_hi[i]) s.mods |= kNegHigh;
    }
    const size_t all = row_->flags & kAccumulate ? op_.sources - 1u : op_.sources;
    if (sel.size() > all && sel[all] && is_short(row_->dst)) {
      op_.flags |= kDstHigh;
      if (row_->flags & kAccumulate) op_.src[all].mods |= kHigh;
    }
    if (context_.generation == 9 && (row_->flags & kZeroHigh9)) op_.flags |= kZeroHigh;
    if (text_.sdwa && !sdwa()) return false;
    if (text_.dpp && !dpp()) return false;
    return true;
  }

  static bool selection(std::optional<std::string_view> text, Select& select) {
    if (!text || *text == "DWORD") return true;
    if (text->starts_with("BYTE_"))
      select = Select(text->back() - '0');
    else if (text->starts_with("WORD_"))
      select = text->back() == '0' ? Select::Word0 : Select::Word1;
    else
      return false;
    return true;
  }
  bool sdwa() {
    Select chosen = Select::Dword;
    if (!selection(text_.value("dst_sel"), chosen)) return false;
    op_.dst_select = chosen;
    if (chosen != Select::Dword) op_.flags |= kSlowOut;
    const auto unused = text_.value("dst_unused");
    if (unused == "UNUSED_PRESERVE") op_.flags |= kKeepUnused;
    if (unused == "UNUSED_SEXT") op_.flags |= kSextUnused;
    for (unsigned i = 0; i < 2 && i < op_.sources; ++i) {
      Select select = Select::Dword;
      if (!selection(text_.value(i == 0 ? "src0_sel" : "src1_sel"), select)) return false;
      op_.src[i].select = select;
      if (select != Select::Dword || (op_.src[i].mods & kSext)) op_.src[i].mods |= kSelect;
    }
    return true;
  }

  bool dpp() {
    Dpp& dpp = context_.dpps->emplace_back();
    dpp = {};
    const unsigned lanes = context_.lanes;
    const auto set = [&](unsigned lane, int from) {
      dpp.from[lane] = uint8_t(from);
      dpp.valid |= uint64_t(1) << lane;
    };
    if (!pattern(lanes, set)) return false;
    const uint64_t rows = uint64_t(text_.number("row_mask").value_or(15)),
                   banks = uint64_t(text_.number("bank_mask").value_or(15));
    for (unsigned i = 0; i < lanes; ++i)
      if ((rows >> (i / 16) & 1) && (banks >> (i / 4 % 4) & 1)) dpp.enabled |= uint64_t(1) << i;
    dpp.bound_zero = text_.number("bound_ctrl").has_value() || text_.value("dpp8").has_value();
    dpp.fetch_inactive = text_.number("fi").value_or(0) == 1;
    op_.dpp = &dpp;
    op_.src[0].mods |= kDpp;
    return true;
  }
  template <class Set>
  bool pattern(unsigned lanes, const Set& set) {
    const auto quad = text_.list("quad_perm"), eight = text_.list("dpp8");
    const auto number = [&](std::string_view name) { return text_.number(name); };
    const auto row_of = [](unsigned i) { return int(i & ~15u); };
    for (unsigned i = 0; i < lanes; ++i) {
      const int in_row = int(i % 16), lane = int(i);
      if (quad.size() == 4) {
        set(i, int(i & ~3u) + quad[i % 4]);
      } else if (eight.size() == 8) {
        set(i, int(i & ~7u) + eight[i % 8]);
      } else if (const auto n = number("row_shl")) {
        if (in_row + *n < 16) set(i, lane + int(*n));
      } else if (const auto n2 = number("row_shr")) {
        if (in_row - *n2 >= 0) set(i, lane - int(*n2));
      } else if (const auto n3 = number("row_ror")) {
        set(i, row_of(i) + (in_row - int(*n3) + 16) % 16);
      } else if (const auto n4 = number("row_share")) {
        set(i, row_of(i) + int(*n4));
      } else if (const auto n4b = number("row_newbcast")) {
        set(i, row_of(i) + int(*n4b));
      } else if (const auto n5 = number("row_xmask")) {
        set(i, row_of(i) + (in_row ^ int(*n5)));
      } else if (text_.has("row_mirror")) {
        set(i, row_of(i) + 15 - in_row);
      } else if (text_.has("row_half_mirror")) {
        set(i, int(i & ~7u) + 7 - int(i % 8));
      } else if (number("wave_shl")) {
        if (i + 1 < lanes) set(i, lane + 1);
      } else if (number("wave_shr")) {
        if (i > 0) set(i, lane - 1);
      } else if (number("wave_rol")) {
        set(i, int((i + 1) % lanes));
      } else if (number("wave_ror")) {
        set(i, int((i + lanes - 1) % lanes));
      } else if (const auto n6 = number("row_bcast")) {
        if (*n6 == 15 && i >= 16) set(i, row_of(i) - 1);
        if (*n6 == 31 && i >= 32) set(i, 31);
      } else {
        return false;
      }
    }
    return true;
  }

  bool scalar() {
    Operand operand;
    if (row_->dst != Type::None) {
      if (!take(operand) || operand.place != Place::Scalar || !put_dst(operand, words_of(row_->dst)))
        return false;
    }
    op_.imm = op_.raw[0] & 0xffff;
    const bool accumulates = (row_->flags & kAccumulate) != 0;
    unsigned n = 0;
    for (; n < 4 && row_->src[n] != Type::None; ++n) {
      if (accumulates && (n == 3 || row_->src[n + 1] == Type::None)) {
        accumulate(n, row_->src[n]);
        return true;
      }
      Operand source;
      if (!take(source) || source.place == Place::Vector || source.place == Place::None) return false;
      if (!put(source, row_->src[n], op_.src[n])) return false;
    }
    op_.sources = uint8_t(n);
    return true;
  }
  bool branch() {
    if (text_.operands.size() == 2) {
      Operand operand;
      if (!take(operand) || !put_dst(operand, 2)) return false;
    }
    op_.imm = int64_t(int16_t(op_.raw[0] & 0xffff)) * 4 + 4;
    return true;
  }
  bool immediate() {
    op_.imm = op_.raw[0] & 0xffff;
    if (row_->flags & kStore) {  // s_setreg_b32 hwreg(..), s0
      Operand source;
      ++next_;
      if (!take(source) || !put(source, Type::U32, op_.src[0])) return false;
      op_.sources = 1;
    }
    return true;
  }
  bool scalar_memory() {
    Operand dst, base, offset;
    const bool is_atomic = (row_->flags & kAtomic) != 0, takes_data = is_atomic || (row_->flags & kStore);
    if (!take(dst) || dst.place != Place::Scalar) return false;
    if (takes_data && !put(dst, Type::Wide, op_.src[2], row_->src_words[2])) return false;
    if (is_atomic && returns_old()) op_.flags |= kReturns;
    if ((!takes_data || (op_.flags & kReturns)) && !put_dst(dst, row_->dst_words)) return false;
    if (!take(base) || base.place != Place::Scalar || !put(base, Type::Wide, op_.src[0], row_->src_words[0]))
      return false;
    op_.sources = takes_data ? 3 : 1;
    if (more()) {
      if (!take(offset)) return false;
      if (offset.place == Place::Constant)
        op_.imm = *parse_integer(offset.constant);
      else if (offset.place == Place::Scalar && offset.reg != kNull) {
        if (!put(offset, Type::U32, op_.src[1])) return false;
        if (!takes_data) op_.sources = 2;
      }
    }
    op_.imm += text_.number("offset").value_or(0);
    op_.bytes = row_->bytes;
    return true;
  }

  bool returns_old() const {
    if (text_.has("glc") || text_.has("sc0")) return true;
    const auto hint = text_.value("th");
    return hint && hint->find("RETURN") != std::string_view::npos;
  }
  bool take_data(uint8_t words, unsigned n) {
    Operand data;
    return take(data) && data.place == Place::Vector && put(data, Type::Wide, op_.src[n], words);
  }
  bool flat() {
    const bool is_atomic = (row_->flags & kAtomic) != 0, is_store = (row_->flags & kStore) != 0;
    // Loads into LDS have no destination register; some rows have no address but the lane's number.
    const bool gives = is_atomic ? returns_old() : !is_store && row_->dst_words != 0;
    const bool no_address = row_->src_words[0] == kNoAddress;
    Operand dst, address, base;
    if (gives) {
      if (!take(dst) || dst.place != Place::Vector || !put_dst(dst, row_->dst_words)) return false;
      if (is_atomic) op_.flags |= kReturns;
    }
    if (!no_address && !take(address)) return false;
    if ((is_atomic || is_store) && !take_data(row_->src_words[1], 1)) return false;
    if (more()) {
      if (!take(base)) return false;
      if (base.place == Place::Scalar && base.reg != kNull &&
          !put(base, Type::Wide, op_.src[2], row_->flags & kScratchSpace ? 1 : 2))
        return false;
    }
    const bool narrow = op_.src[2].place == Place::Scalar || (row_->flags & kScratchSpace);
    if (address.place == Place::Vector && !put(address, Type::Wide, op_.src[0], narrow ? 1 : 2)) return false;
    if (address.place == Place::None && !no_address && !(row_->flags & kScratchSpace)) return false;
    op_.sources = 3;
    op_.imm = text_.number("offset").value_or(0);
    op_.bytes = row_->bytes;
    if (!gives && !is_atomic && !is_store) use_registers(kSpareRegister, 1);
    return true;
  }
  bool local() {
    Operand dst;
    if (row_->dst_words && (!take(dst) || dst.place != Place::Vector || !put_dst(dst, row_->dst_words)))
      return false;
    unsigned n = 0;
    for (; n < 3 && row_->src_words[n]; ++n)
      if (!take_data(row_->src_words[n], n)) return false;
    op_.sources = uint8_t(n);
    op_.imm = op_.raw[0] & 0xffff;
    op_.bytes = row_->bytes;
    return !text_.has("gds");
  }
  bool buffer() {
    const bool is_atomic = (row_->flags & kAtomic) != 0, is_store = (row_->flags & kStore) != 0;
    const bool to_lds = !is_atomic && !is_store && row_->dst_words == 0;
    Operand data, address, descriptor, offset;
    if (to_lds)
      use_registers(kSpareRegister, 1);
    else if (!take(data) || data.place != Place::Vector)
      return false;
    if (!take(address) || !take(descriptor) || descriptor.place != Place::Scalar || !take(offset))
      return false;
    if (is_atomic || is_store) {
      if (!put(data, Type::Wide, op_.src[1], row_->src_words[1])) return false;
    }
    if (!to_lds && (is_atomic ? returns_old() : !is_store)) {
      if (!put_dst(data, row_->dst_words)) return false;
      op_.flags |= kReturns;
    }
    if (text_.has("offen")) op_.flags |= kOffset;
    if (text_.has("idxen")) op_.flags |= kIndexed;
    const uint8_t words = uint8_t(text_.has("offen") + text_.has("idxen"));
    if (address.place == Place::Vector && words && !put(address, Type::Wide, op_.src[0], words)) return false;
    if (!put(descriptor, Type::Wide, op_.src[2], 4) || !put(offset, Type::U32, op_.src[3])) return false;
    op_.sources = 4;
    op_.imm = text_.number("offset").value_or(0);
    op_.bytes = row_->bytes;
    return true;
  }
  /// Destination, then sources, of the widths that the row gives.
  bool custom() {
    Operand dst;
    const auto words = [](uint8_t given, const Operand& o) { return given == kAsWritten ? o.words : given; };
    if (row_->dst_words && (!take(dst) || !put_dst(dst, words(row_->dst_words, dst)))) return false;
    unsigned n = 0;
    for (; n < 4 && row_->src_words[n] && more(); ++n) {
      Operand source;
      if (!take(source) || !put(source, row_->src[n], op_.src[n], words(row_->src_words[n], source)))
        return false;
    }
    op_.sources = uint8_t(n);
    return modifiers();
  }

  const Text& text_;
  const DecodeContext& context_;
  Op& op_;
  const Row* row_ = nullptr;
  size_t next_ = 0;
};

}  // namespace

const Op* unknown_instruction(Wave& wave, const Op* op) {
  raise(wave, op, Fault::Kind::UnknownInstruction, -1, 0, "this instruction is not implemented");
}

void decode_operation(const Text& text, const uint32_t* raw, size_t words, const DecodeContext& context,
                      Op& op) {
  op = {};
  op.raw[0] = raw[0];
  op.raw[1] = words > 1 ? raw[1] : 0;
  op.dst_select = Select::Dword;
  op.run = unknown_instruction;
  // A load that the modifier `lds` sends to LDS has a row of its own.
  const Row* row = find_row(text.has("lds") ? (text.mnemonic + " lds").c_str() : text.mnemonic.c_str());
  if (row == nullptr) return;
  if (!Binder(text, context, op).bind(*row)) return;
  op.row = row;
  op.run = row->run;
}

}  // namespace emu::exec
