// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/race.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "emu/exec/service.h"

namespace emu::exec {
namespace {

/// The bytes of the word that the access touches.
uint8_t mask_of(uint64_t address, uint32_t bytes, uint64_t word) {
  const uint64_t begin = word * 4, end = address + bytes;
  const unsigned from = address > begin ? unsigned(address - begin) : 0,
                 to = end < begin + 4 ? unsigned(end - begin) : 4;
  return uint8_t((15u << from) & (15u >> (4 - to)));
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

void put(LastAccess& place, const LastAccess& now) {
  // Bytes that the same wave touched before stay known.
  const bool same = place.group == now.group && place.wave == now.wave && place.epoch == now.epoch &&
                    place.atomic == now.atomic;
  const uint8_t bytes = same ? uint8_t(place.bytes | now.bytes) : now.bytes;
  place = now;
  place.bytes = bytes;
}
void split(RaceLine& line) {
  if (line.split) return;
  std::fill(line.write + 1, line.write + RaceLine::kWords, line.write[0]);
  std::fill(line.read + 1, line.read + RaceLine::kWords, line.read[0]);
  line.split = true;
}

template <class HandedOver>
void touch(Wave& w, const Op* op, int lane, uint64_t address, RaceLine& line, uint64_t word,
           const LastAccess& now, bool writes, const HandedOver& handed_over) {
  split(line);
  LastAccess &write = line.write[word % RaceLine::kWords], &read = line.read[word % RaceLine::kWords];
  if (unordered(write, now, handed_over))
    report(w, op, lane, address, write, "write", writes ? "write" : "read", *w.group->launch);
  if (writes && unordered(read, now, handed_over))
    report(w, op, lane, address, read, "read", "write", *w.group->launch);
  put(writes ? write : read, now);
}

/// Whole words of one line; false, and nothing is noted, where there is a race.
template <class HandedOver>
bool touch_words(RaceLine& line, unsigned first, unsigned count, const LastAccess& now, bool writes,
                 const HandedOver& handed_over) {
  const bool whole = count == RaceLine::kWords;
  if (!whole) split(line);
  const unsigned end = line.split ? first + count : 1;
  for (unsigned i = first; i < end; ++i)
    if (unordered(line.write[i], now, handed_over) || (writes && unordered(line.read[i], now, handed_over)))
      return false;
  LastAccess *places = writes ? line.write : line.read, *others = writes ? line.read : line.write;
  for (unsigned i = first; i < end; ++i) put(places[i], now);
  if (whole && line.split)
    line.split = std::any_of(others, others + RaceLine::kWords, [&](const LastAccess& other) {
      return std::memcmp(&other, others, sizeof(other)) != 0;
    });
  return true;
}

LastAccess access_of(const Wave& w, uint8_t bytes, bool atomic) {
  LastAccess now;
  now.group = w.group->linear + 1;
  now.epoch = w.group->epoch;
  now.wave = uint16_t(w.id);
  now.bytes = bytes;
  now.atomic = atomic;
  return now;
}

/// f(number of the line, first word in it, words) for each line of a range of whole words, until it is false.
template <class F>
bool each_line(uint64_t address, uint32_t bytes, const F& f) {
  if ((address | bytes) % 4 != 0) return false;
  const uint64_t end = (address + bytes) / 4;
  for (uint64_t word = address / 4; word < end;) {
    const uint64_t line = word / RaceLine::kWords, next = std::min(end, (line + 1) * RaceLine::kWords);
    if (!f(line, unsigned(word % RaceLine::kWords), unsigned(next - word))) return false;
    word = next;
  }
  return true;
}
/// LDS has accesses of one group only.
constexpr auto kOneGroup = [](const LastAccess&) { return true; };

}  // namespace

/// A place of the table, held until another line is wanted.
class RaceTable::Locked {
 public:
  explicit Locked(std::vector<Place>& places) : places_(places) {}
  ~Locked() { release(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  RaceLine& line(uint64_t number) {
    if (held_ != nullptr && held_->line == number) return held_->words;
    release();
    Place& place = places_[(number ^ number >> 13) % kPlaces];
    while (place.busy.exchange(true, std::memory_order_acquire)) {
    }
    held_ = &place;
    if (place.line != number) {
      place.line = number;
      place.words = RaceLine();
    }
    return place.words;
  }

 private:
  void release() {
    if (held_ != nullptr) held_->busy.store(false, std::memory_order_release);
    held_ = nullptr;
  }
  std::vector<Place>& places_;
  Place* held_ = nullptr;
};

void RaceTable::access(Wave& w, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
                       Memory::Access kind) {
  LastAccess now = access_of(w, 0, kind == Memory::Access::Atomic);
  if (now.atomic) atomics_[w.group->linear].fetch_add(1, std::memory_order_relaxed);
  now.atomics = atomics_[w.group->linear].load(std::memory_order_relaxed);
  const bool acquired = now.atomics != 0;
  const auto handed_over = [&](const LastAccess& before) {
    return acquired && atomics_[before.group - 1].load(std::memory_order_relaxed) > before.atomics;
  };
  Locked place(places_);
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    const uint64_t address = addresses[lane];
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      now.bytes = mask_of(address, bytes, word);
      touch(w, op, lane, address, place.line(word / RaceLine::kWords), word, now,
            kind != Memory::Access::Read, handed_over);
    }
  }
}

bool RaceTable::range(const Wave& w, uint64_t address, uint32_t bytes, bool writes) {
  LastAccess now = access_of(w, 15, false);
  now.atomics = atomics_[w.group->linear].load(std::memory_order_relaxed);
  const auto handed_over = [&](const LastAccess& before) {
    return now.atomics != 0 && atomics_[before.group - 1].load(std::memory_order_relaxed) > before.atomics;
  };
  Locked place(places_);
  return each_line(address, bytes, [&](uint64_t line, unsigned first, unsigned count) {
    return touch_words(place.line(line), first, count, now, writes, handed_over);
  });
}

void LdsRaces::reset(uint32_t bytes) { lines_.assign(bytes / (4 * RaceLine::kWords) + 1, RaceLine()); }

void LdsRaces::access(Wave& w, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                      Memory::Access kind) {
  LastAccess now = access_of(w, 0, kind == Memory::Access::Atomic);
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    const uint64_t address = offsets[lane];
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      now.bytes = mask_of(address, bytes, word);
      touch(w, op, lane, address, lines_[word / RaceLine::kWords], word, now, kind != Memory::Access::Read,
            kOneGroup);
    }
  }
}

bool LdsRaces::range(const Wave& w, uint32_t offset, uint32_t bytes, bool writes) {
  const LastAccess now = access_of(w, 15, false);
  return each_line(offset, bytes, [&](uint64_t line, unsigned first, unsigned count) {
    return touch_words(lines_[line], first, count, now, writes, kOneGroup);
  });
}

}  // namespace emu::exec
