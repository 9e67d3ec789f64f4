// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/worker.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>

#include "emu/exec/barrier.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace {

constexpr uint32_t kPoison = 0xfff2dead;  // a NaN as f32 and f16
constexpr int32_t kBudget = 20000;

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
/// A permutation of 0..count-1 that the seed gives: a Feistel network over the next power of four, walked
/// until inside.
uint64_t permute(uint64_t index, uint64_t count, uint64_t seed) {
  if (seed == 0 || count < 2) return index;
  unsigned half = 1;
  while ((uint64_t(1) << (2 * half)) < count) ++half;
  const uint64_t mask = (uint64_t(1) << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mix(right + seed * 5 + round) & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

}  // namespace

struct Slot {
  Group group{};
  std::vector<Wave> waves;
  std::vector<uint32_t> registers;
  std::vector<uint64_t> initialized;
  std::vector<std::byte> lds, scratch;
  std::vector<uint8_t> lds_initialized;
  std::vector<uint32_t> order;
  std::vector<Waits> waits;
  LdsRaces lds_races;
};

Worker::Worker(Dispatch* shared) : dispatch(shared) {
  checker.memory = shared->memory;
  checker.level = shared->options.check;
  checker.races = shared->races.get();
}
Worker::~Worker() = default;

void Worker::start(Slot& slot, uint64_t number) {
  const Dispatch& d = *dispatch;
  const Launch& launch = *d.launch;
  const uint64_t linear = permute(number, d.group_count, d.options.seed);
  Group& g = slot.group;
  g.linear = uint32_t(linear);
  g.id[0] = uint32_t(linear % launch.grid[0]);
  g.id[1] = uint32_t(linear / launch.grid[0] % launch.grid[1]);
  g.id[2] = uint32_t(linear / launch.grid[0] / launch.grid[1]);
  g.launch = &launch;
  g.epoch = 0;
  if (slot.waves.empty()) {
    slot.waves.resize(d.wave_count);
    slot.registers.resize(size_t(d.vector_registers) * d.lanes * d.wave_count);
    slot.lds.resize(d.lds_bytes + 64);
    slot.scratch.resize(size_t(d.private_bytes) * d.lanes * d.wave_count);
    slot.order.resize(d.wave_count);
    if (d.options.check != Check::None) {
      slot.initialized.resize(size_t(d.vector_registers) * d.wave_count);
      slot.lds_initialized.resize(d.lds_bytes + 64);
    }
  }
  g.waves = slot.waves.data();
  g.wave_count = d.wave_count;
  g.lds = slot.lds.data();
  g.lds_bytes = d.lds_bytes;
  std::fill(slot.registers.begin(), slot.registers.end(), kPoison);
  std::fill(slot.lds.begin(), slot.lds.end(), std::byte{0xd5});
  std::fill(slot.scratch.begin(), slot.scratch.end(), std::byte{0xd5});
  std::fill(slot.initialized.begin(), slot.initialized.end(), 0);
  std::fill(slot.lds_initialized.begin(), slot.lds_initialized.end(), 0);
  std::iota(slot.order.begin(), slot.order.end(), 0u);
  if (d.options.seed != 0)
    for (uint32_t i = 0; i < d.wave_count; ++i)
      slot.order[i] = uint32_t(permute(i, d.wave_count, mix(d.options.seed + linear)));
  if (d.options.check >= Check::Race) slot.lds_races.reset(d.lds_bytes);
  if (d.options.check >= Check::Strict) {
    slot.waits.resize(d.wave_count);
    for (Waits& waits : slot.waits) waits.reset(d.vector_registers);
  }
  for (unsigned i = 0; i < d.wave_count; ++i) start_wave(slot, i);
}

void Worker::start_wave(Slot& slot, unsigned index) {
  const Dispatch& d = *dispatch;
  const Launch& launch = *d.launch;
  const Kernel& kernel = *launch.kernel;
  Wave& w = slot.waves[index];
  w = Wave{};
  w.lanes = d.lanes;
  w.generation = uint8_t(d.generation);
  w.v = slot.registers.data() + size_t(d.vector_registers) * d.lanes * index;
  w.vector_registers = d.vector_registers;
  w.group = &slot.group;
  w.worker = this;
  w.id = index;
  w.pc = d.program->entry();
  w.state = State::Ready;
  w.scratch = slot.scratch.data() + size_t(d.private_bytes) * d.lanes * index;
  w.scratch_bytes = d.private_bytes;
  w.code = reinterpret_cast<uint64_t>(kernel.code);
  w.mode = kernel.rsrc1 >> 12 & 0xff;
  if (kernel.rsrc1 >> 21 & 1) w.mode |= kModeDx10Clamp;
  if (kernel.rsrc1 >> 23 & 1) w.mode |= kModeIeee;
  if (kernel.rsrc1 >> 26 & 1) w.mode |= kModeFp16Overflow;
  const bool checked = d.options.check != Check::None;
  if (checked) {
    w.checker = &checker;
    w.initialized = slot.initialized.data() + size_t(d.vector_registers) * index;
    // EXEC, M0 and what lies above
    std::memset(w.scalar_initialized + kNull, 0xff, sizeof(uint32_t) * (kScalarWords - kNull));
  }
  for (uint32_t& s : w.s) s = kPoison;
  std::memset(w.s + kNull, 0, sizeof(uint32_t) * (kScalarWords - kNull));
  w.s[kSharedBase + 1] = kSharedAperture;
  w.s[kSharedLimit + 1] = kSharedAperture;
  w.s[kSharedLimit] = 0xffffffff;
  w.s[kPrivateBase + 1] = kPrivateAperture;
  w.s[kPrivateLimit + 1] = kPrivateAperture;
  w.s[kPrivateLimit] = 0xffffffff;

  const auto define = [&](unsigned at) {
    if (checked) w.scalar_initialized[at] = ~uint32_t(0);
  };
  unsigned next = 0;
  const auto put = [&](uint32_t value) {
    define(next);
    w.s[next++] = value;
  };
  const auto put64 = [&](uint64_t value) {
    put(uint32_t(value));
    put(uint32_t(value >> 32));
  };
  const uint16_t has = kernel.properties;
  if (has & 1) {  // private segment buffer: a descriptor that buffer instructions recognize
    put(0);
    put(kPrivateDescriptor);
    put(0xffffffff);
    put(0);
  }
  if (has & 2) put64(launch.dispatch_packet);
  if (has & 4) put64(0);
  if (has & 8) put64(reinterpret_cast<uint64_t>(launch.kernargs));
  if (has & 16) put64(0);
  if (has & 32) put64(0);
  if (has & 64) put(d.private_bytes);
  const unsigned preload = kernel.kernarg_preload & 0x7f, preload_from = kernel.kernarg_preload >> 7;
  for (unsigned i = 0; i < preload; ++i) {
    uint32_t value = 0;
    std::memcpy(&value, launch.kernargs + 4 * (preload_from + i), 4);
    put(value);
  }
  const unsigned user = kernel.rsrc2 >> 1 & 31;
  if (next < user) next = user;
  if (d.generation >= 12) {
    w.s[kTtmp + 9] = slot.group.id[0];
    w.s[kTtmp + 7] = slot.group.id[1] | slot.group.id[2] << 16;
    define(kTtmp + 9);
    define(kTtmp + 7);
  } else {
    for (unsigned i = 0; i < 3; ++i)
      if (kernel.rsrc2 >> (7 + i) & 1) put(slot.group.id[i]);
    if (kernel.rsrc2 >> 10 & 1) put(0);
    const bool architected = d.generation >= 11 || kernel.chip->family == Family::Cdna3;
    if ((kernel.rsrc2 & 1) && !architected) put(0);  // scratch wave offset
  }

  const uint32_t items = launch.block[0] * launch.block[1] * launch.block[2], first = index * d.lanes;
  const bool packed =
      d.generation >= 11 || kernel.chip->family == Family::Cdna2 || kernel.chip->family == Family::Cdna3;
  const unsigned ids = kernel.rsrc2 >> 11 & 3;
  uint64_t exec = 0;
  for (unsigned lane = 0; lane < d.lanes && first + lane < items; ++lane) {
    exec |= uint64_t(1) << lane;
    const uint32_t item = first + lane, x = item % launch.block[0],
                   y = item / launch.block[0] % launch.block[1], z = item / launch.block[0] / launch.block[1];
    if (packed) {
      w.v[lane] = x | y << 10 | z << 20;
    } else {
      w.v[lane] = x;
      if (ids >= 1) w.v[d.lanes + lane] = y;
      if (ids >= 2) w.v[2 * d.lanes + lane] = z;
    }
  }
  word64(w.s + kExec) = exec;
  w.existing = exec;
  if (checked)
    for (unsigned i = 0; i <= (packed ? 0 : ids < 2 ? ids : 2); ++i) w.initialized[i] = exec;
}

inline const Op* Worker::step(Wave& wave, const Op* op) {
  if (counting) {
    ++classes[op->index];
    if (op->bytes) count_memory(wave, op, counters);
  }
  if (wave.checker != nullptr) check_registers(wave, op);
  return op->run(wave, op);
}

void Worker::run_wave(Wave& wave) {
  wave.budget = kBudget;
  const Op* op = wave.pc;
  // Who changes this bit gives way, so that it is only looked at here.
  if (wave.generation == 9 && (wave.mode & kModeSkip) != 0) {
    const auto is_vector = [](const Op* at) {
      return at->row != nullptr && (at->row->name[0] != 's' || at->row->name[1] != '_');
    };
    while (op != nullptr && (wave.mode & kModeSkip) != 0) op = is_vector(op) ? op + 1 : step(wave, op);
  }
  if (wave.checker == nullptr && !counting) {
    while (op != nullptr) op = op->run(wave, op);
    return;
  }
  while (op != nullptr) op = step(wave, op);
}

bool Worker::turn(Slot& slot, bool& progress) {
  checker.lds_initialized = slot.lds_initialized.data();
  checker.waits = slot.waits.empty() ? nullptr : slot.waits.data();
  checker.lds_races = checker.level >= Check::Race ? &slot.lds_races : nullptr;
  if (std::any_of(slot.waves.begin(), slot.waves.end(),
                  [](const Wave& w) { return w.state == State::Waiting; }))
    release_waves(slot.group, checker.level >= Check::Race);
  unsigned ended = 0, waiting = 0;
  for (uint32_t i : slot.order) {
    Wave& w = slot.waves[i];
    if (w.state == State::Ready) {
      run_wave(w);
      if (w.state != State::Ready) progress = true;
    }
    ended += w.state == State::Ended;
    waiting += w.state == State::Barrier;
  }
  if (ended == slot.waves.size()) return true;
  if (ended + waiting < slot.waves.size()) return false;
  // Every wave that has not ended is at a barrier.
  const Wave* first = nullptr;
  for (Wave& w : slot.waves) {
    if (w.state != State::Barrier) continue;
    if (first == nullptr) first = &w;
    if (w.checker != nullptr && w.pc != first->pc)
      raise(w, w.pc - 1, Fault::Kind::DivergentBarrier, -1, 0,
            ("wave " + std::to_string(first->id) + " of the group waits at another barrier").c_str());
    if (checker.level >= Check::Race && ended != 0)
      raise(w, w.pc - 1, Fault::Kind::DivergentBarrier, -1, 0,
            "another wave of the group ended without reaching this barrier");
    if (checker.level >= Check::Race && word64(w.s + kExec) != w.existing)
      raise(w, w.pc - 1, Fault::Kind::DivergentBarrier, __builtin_ctzll(w.existing & ~word64(w.s + kExec)), 0,
            "lanes of the wave are not at this barrier");
  }
  for (Wave& w : slot.waves)
    if (w.state == State::Barrier) w.state = State::Ready;
  ++slot.group.epoch;
  return false;
}

void Worker::look_at_grid(bool progress) {
  GridSync& grid = *dispatch->grid;
  const Wave* waits = nullptr;
  for (const auto& slot : slots)
    for (Wave& w : slot->waves) {
      if (w.state == State::Grid && grid.passed(w)) {
        w.state = State::Ready;
        progress = true;
      }
      if (w.state == State::Grid || (w.state == State::Ready && waits == nullptr)) waits = &w;
    }
  if (progress || waits == nullptr) return;
  uint32_t ended = 0;
  if (!grid.stuck(ended)) return std::this_thread::yield();
  const uint32_t* size = dispatch->launch->grid;
  char text[160];
  std::snprintf(text, sizeof(text),
                "the grid's barrier can never be complete: group (%u, %u, %u) has ended without it",
                ended % size[0], ended / size[0] % size[1], ended / size[0] / size[1]);
  raise(*waits, waits->state == State::Grid ? waits->pc - 1 : waits->pc, Fault::Kind::DivergentBarrier, -1, 0,
        text);
}

void Worker::run() {
  Dispatch& d = *dispatch;
  bool more = true;
  const auto open = [&] {
    const uint64_t number = d.next.fetch_add(1, std::memory_order_relaxed);
    if (number >= d.group_count) return more = false;
    std::unique_ptr<Slot> slot;
    if (spare.empty()) {
      slot = std::make_unique<Slot>();
    } else {
      slot = std::move(spare.back());
      spare.pop_back();
    }
    start(*slot, number);
    slots.push_back(std::move(slot));
    return true;
  };
  while (slots.size() < d.groups_at_once && more) open();
  const std::atomic<bool>* const stop = d.launch->stop;
  while (!d.stop.load(std::memory_order_relaxed) &&
         (stop == nullptr || !stop->load(std::memory_order_relaxed))) {
    if (slots.empty() && (!more || !open())) return;
    bool progress = false;
    for (size_t i = 0; i < slots.size();) {
      if (turn(*slots[i], progress)) {
        if (d.grid != nullptr) d.grid->end_group(slots[i]->group.linear);
        spare.push_back(std::move(slots[i]));
        slots.erase(slots.begin() + std::ptrdiff_t(i));
        progress = true;
      } else {
        ++i;
      }
    }
    if (d.grid != nullptr) look_at_grid(progress);
    // Groups that only loop may wait for one that has not started.
    if (!progress && more && slots.size() < 256) open();
  }
}

}  // namespace emu::exec
