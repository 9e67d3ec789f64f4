// SPDX-License-Identifier: Apache-2.0
// gfx9's indexed registers: between s_set_gpr_idx_on and s_set_gpr_idx_off M0 holds an index (bits 0 to 7),
// which is added to the vector registers of the operands that its bits 12 to 15 name: first, second, third
// source, destination. The instructions in between run here, as copies with other registers.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {

void check_registers(Wave& wave, const Op* op);

namespace EMU_ISA {
namespace {

const Op* index_off(Wave&, const Op* op) { return op + 1; }
const Op* index_of(Wave& w, const Op* op) {
  w.s[kM0] = (w.s[kM0] & ~0xffu) | (uint32_t(scalar_bits(w, op->src[0], false)) & 0xff);
  return op + 1;
}
const Op* index_mode(Wave& w, const Op* op) {
  w.s[kM0] = (w.s[kM0] & ~0xf000u) | (uint32_t(op->imm) & 15) << 12;
  return op + 1;
}

void move_registers(Wave& w, const Op* op, Op& copy) {
  const uint32_t index = w.s[kM0] & 0xff, which = w.s[kM0] >> 12 & 15;
  const auto inside = [&](uint32_t reg, uint32_t words) {
    if (reg + words > w.vector_registers)
      raise(w, op, Fault::Kind::OutOfBounds, -1, index,
            "an indexed vector register that the wave does not have");
  };
  const bool accumulates = op->row->flags & kAccumulate;
  for (unsigned n = 0; n < op->sources; ++n) {
    Source& s = copy.src[n];
    // A source that is the destination moves with it.
    const bool moves = accumulates && n + 1u == op->sources ? which >> 3 & 1 : n < 3 && (which >> n & 1);
    if (s.place != Place::Vector || !moves) continue;
    s.reg = uint16_t(s.reg + index);
    s.offset += index * w.lanes;
    inside(s.reg, s.words);
  }
  if (copy.dst_place == Place::Vector && (which >> 3 & 1)) {
    copy.dst = uint16_t(copy.dst + index);
    copy.dst_offset += index * w.lanes;
    inside(copy.dst, copy.dst_words);
  }
}

const Op* index_on(Wave& w, const Op* op) {
  w.s[kM0] = (w.s[kM0] & ~0xf0ffu) | (uint32_t(scalar_bits(w, op->src[0], false)) & 0xff) |
             (op->raw[0] >> 8 & 15) << 12;
  for (++op; op->row != nullptr; ++op) {
    if (op->row->run == index_off) return op + 1;
    if ((w.mode & kModeSkip) != 0 && (op->row->name[0] != 's' || op->row->name[1] != '_')) continue;
    Op copy[2] = {*op, *op};
    const bool vector =
        op->row->form == Form::Vector || op->row->form == Form::Lane || op->row->form == Form::Custom;
    if (vector) move_registers(w, op, copy[0]);
    const Op* run = vector ? copy : op;
    if (w.checker) check_registers(w, run);
    if (run->run(w, run) != run + 1)
      raise(w, op, Fault::Kind::Unsupported, -1, 0, "a branch or a wait while vector registers are indexed");
  }
  return op;
}

constexpr Row row(const char* name, Handler run, Form form, unsigned source) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = form;
  r.cls = Class::Scalar;
  r.src[0] = source ? Type::U32 : Type::None;
  r.src_words[0] = uint8_t(source);
  return r;
}

constexpr Row kRows[] = {
    row("s_set_gpr_idx_on", index_on, Form::Custom, 1),
    row("s_set_gpr_idx_idx", index_of, Form::Custom, 1),
    row("s_set_gpr_idx_mode", index_mode, Form::Immediate, 0),
    row("s_set_gpr_idx_off", index_off, Form::Immediate, 0),
};

}  // namespace
EMU_GROUP(register_index, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
