// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/waits.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "emu/exec/service.h"
#include "emu/exec/table.h"

namespace emu::exec {

namespace {

/// Whether a flat load has lanes whose addresses lie in LDS.
bool reads_lds(const Wave& w, const Op* op) {
  if ((op->row->flags & kFlatSpace) == 0) return false;
  const uint32_t* high = w.v + op->src[0].offset + w.lanes;
  const uint64_t exec = word64(const_cast<uint32_t*>(w.s) + kExec);
  for (unsigned i = 0; i < w.lanes; ++i)
    if ((exec >> i & 1) && high[i] == kSharedAperture) return true;
  return false;
}

}  // namespace

void Waits::reset(uint32_t vector_registers) {
  vector_.assign(vector_registers, Pending());
  scalar_.assign(kScalarWords, Pending());
  for (int c = 0; c < kCounters; ++c) issued_[c] = done_[c] = overtaking_[c] = 0;
}

void Waits::cover(Counter counter, uint32_t left) {
  if (left != 0 && overtaking_[counter] > done_[counter]) return;
  if (issued_[counter] - done_[counter] > left) done_[counter] = issued_[counter] - left;
}

// The fields of s_waitcnt moved between generations; gfx12 has an instruction for each counter.
void Waits::wait(const Wave& w, const Op* op) {
  const std::string_view name = op->row->name;
  const uint32_t imm = uint32_t(op->imm);
  if (name == "s_waitcnt") {
    const uint32_t vm = w.generation >= 11 ? imm >> 10 & 63 : (imm & 15) | (imm >> 14 & 3) << 4;
    const uint32_t lgkm = w.generation >= 11 ? imm >> 4 & 63 : imm >> 8 & (w.generation >= 10 ? 63 : 15);
    if (vm != 63) cover(Vector, vm);
    if (lgkm != (w.generation >= 10 ? 63u : 15u)) cover(Local, lgkm);
  } else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt") {
    cover(Vector, imm & 63);
  } else if (name == "s_waitcnt_lgkmcnt" || name == "s_wait_dscnt" || name == "s_wait_storecnt_dscnt") {
    cover(Local, imm & 63);
  } else if (name == "s_wait_kmcnt") {
    cover(Scalar, imm & 31);
  } else if (name == "s_wait_loadcnt_dscnt") {
    cover(Vector, imm >> 8 & 63);
    cover(Local, imm & 63);
  } else if (name == "s_wait_idle") {
    for (int c = 0; c < kCounters; ++c) cover(Counter(c), 0);
  }
}

void Waits::check(const Wave& w, const Op* op, bool vector, unsigned first, unsigned words,
                  Counter in_order) {
  std::vector<Pending>& registers = vector ? vector_ : scalar_;
  for (unsigned i = first; i < first + words && i < registers.size(); ++i) {
    Pending& p = registers[i];
    for (int c = 0; c < kCounters; ++c) {
      if (p.number[c] == 0 || c == in_order) continue;
      if (p.number[c] > done_[c]) {
        char text[120];
        const bool vcc = !vector && (i == kVcc || i == kVcc + 1), accumulation = vector && i >= 256;
        const std::string name = vcc            ? i == kVcc ? "vcc_lo" : "vcc_hi"
                                 : accumulation ? "a" + std::to_string(i - 256)
                                                : (vector ? "v" : "s") + std::to_string(i);
        std::snprintf(text, sizeof(text), "%s is used while its load is still under way", name.c_str());
        raise(w, op, Fault::Kind::MissingWait, -1, 0, text);
      }
      p.number[c] = 0;
    }
  }
}

void Waits::step(const Wave& w, const Op* op) {
  const Row* row = op->row;
  if (row == nullptr) return;
  if (row->cls == Class::Wait) return wait(w, op);
  const bool to_vector = op->dst_place == Place::Vector, to_scalar = op->dst_place == Place::Scalar;
  const bool memory = row->form == Form::Flat || row->form == Form::Buffer, lds = memory && reads_lds(w, op);
  bool under_way = false;
  for (int c = 0; c < kCounters; ++c) under_way |= issued_[c] != done_[c];
  if (under_way) {
    for (const Source& s : op->src)
      if (s.place == Place::Vector || s.place == Place::Scalar)
        check(w, op, s.place == Place::Vector, s.reg, s.words);
    // Before gfx12 memory's loads write their registers in order, so one may follow another into the same
    // register.
    const bool ordered = memory && !lds && w.generation < 12 && overtaking_[Vector] <= done_[Vector];
    if (to_vector || to_scalar) check(w, op, to_vector, op->dst, op->dst_words, ordered ? Vector : kCounters);
    if (row->form == Form::Branch && std::strstr(row->name, "vcc") != nullptr)
      check(w, op, false, kVcc, w.lanes / 32);
  }

  const bool fills = to_vector || to_scalar;
  const auto issue = [&](Counter counter, bool holds, bool overtakes) {
    ++issued_[counter];
    if (overtakes) overtaking_[counter] = issued_[counter];
    if (!fills || !holds) return;
    for (unsigned i = 0; i < op->dst_words; ++i)
      (to_vector ? vector_ : scalar_)[op->dst + i].number[counter] = issued_[counter];
  };
  switch (row->form) {
    case Form::Smem:
      issue(w.generation < 12 ? Local : Scalar, true, true);
      break;
    case Form::Lds:
      issue(Local, true, false);
      break;
    case Form::Flat:
    case Form::Buffer:
      // Stores and atomics without result have a counter of their own from gfx10 on. Flat instructions count
      // as both.
      if (fills || w.generation == 9) issue(Vector, true, lds);
      if (row->flags & kFlatSpace) issue(Local, lds, lds);
      break;
    default:
      break;
  }
}

}  // namespace emu::exec
