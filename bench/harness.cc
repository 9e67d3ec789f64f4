// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <algorithm>
#include <utility>

#include "core/thread_pool.h"

namespace beeswax::bench {
namespace {

std::vector<std::pair<std::string, GroupFn>>& groups() {
  static std::vector<std::pair<std::string, GroupFn>> list;
  return list;
}

int64_t elements(int64_t bytes, DType dtype) {
  const int64_t count = bytes * 8 / dtype_bits(dtype);
  return std::max<int64_t>(4096, count / 4096 * 4096);
}

constexpr int kRepeats = 16;  // of a case in a cache, by each thread

}  // namespace

int64_t Sizes::memory_elements(DType dtype) const { return elements(memory_bytes, dtype); }
double calls_in_cache() { return static_cast<double>(kRepeats * ThreadPool::global().threads()); }
Body on_every_thread(Body body) {
  return [body = std::move(body)] {
    ThreadPool::global().parallel_for(ThreadPool::global().threads(), [&](int64_t) {
      for (int i = 0; i < kRepeats; ++i) body();
    });
  };
}

int64_t Sizes::cache_elements(DType dtype) const { return elements(cache_bytes, dtype); }

void CaseList::add(Case one) {
  one.group = group_;
  cases_.push_back(std::move(one));
}

Registrar::Registrar(const char* group, GroupFn make) { groups().emplace_back(group, make); }

std::vector<Case> all_cases(const Sizes& sizes) {
  std::sort(groups().begin(), groups().end());
  CaseList list;
  for (const auto& [group, make] : groups()) {
    list.set_group(group);
    make(list, sizes);
  }
  return list.cases();
}

}  // namespace beeswax::bench
