// SPDX-License-Identifier: Apache-2.0
// When a result is written past the caches.
#pragma once

#include <algorithm>
#include <cstddef>

#include "backends/cpu/kernels/copy.h"
#include "core/os/cpu.h"

namespace beeswax::cpu {

/// Whether an output of `bytes` is so large that the next reader would not find it in a cache anyway. Then
/// stores that bypass the caches save reading each line before it is overwritten: a third of a copy's
/// traffic.
inline bool beyond_caches(size_t bytes) {
  static const size_t limit = std::max<size_t>(size_t{4} << 20, os::last_level_cache_bytes() / 4);
  return bytes > limit;
}

/// Where a task puts the next part of a dense output that it makes from left to right: straight into the
/// output, or into a small buffer that goes past the caches when it is full.
class DenseWriter {
 public:
  static constexpr int64_t kBytes = 8192;  // most of one part
  DenseWriter(std::byte* to, bool past_caches) : to_(to), past_caches_(past_caches) {}
  ~DenseWriter() {
    if (past_caches_) copy_kernels().fence();
  }
  DenseWriter(const DenseWriter&) = delete;
  DenseWriter& operator=(const DenseWriter&) = delete;

  /// Calls make(where) to write `bytes` <= kBytes there.
  template <class Make>
  void write(int64_t bytes, Make&& make) {
    if (past_caches_) {
      alignas(64) std::byte part[kBytes];
      make(part);
      copy_kernels().stream(to_, part, static_cast<size_t>(bytes));
    } else {
      make(to_);
    }
    to_ += bytes;
  }

 private:
  std::byte* to_;
  bool past_caches_;
};

}  // namespace beeswax::cpu
