// SPDX-License-Identifier: Apache-2.0
// Strict waits: a register that a load or an atomic fills must not be touched before a wait instruction has
// covered that load. Loads of one counter return in order; scalar loads do not, nor do flat loads from LDS
// and what shares a counter with either: there only a wait for all of them says anything.
#pragma once
#include <vector>

#include "emu/exec/machine.h"

namespace emu::exec {

class Waits {
 public:
  /// Of a wave that starts with this many vector registers.
  void reset(uint32_t vector_registers);
  /// Before an operation: Fault when it touches a register whose load was not waited for.
  void step(const Wave& wave, const Op* op);

 private:
  // Local: LDS, before gfx12 scalar loads too (lgkmcnt).
  enum Counter : uint8_t { Vector, Local, Scalar, kCounters };
  struct Pending {
    uint32_t number[kCounters] = {};  // which one of the counter's; 0: none
  };
  void wait(const Wave& wave, const Op* op);
  void cover(Counter counter, uint32_t left);
  /// in_order: the operation itself comes after loads of this counter, whose results it may overwrite.
  void check(const Wave& wave, const Op* op, bool vector, unsigned first, unsigned words,
             Counter in_order = kCounters);

  std::vector<Pending> vector_, scalar_;
  // How many were issued; how many have surely come; the last one that may overtake others.
  uint32_t issued_[kCounters] = {}, done_[kCounters] = {}, overtaking_[kCounters] = {};
};

}  // namespace emu::exec
