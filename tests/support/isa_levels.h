// SPDX-License-Identifier: Apache-2.0
// The instruction-set levels and thread counts that tests compare. A GPU's kernels know neither: where it is
// the default device, work is done once instead.
#pragma once

#include <initializer_list>
#include <vector>

#include "backends/cpu/isa.h"
#include "beeswax/device.h"
#include "core/thread_pool.h"

namespace beeswax {

inline std::vector<cpu::Isa> all_levels() {
  std::vector<cpu::Isa> levels;
  for (const cpu::Isa level : {cpu::Isa::base, cpu::Isa::v3, cpu::Isa::v4})
    if (level <= cpu::best_isa()) levels.push_back(level);
  return levels;
}

/// Calls fn(level) at every level that this machine runs; then the level is what it was.
template <class Fn>
void at_every_level(Fn&& fn) {
  const cpu::Isa before = cpu::isa();
  if (!Device::default_device().is_cpu()) return fn(before);
  for (const cpu::Isa level : all_levels()) {
    cpu::set_isa(level);
    fn(level);
  }
  cpu::set_isa(before);
}

/// Calls fn(count) with each number of threads; then there are as many as before.
template <class Fn>
void with_threads(std::initializer_list<int> counts, Fn&& fn) {
  const int before = ThreadPool::global().threads();
  if (!Device::default_device().is_cpu()) return fn(before);
  for (const int count : counts) {
    ThreadPool::global().set_threads(count);
    fn(count);
  }
  ThreadPool::global().set_threads(before);
}

}  // namespace beeswax
