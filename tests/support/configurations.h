// SPDX-License-Identifier: Apache-2.0
// The same work under several thread counts and instruction-set levels: results must be the same bits.
#pragma once

#include <gtest/gtest.h>

#include "backends/cpu/isa.h"
#include "beeswax/tensor.h"
#include "core/thread_pool.h"

namespace beeswax::test {

/// Expects make() to give the same bytes with 1, 2 and 3 threads and at every level this machine runs.
template <class Make>
void expect_same_everywhere(Make&& make) {
  const cpu::Isa level_before = cpu::isa();
  const int threads_before = ThreadPool::global().threads();
  const std::vector<std::byte> expected = make().to_bytes();
  for (cpu::Isa level : {cpu::Isa::base, cpu::Isa::v3, cpu::Isa::v4}) {
    if (level > cpu::best_isa()) continue;
    cpu::set_isa(level);
    for (int threads : {1, 2, 3}) {
      ThreadPool::global().set_threads(threads);
      EXPECT_EQ(make().to_bytes(), expected) << cpu::isa_name(level) << ", " << threads << " threads";
    }
  }
  cpu::set_isa(level_before);
  ThreadPool::global().set_threads(threads_before);
}

}  // namespace beeswax::test
