// SPDX-License-Identifier: Apache-2.0
// gfx12's barrier of the work-group in two halves: a wave signals, goes on, and waits later. AMD's
// pseudo-code of S_BARRIER_SIGNAL and S_BARRIER_WAIT says when it is complete: when as many waves have
// signaled as there are.
#pragma once
#include "emu/exec/machine.h"

namespace emu::exec {

/// Counts the wave's signal; whether it is the first one since the last barrier.
bool signal_barrier(Wave& wave);
/// As s_get_barrier_state has it: valid, members from bit 4, signals from bit 16.
uint32_t barrier_state(const Wave& wave);
/// Puts the wave to rest behind `op` until the barrier that it signaled is complete. A wave that has not
/// signaled would wait forever: a fault.
void wait_at_barrier(Wave& wave, const Op* op);
/// Waves whose barrier is complete go on. `race`: it is a fault when lanes of one are not there, or a wave of
/// the group ended before it.
void release_waves(Group& group, bool race);

}  // namespace emu::exec
