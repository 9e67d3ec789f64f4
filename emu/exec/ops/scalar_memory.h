// SPDX-License-Identifier: Apache-2.0
// Addresses of scalar loads, stores and atomics.
#pragma once
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// What the instruction adds to its base, in bytes.
EMU_FN uint64_t offset_of(const Wave& w, const Op* op) {
  return uint64_t(op->imm) + (op->src[1].place == Place::None ? 0 : scalar_bits(w, op->src[1], false));
}

/// A buffer descriptor as the scalar unit reads it.
struct ScalarBuffer {
  uint64_t base, size;
  bool holds(uint64_t offset, uint64_t bytes) const { return offset + bytes <= size; }
};
EMU_FN ScalarBuffer scalar_buffer(const Wave& w, const Op* op) {
  const uint32_t* descriptor = w.s + op->src[0].reg;
  const uint32_t stride = descriptor[1] >> 16 & 0x3fff, records = descriptor[2];
  return {uint64_t(descriptor[0]) | uint64_t(descriptor[1] & 0xffff) << 32,
          stride ? uint64_t(stride) * records : records};
}

constexpr Row scalar_memory_row(const char* name, Handler run, unsigned base_words, unsigned dst_words,
                                unsigned data_words, unsigned bytes, unsigned flags = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Smem;
  r.cls = Class::ScalarMemory;
  r.dst = r.src[0] = Type::Wide;
  r.dst_words = uint8_t(dst_words);
  r.bytes = uint8_t(bytes);
  r.src_words[0] = uint8_t(base_words);
  r.src_words[2] = uint8_t(data_words);
  r.flags = uint16_t(flags);
  return r;
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
