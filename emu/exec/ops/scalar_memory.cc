// SPDX-License-Identifier: Apache-2.0
// Scalar loads.
#include "emu/exec/ops/scalar_memory.h"
#include "emu/exec/ops/group.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

template <unsigned Words>
const Op* load(Wave& w, const Op* op) {
  const uint64_t address = (scalar_bits(w, op->src[0], true) + offset_of(w, op)) & ~uint64_t(3);
  if (w.checker) check_scalar(w, op, address, Words * 4, op->dst);
  std::memcpy(w.s + op->dst, reinterpret_cast<const void*>(address), Words * 4);
  return op + 1;
}
template <class T>
const Op* load_small(Wave& w, const Op* op) {
  const uint64_t address = scalar_bits(w, op->src[0], true) + offset_of(w, op);
  if (w.checker) check_scalar(w, op, address, sizeof(T), op->dst);
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T));
  w.s[op->dst] = uint32_t(int32_t(value));
  return op + 1;
}
/// Words outside the buffer read as zero.
template <unsigned Words>
const Op* buffer_load(Wave& w, const Op* op) {
  const ScalarBuffer buffer = scalar_buffer(w, op);
  const uint64_t offset = offset_of(w, op) & ~uint64_t(3);
  uint32_t words[Words];
  for (unsigned i = 0; i < Words; ++i) {
    words[i] = 0;
    if (!buffer.holds(offset + 4 * i, 4)) continue;
    if (w.checker) check_scalar(w, op, buffer.base + offset + 4 * i, 4, op->dst + i);
    std::memcpy(words + i, reinterpret_cast<const void*>(buffer.base + offset + 4 * i), 4);
  }
  std::memcpy(w.s + op->dst, words, sizeof(words));
  return op + 1;
}
template <class T>
const Op* buffer_load_small(Wave& w, const Op* op) {
  const ScalarBuffer buffer = scalar_buffer(w, op);
  const uint64_t offset = offset_of(w, op);
  T value = 0;
  if (buffer.holds(offset, sizeof(T))) {
    if (w.checker) check_scalar(w, op, buffer.base + offset, sizeof(T), op->dst);
    std::memcpy(&value, reinterpret_cast<const void*>(buffer.base + offset), sizeof(T));
  }
  w.s[op->dst] = uint32_t(int32_t(value));
  return op + 1;
}

constexpr Row row(const char* name, Handler run, unsigned words, unsigned bytes, unsigned base_words) {
  return scalar_memory_row(name, run, base_words, words, 0, bytes);
}
#define LOADS(n, modern, old)                                                            \
  row("s_load_" modern, load<n>, n, 4 * n, 2), row("s_load_" old, load<n>, n, 4 * n, 2), \
      row("s_scratch_load_" old, load<n>, n, 4 * n, 2),                                  \
      row("s_buffer_load_" modern, buffer_load<n>, n, 4 * n, 4),                         \
      row("s_buffer_load_" old, buffer_load<n>, n, 4 * n, 4)

constexpr Row kRows[] = {
    LOADS(1, "b32", "dword"),
    LOADS(2, "b64", "dwordx2"),
    LOADS(3, "b96", "dwordx3"),
    LOADS(4, "b128", "dwordx4"),
    LOADS(8, "b256", "dwordx8"),
    LOADS(16, "b512", "dwordx16"),
    row("s_load_u8", load_small<uint8_t>, 1, 1, 2),
    row("s_load_i8", load_small<int8_t>, 1, 1, 2),
    row("s_load_u16", load_small<uint16_t>, 1, 2, 2),
    row("s_load_i16", load_small<int16_t>, 1, 2, 2),
    row("s_buffer_load_u8", buffer_load_small<uint8_t>, 1, 1, 4),
    row("s_buffer_load_i8", buffer_load_small<int8_t>, 1, 1, 4),
    row("s_buffer_load_u16", buffer_load_small<uint16_t>, 1, 2, 4),
    row("s_buffer_load_i16", buffer_load_small<int16_t>, 1, 2, 4),
};

}  // namespace
EMU_GROUP(scalar_memory, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
