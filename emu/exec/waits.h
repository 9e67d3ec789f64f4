// SPDX-License-Identifier: Apache-2.0
// Strict waits: a register that a load or an atomic fills must not be touched before a wait instruction has
// covered that load. Loads of one counter return in order, scalar loads do not.
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
  enum Counter : uint8_t { Vector, Local, Scalar, kCounters };
  struct Pending {
    Counter counter = kCounters;
    uint32_t number = 0;
  };
  void wait(const Wave& wave, const Op* op);
  void cover(Counter counter, uint32_t left, bool in_order);
  void check(const Wave& wave, const Op* op, bool vector, unsigned first, unsigned words);

  std::vector<Pending> vector_, scalar_;
  uint32_t issued_[kCounters] = {}, done_[kCounters] = {};
};

}  // namespace emu::exec
