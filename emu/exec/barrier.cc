// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/barrier.h"

#include "emu/exec/service.h"

namespace emu::exec {
namespace {

// Wave::barrier_epoch: the barrier that the wave signaled last, counted from 1, and whether it has waited for
// it.
constexpr uint32_t kPassed = 1u << 31;

uint32_t signaled(const Wave& w) { return w.barrier_epoch & ~kPassed; }

struct Count {
  uint32_t members = 0, signals = 0;
};
Count count(const Group& group) {
  Count c;
  for (uint32_t i = 0; i < group.wave_count; ++i) {
    const Wave& w = group.waves[i];
    if (w.state == State::Ended) continue;
    ++c.members;
    c.signals += signaled(w) == group.epoch + 1;
  }
  return c;
}
void complete_if_all_signaled(Group& group) {
  const Count c = count(group);
  if (c.members != 0 && c.signals == c.members) ++group.epoch;
}

}  // namespace

bool signal_barrier(Wave& w) {
  Group& group = *w.group;
  const bool first = count(group).signals == 0;
  w.barrier_epoch = group.epoch + 1;
  complete_if_all_signaled(group);
  return first;
}

uint32_t barrier_state(const Wave& w) {
  const Count c = count(*w.group);
  return 1 | c.members << 4 | c.signals << 16;
}

void wait_at_barrier(Wave& w, const Op* op) {
  if (w.barrier_epoch == 0 || (w.barrier_epoch & kPassed) != 0)
    raise(w, op, Fault::Kind::DivergentBarrier, -1, 0,
          "the wave waits for a barrier that it has not signaled");
  w.state = State::Waiting;
  w.pc = op + 1;
}

void release_waves(Group& group, bool race) {
  // Whoever ended is no longer waited for.
  complete_if_all_signaled(group);
  for (uint32_t i = 0; i < group.wave_count; ++i) {
    Wave& w = group.waves[i];
    if (w.state != State::Waiting || group.epoch < signaled(w)) continue;
    if (race) {
      for (uint32_t other = 0; other < group.wave_count; ++other)
        if (group.waves[other].state == State::Ended && signaled(group.waves[other]) < signaled(w))
          raise(w, w.pc - 1, Fault::Kind::DivergentBarrier, -1, 0,
                "another wave of the group ended without reaching this barrier");
      const uint64_t missing = w.existing & ~word64(w.s + kExec);
      if (missing != 0)
        raise(w, w.pc - 1, Fault::Kind::DivergentBarrier, __builtin_ctzll(missing), 0,
              "lanes of the wave are not at this barrier");
    }
    w.barrier_epoch |= kPassed;
    w.state = State::Ready;
  }
}

}  // namespace emu::exec
