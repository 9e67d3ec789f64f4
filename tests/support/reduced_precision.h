// SPDX-License-Identifier: Apache-2.0
// ReducedPrecision: products of f32 by fewer bits, while it lives.
#pragma once

#include "beeswax/system.h"

namespace beeswax::test {

class ReducedPrecision {
 public:
  explicit ReducedPrecision(bool allowed) { set_reduced_precision_f32(allowed); }
  ~ReducedPrecision() { set_reduced_precision_f32(false); }
  ReducedPrecision(const ReducedPrecision&) = delete;
  ReducedPrecision& operator=(const ReducedPrecision&) = delete;
};

}  // namespace beeswax::test
