// SPDX-License-Identifier: Apache-2.0
// What vector memory instructions of every kind do once their lanes have addresses: loads, stores, atomics. A
// row is the usual case, made quick: all lanes on, each element right behind the one of the lane before.
#pragma once
#include "emu/exec/ops/atomics.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using Access = Memory::Access;

EMU_FN uint64_t all_lanes(const Wave& w) { return ~uint64_t(0) >> (64 - w.lanes); }
EMU_FN uint64_t enabled_of(Wave& w) { return exec_of(w) & all_lanes(w); }
EMU_FN uint64_t scalar_pair(const Wave& w, unsigned reg) {
  return uint64_t(w.s[reg]) | uint64_t(w.s[reg + 1]) << 32;
}
EMU_FN std::byte* host(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

/// Where the lanes' elements lie: at host addresses base + at[lane]. Lanes that are `wanted` but not `there`
/// read zero and write nothing.
template <class Offset>
struct Places {
  uint64_t base, wanted, there;
  alignas(64) Offset at[64];
  [[gnu::always_inline]] std::byte* operator[](unsigned lane) const { return host(base + at[lane]); }
};

/// Whether 32 lanes' values go up in steps of `step`.
EMU_FN bool in_steps(const uint32_t* values, uint32_t step) {
  const uint32_t first = values[0];
  uint32_t different = 0;
  for (uint32_t i = 0; i < 32; ++i) different |= values[i] ^ (first + i * step);
  return different == 0;
}
EMU_FN bool all_equal(const uint32_t* values) {
  const uint32_t first = values[0];
  uint32_t different = 0;
  for (unsigned i = 0; i < 32; ++i) different |= values[i] ^ first;
  return different == 0;
}

// d, v: the registers' first word for the 32 lanes; `lanes` words further lies the next register.
template <unsigned Words>
EMU_FN void load_row(uint32_t* d, unsigned lanes, const std::byte* from) {
  alignas(64) uint32_t all[32 * Words];
  std::memcpy(all, from, sizeof(all));
  for (unsigned word = 0; word < Words; ++word) {
    uint32_t* to = d + word * lanes;
    for (unsigned i = 0; i < 32; ++i) to[i] = all[i * Words + word];
  }
}
template <unsigned Words>
EMU_FN void store_row(const uint32_t* v, unsigned lanes, std::byte* to) {
  alignas(64) uint32_t all[32 * Words];
  for (unsigned word = 0; word < Words; ++word) {
    const uint32_t* from = v + word * lanes;
    for (unsigned i = 0; i < 32; ++i) all[i * Words + word] = from[i];
  }
  std::memcpy(to, all, sizeof(all));
}

/// One element of 8 or 16 bits in a register. Keep: the other half of it stays (d16); High: into the upper
/// half.
template <class T, bool Keep, bool High>
EMU_FN uint32_t with_element(uint32_t before, T value) {
  const uint32_t wide = uint32_t(int32_t(value));
  return High ? (before & 0xffff) | wide << 16 : Keep ? (before & 0xffff0000) | (wide & 0xffff) : wide;
}
template <class T, bool Keep, bool High>
EMU_FN void load_small_row(uint32_t* d, const std::byte* from) {
  T all[32];
  std::memcpy(all, from, sizeof(all));
  for (unsigned i = 0; i < 32; ++i) d[i] = with_element<T, Keep, High>(d[i], all[i]);
}
template <class T>
EMU_FN void store_small_row(const uint32_t* v, bool high, std::byte* to) {
  T all[32];
  const unsigned shift = high ? 16 : 0;
  for (unsigned i = 0; i < 32; ++i) all[i] = T(v[i] >> shift);
  std::memcpy(to, all, sizeof(all));
}

template <unsigned Words, class Offset>
EMU_FN void load_lanes(const Wave& w, uint32_t* d, const Places<Offset>& p) {
  if (p.there == all_lanes(w)) {
    const unsigned lanes = w.lanes;
    const std::byte* base = host(p.base);
    for (unsigned h = 0; h < lanes; h += 32) {
      const Offset* at = p.at + h;
      uint32_t* to = d + h;
      for (unsigned i = 0; i < 32; ++i) {
        uint32_t words[Words];
        std::memcpy(words, base + at[i], sizeof(words));
        for (unsigned word = 0; word < Words; ++word) to[word * lanes + i] = words[word];
      }
    }
    return;
  }
  for (uint64_t rest = p.wanted; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    uint32_t words[Words] = {};
    if (p.there >> i & 1) std::memcpy(words, p[i], sizeof(words));
    for (unsigned word = 0; word < Words; ++word) d[word * w.lanes + i] = words[word];
  }
}
template <unsigned Words, class Offset>
EMU_FN void store_lanes(const Wave& w, const uint32_t* v, const Places<Offset>& p) {
  for (uint64_t rest = p.there; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    uint32_t words[Words];
    for (unsigned word = 0; word < Words; ++word) words[word] = v[word * w.lanes + i];
    std::memcpy(p[i], words, sizeof(words));
  }
}
template <class T, bool Keep, bool High, class Offset>
EMU_FN void load_small_lanes(uint32_t* d, const Places<Offset>& p) {
  for (uint64_t rest = p.wanted; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    T value = 0;
    if (p.there >> i & 1) std::memcpy(&value, p[i], sizeof(T));
    d[i] = with_element<T, Keep, High>(d[i], value);
  }
}
template <class T, class Offset>
EMU_FN void store_small_lanes(const uint32_t* v, bool high, const Places<Offset>& p) {
  for (uint64_t rest = p.there; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    const T value = T(high ? v[i] >> 16 : v[i]);
    std::memcpy(p[i], &value, sizeof(T));
  }
}

/// *p = f(*p, data, compare) lane after lane; the old values go to d unless it is null, 0 for lanes that are
/// not there. compare may be null.
template <class T, T (*F)(T, T, T), class Offset>
EMU_FN void atomic_lanes(Wave& w, const Op* op, const Places<Offset>& p, const uint32_t* data,
                         const uint32_t* compare, uint32_t* d) {
  constexpr unsigned kWords = sizeof(T) / 4;
  const auto element = [&](const uint32_t* v, unsigned i) {
    if constexpr (kWords == 2)
      return std::bit_cast<T>(uint64_t(v[w.lanes + i]) << 32 | v[i]);
    else
      return std::bit_cast<T>(v[i]);
  };
  for (uint64_t rest = d != nullptr ? p.wanted & ~p.there : 0; rest; rest &= rest - 1)
    for (unsigned word = 0; word < kWords; ++word) d[word * w.lanes + unsigned(__builtin_ctzll(rest))] = 0;
  for (uint64_t rest = p.there; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    if (p.at[i] % sizeof(T) != 0)
      raise(w, op, Fault::Kind::Misaligned, int(i), p.at[i],
            "an atomic needs an address that its size divides");
    const T old = rmw<T, F>(p[i], element(data, i), compare != nullptr ? element(compare, i) : T());
    if (d == nullptr) continue;
    if constexpr (kWords == 2) {
      const uint64_t bits = std::bit_cast<uint64_t>(old);
      d[i] = uint32_t(bits);
      d[w.lanes + i] = uint32_t(bits >> 32);
    } else {
      d[i] = std::bit_cast<uint32_t>(old);
    }
  }
}

/// Private memory lies lane after lane; an access must stay inside its lane's part.
template <class Offset>
[[gnu::noinline, maybe_unused]] void private_places(Wave& w, const Op* op, const uint32_t* offsets,
                                                    uint64_t lanes, uint32_t bytes, Access access,
                                                    Places<Offset>& p) {
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    if (uint64_t(offsets[i]) + bytes > w.scratch_bytes)
      raise(w, op, Fault::Kind::OutOfBounds, i, offsets[i], "outside the lane's private memory");
    p.at[i] = reinterpret_cast<uint64_t>(w.scratch) + uint64_t(i) * w.scratch_bytes + offsets[i];
  }
  if (w.checker && lanes) check_private(w, op, offsets, lanes, bytes, access);
}

/// check_memory with the lowest and the highest of the lanes' addresses.
EMU_FN void check_places(Wave& w, const Op* op, const uint64_t* a, uint64_t lanes, uint32_t bytes,
                         Access access) {
  const uint64_t first = a[__builtin_ctzll(lanes)];
  uint64_t low = first, high = first;
  for (unsigned h = 0; h < w.lanes; h += 32) {
    const uint32_t on = uint32_t(lanes >> h);
    const uint64_t* from = a + h;
    for (unsigned i = 0; i < 32; ++i) {
      const uint64_t address = on >> i & 1 ? from[i] : first;
      low = address < low ? address : low;
      high = address > high ? address : high;
    }
  }
  check_memory(w, op, a, lanes, low, high, bytes, access);
}

/// A row of the tables: registers of the destination and of the sources.
constexpr Row memory_row(const char* name, Handler run, Form form, Class cls, unsigned bytes, unsigned dst,
                         unsigned s0, unsigned s1, unsigned s2, unsigned flags) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = form;
  r.cls = cls;
  r.bytes = uint8_t(bytes);
  r.dst_words = uint8_t(dst);
  r.src_words[0] = uint8_t(s0);
  r.src_words[1] = uint8_t(s1);
  r.src_words[2] = uint8_t(s2);
  r.flags = uint16_t(flags);
  return r;
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
