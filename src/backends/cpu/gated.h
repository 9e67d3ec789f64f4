// SPDX-License-Identifier: Apache-2.0
// A unary operation times a factor, as feed-forward blocks gate what they compute.
#pragma once

#include "backends/backend.h"
#include "backends/cpu/kernels/binary.h"
#include "backends/cpu/kernels/unary.h"

namespace beeswax::cpu {

/// y = op(x) * factor of dense elements, in the bits of the two operations. What the first gives stays in the
/// first cache. y may be x, not factor; with past_caches it begins with a line, and the caller fences.
class Gated {
 public:
  Gated(UnaryOp op, DType dtype);
  void operator()(const void* x, const void* factor, void* y, int64_t count, bool past_caches) const;

 private:
  UnaryLoop first_;
  BinaryLoop second_;
  int64_t element_bytes_;
};

}  // namespace beeswax::cpu
