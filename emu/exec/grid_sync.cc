// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/grid_sync.h"

#include "emu/exec/service.h"
#include "emu/exec/worker.h"

namespace emu::exec {
namespace {

constexpr unsigned kResources = 64;

}  // namespace

GridSync::GridSync(uint64_t groups, const uint32_t* counter)
    : groups_(groups), counter_(counter), resources_(kResources), waits_(groups) {
  resources_[0].counter = uint32_t(groups - 1);
}

void GridSync::set(unsigned resource, uint32_t value) {
  const std::lock_guard lock(mutex_);
  resources_[resource % kResources].counter = value;
}

void GridSync::arrive(Wave& wave, unsigned resource, uint32_t value) {
  const std::lock_guard lock(mutex_);
  Resource& r = resources_[resource % kResources];
  wave.grid_resource = uint8_t(resource % kResources);
  wave.grid_barrier = r.completed;
  if (r.counter != 0) {
    --r.counter;
    const uint32_t group = wave.group->linear;
    r.waiting.push_back(group);
    if (waits_[group]++ == 0) ++waiting_groups_;
    return;
  }
  ++r.completed;
  r.counter = value;
  for (const uint32_t group : r.waiting)
    if (--waits_[group] == 0) --waiting_groups_;
  r.waiting.clear();
}

bool GridSync::passed(const Wave& wave) const {
  const std::lock_guard lock(mutex_);
  return resources_[wave.grid_resource].completed != wave.grid_barrier;
}

void GridSync::end_group(uint32_t group) {
  const std::lock_guard lock(mutex_);
  if (ended_++ == 0) first_ended_ = group;
}

bool GridSync::stuck(uint32_t& ended) const {
  const std::lock_guard lock(mutex_);
  if (ended_ == 0 || ended_ == groups_) return false;
  uint64_t waiting = waiting_groups_;
  if (counter_ != nullptr) waiting += __atomic_load_n(counter_, __ATOMIC_RELAXED) & kCountMask;
  ended = first_ended_;
  return waiting + ended_ >= groups_;
}

namespace {
GridSync& grid_of(const Wave& w, const Op* op) {
  GridSync* grid = w.worker->dispatch->grid.get();
  if (grid == nullptr)
    raise(w, op, Fault::Kind::Unsupported, -1, 0, "barriers of the grid need a cooperative launch");
  return *grid;
}
}  // namespace

void set_grid_barrier(Wave& w, const Op* op, uint32_t resource, uint32_t value) {
  grid_of(w, op).set(resource, value);
}

void wait_at_grid_barrier(Wave& w, const Op* op, uint32_t resource, uint32_t value) {
  GridSync& grid = grid_of(w, op);
  if (w.checker != nullptr && w.checker->races != nullptr)
    w.checker->races->come_to_grid_barrier(w.group->linear);
  w.state = State::Grid;
  w.pc = op + 1;
  grid.arrive(w, resource, value);
}

}  // namespace emu::exec
