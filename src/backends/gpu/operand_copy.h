// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/backend.h"

namespace beeswax::gpu {

/// An operand as a kernel or a library takes it: itself, or a copy for the length of a call.
class OperandCopy {
 public:
  /// x itself; its layout must live on.
  explicit OperandCopy(const Operand& x) : operand_(x) {}
  /// A copy of x with its elements where `layout`, which has x's shape and begins at 0, has them; `elements`
  /// are those of its memory.
  OperandCopy(Backend& backend, const Operand& x, const Layout& layout, int64_t elements);
  OperandCopy(const OperandCopy&) = delete;
  OperandCopy& operator=(const OperandCopy&) = delete;

  const Operand& operand() const { return operand_; }
  const std::byte* data() const { return operand_.data(); }

 private:
  Layout layout_;
  Operand operand_;
  detail::Ref<Storage> storage_;
};

/// x with its elements in order, without gaps, and from an address that `alignment` divides.
OperandCopy dense_or_copy(Backend& backend, const Operand& x, int64_t alignment = 1);

}  // namespace beeswax::gpu
