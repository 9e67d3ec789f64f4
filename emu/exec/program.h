// SPDX-License-Identifier: Apache-2.0
// A kernel's instructions as micro-operations, decoded once and kept for later launches.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "emu/code_object.h"
#include "emu/exec/machine.h"
#include "emu/exec/table.h"

namespace emu::exec {

struct Text;

class Program {
 public:
  /// The kernel's program; decoded when its code was not seen before.
  static std::shared_ptr<Program> of(const Kernel& kernel);

  const Op* entry() const { return ops_.data(); }
  const std::vector<Op>& ops() const { return ops_; }
  /// (An operation may be a copy that a handler made, of which only the number of its text is sure to be
  /// right.)
  std::string text(const Op* op) const { return op->text < texts_.size() ? texts_[op->text] : std::string(); }
  /// Vector registers that the instructions name, accumulation registers (from 256 on) included.
  uint32_t vector_registers() const { return vector_registers_; }
  bool calls() const { return calls_; }
  uint32_t lanes() const { return lanes_; }
  const std::byte* code() const { return code_.data(); }
  uint64_t base() const { return base_; }

  /// The operation at a code address, in this kernel or in a function that is decoded now; null outside the
  /// text.
  const Op* find(uint64_t address);
  /// Whoever holds this operation: this program or one of its functions.
  const Program& owner(const Op* op) const;

  /// Decoding; to be used by the function of() and by tests.
  Program(const Kernel& kernel, const std::byte* begin, const std::byte* end, bool function);

 private:
  friend class Decoder;
  const Kernel kernel_;
  uint64_t base_;
  uint32_t lanes_, generation_;
  std::vector<std::byte> code_;  // a copy, to see whether the same address holds other code later
  std::vector<Op> ops_;
  std::vector<std::string> texts_;
  std::unordered_map<uint32_t, uint32_t> at_;  // byte offset -> index of the operation
  std::deque<std::array<uint32_t, 64>> rows_;
  std::map<uint64_t, const uint32_t*> row_of_;
  std::deque<Dpp> dpps_;
  uint32_t vector_registers_ = 0;
  bool calls_ = false;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Program>> functions_;
};

/// "gfx1100" -> 11.
uint32_t generation_of(const Kernel& kernel);

}  // namespace emu::exec
