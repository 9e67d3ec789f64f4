// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/waits.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "emu/exec/service.h"
#include "emu/exec/table.h"

namespace emu::exec {

void Waits::reset(uint32_t vector_registers) {
  vector_.assign(vector_registers, Pending());
  scalar_.assign(kScalarWords, Pending());
  for (int c = 0; c < kCounters; ++c) issued_[c] = done_[c] = 0;
}

void Waits::cover(Counter counter, uint32_t left, bool in_order) {
  if (!in_order && left != 0) return;
  if (issued_[counter] - done_[counter] > left) done_[counter] = issued_[counter] - left;
}

// The fields of s_waitcnt moved between generations; gfx12 has an instruction for each counter.
void Waits::wait(const Wave& w, const Op* op) {
  const std::string_view name = op->row->name;
  const uint32_t imm = uint32_t(op->imm);
  if (name == "s_waitcnt") {
    const uint32_t vm = w.generation >= 11 ? imm >> 10 & 63 : (imm & 15) | (imm >> 14 & 3) << 4;
    const uint32_t lgkm = w.generation >= 11 ? imm >> 4 & 63 : imm >> 8 & (w.generation >= 10 ? 63 : 15);
    if (vm != 63) cover(Vector, vm, true);
    if (lgkm != (w.generation >= 10 ? 63u : 15u)) {
      cover(Local, lgkm, true);
      cover(Scalar, lgkm, false);
    }
  } else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt") {
    cover(Vector, imm & 63, true);
  } else if (name == "s_waitcnt_lgkmcnt") {
    cover(Local, imm & 63, true);
    cover(Scalar, imm & 63, false);
  } else if (name == "s_wait_dscnt") {
    cover(Local, imm & 63, true);
  } else if (name == "s_wait_kmcnt") {
    cover(Scalar, imm & 31, false);
  } else if (name == "s_wait_loadcnt_dscnt") {
    cover(Vector, imm >> 8 & 63, true);
    cover(Local, imm & 63, true);
  } else if (name == "s_wait_idle") {
    for (int c = 0; c < kCounters; ++c) cover(Counter(c), 0, true);
  }
}

void Waits::check(const Wave& w, const Op* op, bool vector, unsigned first, unsigned words) {
  std::vector<Pending>& registers = vector ? vector_ : scalar_;
  for (unsigned i = first; i < first + words && i < registers.size(); ++i) {
    Pending& p = registers[i];
    if (p.counter == kCounters) continue;
    if (p.number > done_[p.counter]) {
      char text[120];
      std::snprintf(text, sizeof(text), "%c%u is used while its load is still under way", vector ? 'v' : 's',
                    i);
      raise(w, op, Fault::Kind::MissingWait, -1, 0, text);
    }
    p.counter = kCounters;
  }
}

void Waits::step(const Wave& w, const Op* op) {
  const Row* row = op->row;
  if (row == nullptr) return;
  if (row->cls == Class::Wait) return wait(w, op);
  for (unsigned i = 0; i < 4; ++i) {
    const Source& s = op->src[i];
    if (s.place == Place::Vector || s.place == Place::Scalar)
      check(w, op, s.place == Place::Vector, s.reg, s.words);
  }
  const bool to_vector = op->dst_place == Place::Vector, to_scalar = op->dst_place == Place::Scalar;
  if (to_vector || to_scalar) check(w, op, to_vector, op->dst, op->dst_words);
  if (row->form == Form::Branch && std::strstr(row->name, "vcc") != nullptr)
    check(w, op, false, kVcc, w.lanes / 32);

  const bool fills = to_vector || to_scalar;
  const auto issue = [&](Counter counter) {
    ++issued_[counter];
    if (!fills) return;
    for (unsigned i = 0; i < op->dst_words; ++i)
      (to_vector ? vector_ : scalar_)[op->dst + i] = {counter, issued_[counter]};
  };
  switch (row->form) {
    case Form::Smem:
      issue(Scalar);
      if (w.generation < 12) ++issued_[Local];  // one counter for both
      break;
    case Form::Lds:
      issue(Local);
      if (w.generation < 12) ++issued_[Scalar];
      break;
    case Form::Flat:
    case Form::Buffer:
      // Stores and atomics without result have a counter of their own from gfx10 on.
      if (fills || w.generation == 9) issue(Vector);
      break;
    default:
      break;
  }
}

}  // namespace emu::exec
