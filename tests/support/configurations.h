// SPDX-License-Identifier: Apache-2.0
// The same work under several thread counts and instruction-set levels: results must be the same bits.
#pragma once

#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/isa_levels.h"

namespace beeswax::test {

/// Expects make() to give the same bytes with 1, 2 and 3 threads and at every level this machine runs; on a
/// GPU, once more.
template <class Make>
void expect_same_everywhere(Make&& make) {
  const std::vector<std::byte> expected = make().to_bytes();
  at_every_level([&](cpu::Isa level) {
    with_threads({1, 2, 3}, [&](int threads) {
      EXPECT_EQ(make().to_bytes(), expected) << cpu::isa_name(level) << ", " << threads << " threads";
    });
  });
}

}  // namespace beeswax::test
