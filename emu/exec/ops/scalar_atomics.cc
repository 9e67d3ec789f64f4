// SPDX-License-Identifier: Apache-2.0
// Stores and atomics of the scalar unit (gfx9).
#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/scalar_memory.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using Access = Memory::Access;

/// The host address, checked; 0 when it lies outside a buffer. Words are the unit of addresses.
template <bool Buffer>
EMU_FN uint64_t address_of(Wave& w, const Op* op, uint32_t bytes, Access access) {
  const uint64_t offset = offset_of(w, op);
  uint64_t address = 0;
  if constexpr (Buffer) {
    const ScalarBuffer buffer = scalar_buffer(w, op);
    const uint64_t at = offset & ~uint64_t(3);
    if (!buffer.holds(at, bytes)) return 0;
    address = buffer.base + at;
  } else {
    address = (scalar_bits(w, op->src[0], true) + offset) & ~uint64_t(3);
  }
  const uint64_t addresses[1] = {address};
  if (w.checker) check_memory(w, op, addresses, 1, bytes, access);
  return address;
}

template <bool Buffer, unsigned Words>
const Op* store(Wave& w, const Op* op) {
  const uint64_t address = address_of<Buffer>(w, op, Words * 4, Access::Write);
  if (address != 0) std::memcpy(reinterpret_cast<void*>(address), w.s + op->src[2].reg, Words * 4);
  return op + 1;
}
template <bool Buffer, class T, T (*F)(T, T, T), bool Compares>
const Op* atomic(Wave& w, const Op* op) {
  const uint32_t* data = w.s + op->src[2].reg;
  const auto value = [data](unsigned first) {
    if constexpr (sizeof(T) == 8)
      return T(uint64_t(data[first + 1]) << 32 | data[first]);
    else
      return T(data[first]);
  };
  const uint64_t address = address_of<Buffer>(w, op, sizeof(T), Access::Atomic);
  if (address % sizeof(T) != 0)
    raise(w, op, Fault::Kind::Misaligned, -1, address, "an atomic needs an address that its size divides");
  const T old = address == 0 ? T(0)
                             : rmw<T, F>(reinterpret_cast<void*>(address), value(0),
                                         Compares ? value(sizeof(T) / 4) : T());
  if (op->flags & kReturns) {
    if constexpr (sizeof(T) == 8)
      write_scalar(w, op->dst, uint64_t(old));
    else
      write_scalar(w, op->dst, uint32_t(old));
  }
  return op + 1;
}
const Op* nothing(Wave&, const Op* op) { return op + 1; }

#define STORE(n, name)                                                         \
  scalar_memory_row("s_store_" name, store<false, n>, 2, 0, n, 4 * n, kStore), \
      scalar_memory_row("s_buffer_store_" name, store<true, n>, 4, 0, n, 4 * n, kStore)
#define ONE(name, type, f, compares)                                                                         \
  scalar_memory_row("s_atomic_" name, atomic<false, type, f<type>, compares>, 2, sizeof(type) / 4,           \
                    sizeof(type) / (compares ? 2 : 4), sizeof(type), kAtomic),                               \
      scalar_memory_row("s_buffer_atomic_" name, atomic<true, type, f<type>, compares>, 4, sizeof(type) / 4, \
                        sizeof(type) / (compares ? 2 : 4), sizeof(type), kAtomic)
#define ATOMIC(name, sign, f) ONE(name, sign##32_t, f, false), ONE(name "_x2", sign##64_t, f, false)

constexpr Row ignored(const char* name) {
  Row r{};
  r.name = name;
  r.run = nothing;
  r.form = Form::Immediate;
  r.cls = Class::Other;
  return r;
}

constexpr Row kRows[] = {
    STORE(1, "dword"),
    STORE(2, "dwordx2"),
    STORE(4, "dwordx4"),
    ATOMIC("swap", uint, a_swap),
    ATOMIC("add", uint, a_add),
    ATOMIC("sub", uint, a_sub),
    ATOMIC("smin", int, a_min),
    ATOMIC("smax", int, a_max),
    ATOMIC("umin", uint, a_min),
    ATOMIC("umax", uint, a_max),
    ATOMIC("and", uint, a_and),
    ATOMIC("or", uint, a_or),
    ATOMIC("xor", uint, a_xor),
    ATOMIC("inc", uint, a_inc),
    ATOMIC("dec", uint, a_dec),
    ONE("cmpswap", uint32_t, a_cmpswap, true),
    ONE("cmpswap_x2", uint64_t, a_cmpswap, true),
    // Cache lines that may be dropped or fetched.
    ignored("s_dcache_discard"),
    ignored("s_dcache_discard_x2"),
    ignored("s_buffer_prefetch_data"),
};

}  // namespace
EMU_GROUP(scalar_atomics, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
