// SPDX-License-Identifier: Apache-2.0
// What handlers call for outside their hot path; compiled once, for every processor.
#pragma once
#include "emu/exec/machine.h"
#include "emu/exec/run.h"

namespace emu::exec {

/// Throws Fault with the place filled in. lane, address: -1 and 0 where they do not apply.
[[noreturn]] void raise(const Wave& wave, const Op* op, Fault::Kind kind, int lane, uint64_t address,
                        const char* detail);

/// The operation at a host address of code; decodes functions outside the kernel when they are first reached.
const Op* find_code(Wave& wave, const Op* op, uint64_t address);

/// Checks the lanes' accesses of `bytes` each to device memory; marks what is written as initialized. Lanes
/// that read uninitialized bytes are a fault. low, high: the least and the greatest of the lanes' addresses.
void check_memory(Wave& wave, const Op* op, const uint64_t* addresses, uint64_t lanes, uint64_t low,
                  uint64_t high, uint32_t bytes, Memory::Access access);
void check_memory(Wave& wave, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
                  Memory::Access access);
/// The same for LDS offsets and for private memory; all checked ranges are already inside the segment.
void check_local(Wave& wave, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                 Memory::Access access);
void check_private(Wave& wave, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                   Memory::Access access);
/// The quick ways for lanes one behind the other: whether the whole range may be touched (what is written is
/// marked as initialized, and noted where races are looked for). When false, the checks above say what is
/// wrong, if anything is.
bool check_row(const Wave& wave, uint64_t address, uint32_t bytes, Memory::Access access);
bool check_local_row(const Wave& wave, uint32_t offset, uint32_t bytes, Memory::Access access);
/// One read by the scalar unit into the registers from `first` on; they become as undefined as the memory is.
void check_scalar(Wave& wave, const Op* op, uint64_t address, uint32_t bytes, unsigned first);

/// s_sendmsg: an interrupt has the host answer the calls of waves that are ready (host_calls.cc).
void send_message(Wave& wave, const Op* op);

/// ds_gws_init and ds_gws_barrier (grid_sync.cc): `value` for the resource of a cooperative launch; at a
/// barrier the wave is put to rest behind `op`.
void set_grid_barrier(Wave& wave, const Op* op, uint32_t resource, uint32_t value);
void wait_at_grid_barrier(Wave& wave, const Op* op, uint32_t resource, uint32_t value);

/// Nanoseconds of a clock that only goes forward, for s_memtime and its like.
uint64_t clock_ticks();
uint32_t read_hardware_register(const Wave& wave, const Op* op, uint32_t id);
void write_hardware_register(Wave& wave, const Op* op, uint32_t id, uint32_t mask, uint32_t value);

}  // namespace emu::exec
