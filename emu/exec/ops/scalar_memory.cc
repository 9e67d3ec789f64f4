// SPDX-License-Identifier: Apache-2.0
// Scalar loads.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

EMU_FN uint64_t offset_of(const Wave& w, const Op* op) {
  return uint64_t(op->imm) + (op->src[1].place == Place::None ? 0 : scalar_bits(w, op->src[1], false));
}
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
  const uint32_t* descriptor = w.s + op->src[0].reg;
  const uint64_t base = uint64_t(descriptor[0]) | uint64_t(descriptor[1] & 0xffff) << 32;
  const uint32_t stride = descriptor[1] >> 16 & 0x3fff, records = descriptor[2];
  const uint64_t size = stride ? uint64_t(stride) * records : records,
                 offset = offset_of(w, op) & ~uint64_t(3);
  uint32_t words[Words];
  for (unsigned i = 0; i < Words; ++i) {
    words[i] = 0;
    if (offset + 4 * i + 4 > size) continue;
    if (w.checker) check_scalar(w, op, base + offset + 4 * i, 4, op->dst + i);
    std::memcpy(words + i, reinterpret_cast<const void*>(base + offset + 4 * i), 4);
  }
  std::memcpy(w.s + op->dst, words, sizeof(words));
  return op + 1;
}

template <class T>
const Op* buffer_load_small(Wave& w, const Op* op) {
  const uint32_t* descriptor = w.s + op->src[0].reg;
  const uint64_t base = uint64_t(descriptor[0]) | uint64_t(descriptor[1] & 0xffff) << 32;
  const uint32_t stride = descriptor[1] >> 16 & 0x3fff, records = descriptor[2];
  const uint64_t size = stride ? uint64_t(stride) * records : records, offset = offset_of(w, op);
  T value = 0;
  if (offset + sizeof(T) <= size) {
    if (w.checker) check_scalar(w, op, base + offset, sizeof(T), op->dst);
    std::memcpy(&value, reinterpret_cast<const void*>(base + offset), sizeof(T));
  }
  w.s[op->dst] = uint32_t(int32_t(value));
  return op + 1;
}

constexpr Row row(const char* name, Handler run, uint8_t words, uint8_t bytes, uint8_t base_words) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Smem;
  r.cls = Class::ScalarMemory;
  r.dst = r.src[0] = Type::Wide;
  r.dst_words = words;
  r.bytes = bytes;
  r.src_words[0] = base_words;
  return r;
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
