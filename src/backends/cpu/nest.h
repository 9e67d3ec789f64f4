// SPDX-License-Identifier: Apache-2.0
// Gathering strided elements into dense memory.
#pragma once

#include <cstring>

#include "backends/cpu/kernels/copy.h"
#include "backends/nest.h"

namespace beeswax::cpu {

/// log2 of an element's bytes: the index into tables of copy loops.
inline size_t size_class(size_t bytes) { return static_cast<size_t>(__builtin_ctzll(bytes)); }

/// Gathers `count` elements of operand k, from `position` on, into dense memory.
template <int N>
void gather_run(const Nest<N>& nest, NestPosition<N> position, size_t k, const std::byte* base, size_t bytes,
                std::byte* out, int64_t count) {
  const auto strided = copy_kernels().gather[size_class(bytes)];
  while (count > 0) {
    const int64_t run = count < position.left() ? count : position.left();
    const std::byte* from = base + position.offset(k) * static_cast<int64_t>(bytes);
    const int64_t stride = nest.strides[k][nest.last()];
    if (stride == 1) {
      std::memcpy(out, from, static_cast<size_t>(run) * bytes);
    } else {
      strided(out, from, stride, run);
    }
    out += static_cast<size_t>(run) * bytes;
    count -= run;
    position.advance(run);
  }
}

}  // namespace beeswax::cpu
