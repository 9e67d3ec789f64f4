// SPDX-License-Identifier: Apache-2.0
// Pool: device memory between the driver and storages. Freed blocks are kept by size and used again without
// asking the driver, whose own release stops the device. All of a device's work runs in the order of one
// stream, so a block may be used again at once: what was submitted before it was freed runs before what uses
// it next.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/gpu/driver.h"

namespace beeswax::gpu {

class Pool {
 public:
  struct Statistics {
    size_t used_bytes = 0;    ///< in blocks that storages hold
    size_t kept_bytes = 0;    ///< in blocks that wait for use
    size_t peak_bytes = 0;    ///< the most that was used
    size_t driver_calls = 0;  ///< blocks asked of the driver
  };

  Pool(const Driver& driver, int device) : driver_(driver), device_(device) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// At least `bytes`, 256-byte aligned. When the driver has none left, gives it back what is kept and tries
  /// once more. Throws OutOfMemory.
  void* take(size_t bytes);
  void give(void* data);
  /// Gives blocks that wait for use back to the driver.
  void trim();
  /// The most that may be used and kept together; 0: no limit but the device's.
  void set_limit(size_t bytes);
  Statistics statistics() const;

 private:
  void release_kept();
  const Driver& driver_;
  int device_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, size_t> sizes_;              // every block of ours
  std::unordered_map<size_t, std::vector<void*>> kept_;  // by size
  Statistics statistics_;
  size_t limit_ = 0;
};

}  // namespace beeswax::gpu
