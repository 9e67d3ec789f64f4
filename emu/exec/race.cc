// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/race.h"

#include <algorithm>
#include <cstdio>

#include "emu/exec/grid_sync.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace {

constexpr uint64_t kLine = RaceLine::kBytes;

/// `count` bytes from `first` on, as far as they lie in the line.
uint64_t mask_of(unsigned first, uint64_t count) {
  return (count >= kLine ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << first;
}

/// Of the same wave, between the same barriers and atomics: one entry holds both.
bool same_entry(const LineAccess& a, const LineAccess& b) {
  return a.group == b.group && a.wave == b.wave && a.epoch == b.epoch && a.atomics == b.atomics &&
         a.grid == b.grid && a.atomic == b.atomic;
}
/// Of two waves of a group with no barrier between.
bool side_by_side(const LineAccess& a, const LineAccess& b) {
  return a.group == b.group && a.epoch == b.epoch && a.wave != b.wave;
}

/// Whether the earlier access and this one can happen at the same time.
template <class HandedOver>
bool unordered(const LineAccess& before, const LineAccess& now, const HandedOver& handed_over) {
  if (!(before.bytes & now.bytes) || (before.atomic && now.atomic)) return false;
  if (before.group == now.group) return before.wave != now.wave && before.epoch == now.epoch;
  return !handed_over(before);
}

/// The first access of these that the new one races with; null where there is none.
template <class HandedOver>
const LineAccess* rival(const LineAccess* of, uint32_t count, const LineAccess& now,
                        const HandedOver& handed_over) {
  for (const LineAccess* end = of + count; of != end; ++of)
    if (unordered(*of, now, handed_over)) return of;
  return nullptr;
}
template <class HandedOver>
const LineAccess* rival(const RaceLine& line, const LineAccess& now, bool writes,
                        const HandedOver& handed_over, const char** what = nullptr) {
  const LineAccess* found = rival(line.write, line.writers, now, handed_over);
  if (what != nullptr) *what = found != nullptr ? "write" : "read";
  return found == nullptr && writes ? rival(line.read, line.readers, now, handed_over) : found;
}

/// Notes the access. It stands for what came before it on the same bytes, but for accesses that nothing
/// orders with it: a third one may race with those alone. beside: keeps those of other waves of the group;
/// others: so many of other groups, the oldest come first.
void note(LineAccess* places, uint32_t& count, uint32_t room, const LineAccess& now, bool beside,
          uint32_t others) {
  bool merged = false;
  uint32_t kept = 0, too_many = 0;
  if (others > 0)
    for (uint32_t i = 0; i < count; ++i) too_many += places[i].group != now.group;
  too_many = too_many > others ? too_many - others : 0;
  for (uint32_t i = 0; i < count; ++i) {
    LineAccess& place = places[i];
    const bool other = others > 0 && place.group != now.group;
    if (!merged && same_entry(place, now)) {
      place.bytes |= now.bytes;
      merged = true;
    } else if (other ? too_many > 0 : !beside || !side_by_side(place, now)) {
      too_many -= other;
      place.bytes &= ~now.bytes;
      if (place.bytes == 0) continue;
    }
    if (kept != i) places[kept] = place;
    ++kept;
  }
  if (!merged) {
    if (kept == room) {
      std::copy(places + 1, places + room, places);
      --kept;
    }
    places[kept++] = now;
  }
  count = kept;
}
void note(RaceLine& line, const LineAccess& now, bool writes) {
  if (writes)
    note(line.write, line.writers, RaceLine::kWriters, now, now.atomic, 0);
  else
    note(line.read, line.readers, RaceLine::kReaders, now, true, RaceLine::kOthers);
}

[[noreturn]] void report(const Wave& w, const Op* op, int lane, uint64_t address, const LineAccess& before,
                         const char* first, const char* second) {
  const Launch& launch = *w.group->launch;
  char text[200];
  const uint32_t g = before.group - 1;
  std::snprintf(
      text, sizeof(text),
      "%s after a %s of the same bytes by wave %u of group (%u, %u, %u), with nothing that orders them",
      second, first, before.wave, g % launch.grid[0], g / launch.grid[0] % launch.grid[1],
      g / launch.grid[0] / launch.grid[1]);
  raise(w, op, Fault::Kind::DataRace, lane, address, text);
}

LineAccess access_of(const Wave& w, bool atomic) {
  LineAccess now{};
  now.group = w.group->linear + 1;
  now.epoch = w.group->epoch;
  now.wave = uint8_t(w.id);
  now.atomic = atomic;
  return now;
}

/// f(number of the line, mask of its bytes) for each line of a range, until it is false.
template <class F>
bool each_line(uint64_t address, uint64_t bytes, const F& f) {
  for (uint64_t at = address, end = address + bytes; at < end; at = (at / kLine + 1) * kLine)
    if (!f(at / kLine, mask_of(unsigned(at % kLine), end - at))) return false;
  return true;
}

/// The lanes' accesses: neighbours that fall into one line go together. line_of: the line of a number.
template <class Address, class LineOf, class HandedOver>
void touch(Wave& w, const Op* op, const Address* addresses, uint64_t lanes, uint32_t bytes, LineAccess now,
           bool writes, const LineOf& line_of, const HandedOver& handed_over) {
  const auto touch_line = [&](uint64_t number, uint64_t mask, uint64_t among) {
    RaceLine& line = line_of(number);
    now.bytes = mask;
    const char* what = nullptr;
    if (const LineAccess* before = rival(line, now, writes, handed_over, &what)) [[unlikely]] {
      for (uint64_t rest = among; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        bool meets = false;
        each_line(addresses[lane], bytes, [&](uint64_t n, uint64_t m) {
          meets |= n == number && (m & before->bytes);
          return true;
        });
        if (meets) report(w, op, lane, addresses[lane], *before, what, writes ? "write" : "read");
      }
    }
    note(line, now, writes);
  };
  const uint64_t one = mask_of(0, bytes);
  for (uint64_t rest = lanes; rest;) {
    const uint64_t first = addresses[__builtin_ctzll(rest)], number = first / kLine;
    uint64_t mask = 0, among = 0;
    for (; rest; rest &= rest - 1) {
      const uint64_t address = addresses[__builtin_ctzll(rest)];
      if (address / kLine != number || address % kLine + bytes > kLine) break;
      mask |= one << address % kLine;
      among |= rest & -rest;
    }
    if (among) {
      touch_line(number, mask, among);
    } else {  // over the end of its line
      const uint64_t lane = rest & -rest;
      each_line(first, bytes, [&](uint64_t n, uint64_t m) {
        touch_line(n, m, lane);
        return true;
      });
      rest &= rest - 1;
    }
  }
}

/// LDS has accesses of one group only.
constexpr auto kOneGroup = [](const LineAccess&) { return true; };

}  // namespace

/// A place of the table, held until another line is wanted.
class RaceTable::Locked {
 public:
  explicit Locked(RaceTable& table) : table_(table) {}
  ~Locked() { release(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  RaceLine& line(uint64_t number) {
    const size_t at = (number ^ number >> 13) % kPlaces;
    RaceLine& known = table_.lines_[at];
    Place& place = table_.places_[at];
    if (held_ != &place) {
      release();
      while (place.busy.exchange(true, std::memory_order_acquire)) {
      }
      held_ = &place;
    }
    if (place.line != number) {
      place.line = number;
      known.writers = known.readers = 0;
    }
    return known;
  }

 private:
  void release() {
    if (held_ != nullptr) held_->busy.store(false, std::memory_order_release);
    held_ = nullptr;
  }
  RaceTable& table_;
  Place* held_ = nullptr;
};

LineAccess RaceTable::access_now(const Wave& w, bool atomic) const {
  LineAccess now = access_of(w, atomic);
  now.atomics = atomics_[w.group->linear].load(std::memory_order_relaxed);
  now.grid = barriers_[w.group->linear].load(std::memory_order_relaxed);
  return now;
}

void RaceTable::come_to_grid_barrier(uint32_t group) {
  if (barriers_[group].load(std::memory_order_relaxed) != kManyBarriers)
    barriers_[group].fetch_add(1, std::memory_order_relaxed);
}

void RaceTable::access(Wave& w, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
                       Memory::Access kind) {
  if (lanes == 0) return;
  const bool atomic = kind == Memory::Access::Atomic;
  if (const HostSide::Range* range = own(addresses[__builtin_ctzll(lanes)])) {
    // The last group finds all there, and lets them go by a second atomic.
    const bool all_there = range->grid_sync && (__atomic_load_n(host_->grid_counter, __ATOMIC_RELAXED) &
                                                GridSync::kCountMask) == barriers_.size();
    if (range->grid_sync && atomic && !all_there) come_to_grid_barrier(w.group->linear);
    return;
  }
  if (atomic) atomics_[w.group->linear].fetch_add(1, std::memory_order_relaxed);
  const LineAccess now = access_now(w, atomic);
  Locked place(*this);
  touch(
      w, op, addresses, lanes, bytes, now, kind != Memory::Access::Read,
      [&](uint64_t number) -> RaceLine& { return place.line(number); },
      [&](const LineAccess& before) { return handed_over(before, now); });
}

bool RaceTable::range(const Wave& w, uint64_t address, uint32_t bytes, bool writes) {
  if (own(address) != nullptr) return true;
  LineAccess now = access_now(w, false);
  Locked place(*this);
  return each_line(address, bytes, [&](uint64_t number, uint64_t mask) {
    RaceLine& line = place.line(number);
    now.bytes = mask;
    if (rival(line, now, writes, [&](const LineAccess& before) { return handed_over(before, now); }) !=
        nullptr)
      return false;
    note(line, now, writes);
    return true;
  });
}

const HostSide::Range* RaceTable::own(uint64_t address) const {
  if (host_ == nullptr) return nullptr;
  const auto found = std::find_if(host_->own.begin(), host_->own.end(), [address](const auto& range) {
    return address - range.begin < range.bytes;
  });
  return found == host_->own.end() ? nullptr : &*found;
}

void RaceTable::forget(uint64_t address, uint64_t bytes) {
  Locked place(*this);
  const uint64_t first = address / kLine, last = (address + bytes + kLine - 1) / kLine;
  for (uint64_t number = first; number < last && number < first + kPlaces; ++number) {
    RaceLine& line = place.line(number);
    line.writers = line.readers = 0;
  }
}

void LdsRaces::reset(uint32_t bytes) {
  lines_.resize(bytes / kLine + 1);
  for (RaceLine& line : lines_) line.writers = line.readers = 0;
}

void LdsRaces::access(Wave& w, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                      Memory::Access kind) {
  touch(
      w, op, offsets, lanes, bytes, access_of(w, kind == Memory::Access::Atomic),
      kind != Memory::Access::Read, [&](uint64_t number) -> RaceLine& { return lines_[number]; }, kOneGroup);
}

bool LdsRaces::range(const Wave& w, uint32_t offset, uint32_t bytes, bool writes) {
  LineAccess now = access_of(w, false);
  return each_line(offset, bytes, [&](uint64_t number, uint64_t mask) {
    now.bytes = mask;
    if (rival(lines_[number], now, writes, kOneGroup) != nullptr) return false;
    note(lines_[number], now, writes);
    return true;
  });
}

}  // namespace emu::exec
