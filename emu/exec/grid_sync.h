// SPDX-License-Identifier: Apache-2.0
// Barriers of a whole grid, for launches whose groups all run at once. Device libraries have two ways: global
// wave sync (ds_gws_barrier: one wave of each group waits in hardware), which is here, and a counter in
// memory on which the waves spin (gfx942, gfx11 and later), of which this only knows where it lies. A group
// that ended can come to no barrier any more; who waits for it would wait forever, which is a fault.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "emu/exec/machine.h"

namespace emu::exec {

class GridSync {
 public:
  static constexpr uint32_t kCountMask = 0xffff;  // of the counter in memory: groups that wait

  /// Resource 0 begins ready for a barrier of all groups, as AMD's runtime leaves it. counter: the memory for
  /// the second way (its lower half counts the groups that wait); may be null.
  GridSync(uint64_t groups, const uint32_t* counter);

  /// ds_gws_init.
  void set(unsigned resource, uint32_t value);
  /// ds_gws_barrier: the wave waits, until as many others as the resource counts have come; then it counts
  /// `value` for the next time.
  void arrive(Wave& wave, unsigned resource, uint32_t value);
  /// Whether the wave, which has arrived, goes on.
  bool passed(const Wave& wave) const;

  void end_group(uint32_t group);
  /// Whether the groups that have not ended all wait, though some have ended; `ended` gets one of these.
  bool stuck(uint32_t& ended) const;

 private:
  struct Resource {
    uint32_t counter = 0, completed = 0;
    std::vector<uint32_t> waiting;  // groups of the waves
  };
  const uint64_t groups_;
  const uint32_t* const counter_;
  mutable std::mutex mutex_;
  std::vector<Resource> resources_;
  std::vector<uint32_t> waits_;  // by group: its waves that wait here
  uint64_t waiting_groups_ = 0, ended_ = 0;
  uint32_t first_ended_ = 0;
};

}  // namespace emu::exec
