// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/race.h"

#include <cstdio>

#include "emu/exec/service.h"

namespace emu::exec {
namespace {

uint8_t mask_of(uint64_t address, uint32_t bytes, uint64_t word) {
  uint8_t mask = 0;
  for (uint64_t b = 0; b < 4; ++b)
    if (word * 4 + b >= address && word * 4 + b < address + bytes) mask |= uint8_t(1u << b);
  return mask;
}

/// Whether the earlier access and this one can happen at the same time.
template <class HandedOver>
bool unordered(const LastAccess& before, const LastAccess& now, const HandedOver& handed_over) {
  if (before.group == 0 || !(before.bytes & now.bytes) || (before.atomic && now.atomic)) return false;
  if (before.group == now.group) return before.wave != now.wave && before.epoch == now.epoch;
  return !handed_over(before);
}

[[noreturn]] void report(const Wave& w, const Op* op, int lane, uint64_t address, const LastAccess& before,
                         const char* first, const char* second, const Launch& launch) {
  char text[200];
  const uint32_t g = before.group - 1;
  std::snprintf(
      text, sizeof(text),
      "%s after a %s of the same bytes by wave %u of group (%u, %u, %u), with nothing that orders them",
      second, first, before.wave, g % launch.grid[0], g / launch.grid[0] % launch.grid[1],
      g / launch.grid[0] / launch.grid[1]);
  raise(w, op, Fault::Kind::DataRace, lane, address, text);
}

template <class HandedOver>
void touch(Wave& w, const Op* op, int lane, uint64_t address, LastAccess& write, LastAccess& read,
           const LastAccess& now, bool writes, const HandedOver& handed_over) {
  if (unordered(write, now, handed_over))
    report(w, op, lane, address, write, "write", writes ? "write" : "read", *w.group->launch);
  if (writes && unordered(read, now, handed_over))
    report(w, op, lane, address, read, "read", "write", *w.group->launch);
  LastAccess& place = writes ? write : read;
  // Bytes that the same wave touched before stay known.
  const uint8_t bytes = place.group == now.group && place.wave == now.wave && place.epoch == now.epoch &&
                                place.atomic == now.atomic
                            ? uint8_t(place.bytes | now.bytes)
                            : now.bytes;
  place = now;
  place.bytes = bytes;
}

}  // namespace

void RaceTable::access(Wave& w, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
                       Memory::Access kind) {
  LastAccess now;
  now.group = w.group->linear + 1;
  now.wave = w.id;
  now.epoch = w.group->epoch;
  now.atomic = kind == Memory::Access::Atomic;
  if (now.atomic) atomics_[w.group->linear].fetch_add(1, std::memory_order_relaxed);
  now.atomics = atomics_[w.group->linear].load(std::memory_order_relaxed);
  const bool acquired = now.atomics != 0;
  const auto handed_over = [&](const LastAccess& before) {
    return acquired && atomics_[before.group - 1].load(std::memory_order_relaxed) > before.atomics;
  };
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    const uint64_t address = addresses[lane];
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      RaceCell& cell = cells_[(word ^ word >> 17) % kCells];
      while (cell.busy.exchange(true, std::memory_order_acquire)) {
      }
      struct Unlock {
        RaceCell& cell;
        ~Unlock() { cell.busy.store(false, std::memory_order_release); }
      } unlock{cell};
      if (cell.word != word) {
        cell.word = word;
        cell.write = cell.read = LastAccess();
      }
      now.bytes = mask_of(address, bytes, word);
      touch(w, op, lane, address, cell.write, cell.read, now, kind != Memory::Access::Read, handed_over);
    }
  }
}

void LdsRaces::reset(uint32_t bytes) { cells_.assign(bytes / 4 + 1, Cell()); }

void LdsRaces::access(Wave& w, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                      Memory::Access kind) {
  LastAccess now;
  now.group = w.group->linear + 1;
  now.wave = w.id;
  now.epoch = w.group->epoch;
  now.atomic = kind == Memory::Access::Atomic;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    const uint64_t address = offsets[lane];
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      now.bytes = mask_of(address, bytes, word);
      Cell& cell = cells_[word];
      touch(w, op, lane, address, cell.write, cell.read, now, kind != Memory::Access::Read,
            [](const LastAccess&) { return true; });
    }
  }
}

}  // namespace emu::exec
