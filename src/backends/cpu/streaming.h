// SPDX-License-Identifier: Apache-2.0
// When a result is written past the caches.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/os/cpu.h"

namespace beeswax::cpu {

/// Whether an output of `bytes` is so large that the next reader would not find it in a cache anyway. Then
/// stores that bypass the caches save reading each line before it is overwritten: a third of a copy's
/// traffic.
inline bool beyond_caches(size_t bytes) {
  static const size_t limit = std::max<size_t>(size_t{4} << 20, os::last_level_cache_bytes() / 4);
  return bytes > limit;
}

}  // namespace beeswax::cpu
