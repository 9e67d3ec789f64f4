// SPDX-License-Identifier: Apache-2.0
#include "core/os/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace beeswax::os {
namespace {

constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void* allocate_pages(size_t bytes) {
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : bytes >= kLarge ? 4096 : 64;
  void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#if defined(MADV_HUGEPAGE)
  if (data != nullptr && alignment == kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

void free_pages(void* data, size_t /*bytes*/) { std::free(data); }

size_t physical_memory_bytes() {
  static const size_t bytes = [] {
    const auto pages = sysconf(_SC_PHYS_PAGES);
    const auto page = sysconf(_SC_PAGESIZE);
    size_t total =
        pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : size_t{8} << 30;
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      total = std::min(total, static_cast<size_t>(limit.rlim_cur));
    return total;
  }();
  return bytes;
}

}  // namespace beeswax::os
