// SPDX-License-Identifier: Apache-2.0
// The loops behind the ceilings, one list of variants for each.
#pragma once

#include <cstdint>
#include <vector>

#include "ceiling.h"

namespace beeswax::bench {

/// out[0, bytes) from a and b, whichever the ceiling uses; bytes is a multiple of 4096, all 64-byte aligned.
/// A narrowing loop reads `bytes` and writes a part of that.
/// What is only read is reduced to the result, so that no read can be left out.
using MemoryLoop = uint64_t (*)(std::byte* out, const std::byte* a, const std::byte* b, int64_t bytes);
struct MemoryVariant {
  const char* name;
  MemoryLoop loop;
};

/// Runs `rounds` rounds of `operations` operations each.
using ArithmeticLoop = uint64_t (*)(int64_t rounds);
struct ArithmeticVariant {
  const char* name;
  ArithmeticLoop loop;
  double operations;
};

/// The variants that the instruction-set level in use allows.
std::vector<MemoryVariant> memory_variants(Ceiling ceiling);
std::vector<ArithmeticVariant> arithmetic_variants(Ceiling ceiling);

}  // namespace beeswax::bench
