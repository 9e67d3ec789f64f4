// SPDX-License-Identifier: Apache-2.0
// What memory instructions move, by level, from the addresses in their registers.
#include <algorithm>
#include <array>
#include <cstring>

#include "emu/exec/buffer_range.h"
#include "emu/exec/check.h"

namespace emu::exec {
namespace {

constexpr uint32_t kBanks = 32, kLine = 128;

uint64_t enabled(const Wave& w) {
  return (uint64_t(w.s[kExec + 1]) << 32 | w.s[kExec]) & (~uint64_t(0) >> (64 - w.lanes));
}
unsigned count_of(uint64_t lanes) { return unsigned(__builtin_popcountll(lanes)); }

/// Cycles beyond the first of one access of `bytes` by each lane: LDS has 32 banks of 4 bytes, serves as many
/// neighbouring lanes at once as 128 bytes hold, and needs as many cycles for them as the bank with the most
/// different words. Lanes that read or write the same word share it; atomics do not.
uint32_t conflict_cycles(const Wave& w, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                         bool atomic) {
  const unsigned at_once = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  uint32_t cycles = 0;
  for (unsigned first = 0; first < w.lanes; first += at_once) {
    std::array<std::array<uint32_t, 32>, kBanks> words;
    std::array<uint32_t, kBanks> depth{};
    uint32_t deepest = 1;
    for (unsigned i = first; i < first + at_once; ++i) {
      if (!(lanes >> i & 1)) continue;
      for (uint32_t word = offsets[i] / 4; word <= (offsets[i] + bytes - 1) / 4; ++word) {
        auto& bank = words[word % kBanks];
        uint32_t& used = depth[word % kBanks];
        bool seen = false;
        for (uint32_t k = 0; k < used && !atomic; ++k) seen |= bank[k] == word;
        if (seen || used == bank.size()) continue;
        bank[used++] = word;
        deepest = used > deepest ? used : deepest;
      }
    }
    cycles += deepest - 1;
  }
  return cycles;
}

/// Lines that the lanes touch, each with its own number of bytes; each line is counted once.
uint32_t lines_of(const uint64_t* addresses, const uint32_t* bytes, uint64_t lanes) {
  std::array<uint64_t, 128> lines;
  uint32_t count = 0;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    const uint64_t a = addresses[i];
    for (uint64_t line = a / kLine; line <= (a + bytes[i] - 1) / kLine; ++line) {
      bool seen = false;
      for (uint32_t k = count; k-- > 0 && !seen;) seen = lines[k] == line;
      if (!seen && count < lines.size()) lines[count++] = line;
    }
  }
  return count;
}

struct Moves {
  bool reads, writes;
};

void count_lds(const Wave& w, const Op* op, const uint32_t* offsets, uint64_t lanes, Moves moves,
               Counters& counters) {
  const uint64_t bytes = uint64_t(op->bytes) * count_of(lanes);
  if (moves.reads) counters.lds_read_bytes += bytes;
  if (moves.writes) counters.lds_write_bytes += bytes;
  if (offsets == nullptr) return;
  const bool atomic = op->row->flags & kAtomic;
  // Two places of one instruction are two accesses; where they lie to each other does not matter.
  const char* name = op->row->name;
  const bool two = std::strstr(name, "2addr") || std::strstr(name, "read2") || std::strstr(name, "write2");
  counters.lds_conflict_cycles +=
      (two ? 2 : 1) * conflict_cycles(w, offsets, lanes, two ? op->bytes / 2u : op->bytes, atomic);
}

void count_global(const uint64_t* addresses, const uint32_t* bytes, uint64_t lanes, Moves moves,
                  Counters& counters) {
  if (lanes == 0) return;
  uint64_t all = 0;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) all += bytes[__builtin_ctzll(rest)];
  if (moves.reads) counters.global_read_bytes += all;
  if (moves.writes) counters.global_write_bytes += all;
  ++counters.accesses;
  counters.cache_lines += lines_of(addresses, bytes, lanes);
}

void count_flat(const Wave& w, const Op* op, Moves moves, Counters& counters) {
  const uint64_t lanes = enabled(w);
  const uint32_t* v = w.v + op->src[0].offset;
  const Source& base = op->src[2];
  const bool vector = op->src[0].place == Place::Vector;  // else lane after lane
  uint64_t addresses[64], global = 0, local = 0, own = 0;
  uint32_t offsets[64] = {};
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    const uint64_t start = base.place == Place::Scalar ? uint64_t(w.s[base.reg + 1]) << 32 | w.s[base.reg]
                                                       : uint64_t(v[w.lanes + i]) << 32;
    addresses[i] = start + (vector ? v[i] : i * op->bytes) + uint64_t(op->imm);
    offsets[i] = uint32_t(addresses[i]);
    const uint64_t high = op->row->flags & kFlatSpace ? addresses[i] >> 32 : 0;
    (high == kSharedAperture ? local : high == kPrivateAperture ? own : global) |= uint64_t(1) << i;
  }
  uint32_t bytes[64];
  std::fill_n(bytes, w.lanes, op->bytes);
  count_global(addresses, bytes, global, moves, counters);
  if (local) count_lds(w, op, offsets, local, moves, counters);
  counters.scratch_bytes += uint64_t(op->bytes) * count_of(own);
}

/// Words behind the buffer's end reach no memory.
void count_buffer(const Wave& w, const Op* op, Moves moves, Counters& counters) {
  const uint32_t* descriptor = w.s + op->src[2].reg;
  if ((descriptor[1] & 0xffff) == (kPrivateDescriptor & 0xffff)) {
    counters.scratch_bytes += uint64_t(op->bytes) * count_of(enabled(w));
    return;
  }
  const bool indexed = op->flags & kIndexed, has_offset = op->flags & kOffset;
  const uint32_t* v = w.v + op->src[0].offset;
  const BufferRange range(descriptor, w.generation);
  // What is checked by itself: words of loads and stores, atomics whole.
  const uint32_t step = op->row->flags & kAtomic || op->bytes < 4 ? op->bytes : 4;
  const Source& scalar = op->src[3];
  const uint64_t base = (uint64_t(descriptor[1] & 0xffff) << 32 | descriptor[0]) +
                        (scalar.place == Place::Scalar ? w.s[scalar.reg] : uint32_t(scalar.value));
  uint64_t addresses[64], lanes = 0;
  uint32_t bytes[64] = {};
  for (uint64_t rest = enabled(w); rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    const uint32_t index = indexed ? v[i] : 0;
    const uint64_t offset = uint64_t(uint32_t(op->imm)) + (has_offset ? v[indexed ? w.lanes + i : i] : 0);
    const uint64_t inside = offset + uint64_t(range.stride) * index;
    addresses[i] = base + inside;
    while (bytes[i] < op->bytes && range.has(indexed, index, inside + bytes[i], step)) bytes[i] += step;
    if (bytes[i] > 0) lanes |= uint64_t(1) << i;
  }
  count_global(addresses, bytes, lanes, moves, counters);
}

}  // namespace

void count_memory(const Wave& w, const Op* op, Counters& counters) {
  const Row* row = op->row;
  if (row == nullptr || op->bytes == 0) return;
  const Moves moves{(row->flags & kStore) == 0, (row->flags & (kStore | kAtomic)) != 0};
  switch (row->form) {
    case Form::Smem:
      counters.scalar_read_bytes += op->bytes;
      return;
    case Form::Lds: {
      const bool addressed = op->sources > 0 && op->src[0].place == Place::Vector;
      return count_lds(w, op, addressed ? w.v + op->src[0].offset : nullptr, enabled(w), moves, counters);
    }
    case Form::Flat:
      if (!(row->flags & kScratchSpace)) return count_flat(w, op, moves, counters);
      counters.scratch_bytes += uint64_t(op->bytes) * count_of(enabled(w));
      return;
    case Form::Buffer:
      return count_buffer(w, op, moves, counters);
    default:
      return;
  }
}

}  // namespace emu::exec
