// SPDX-License-Identifier: Apache-2.0
// Which elements of a buffer are inside it, for those that access it and those that count.
#pragma once

#include <cstdint>

namespace emu::exec {

/// What a descriptor of four words says of that. From gfx10 on one of its fields says what is checked: with 2
/// only whether the buffer is empty.
struct BufferRange {
  uint32_t stride, records;
  bool unchecked;

  [[gnu::always_inline]] BufferRange(const uint32_t* descriptor, int generation)
      : stride(descriptor[1] >> 16 & 0x3fff),
        records(descriptor[2]),
        unchecked(generation >= 10 && (descriptor[3] >> 28 & 3) == 2) {}

  /// `bytes` from `inside` on, of the record `index` if lanes give one.
  [[gnu::always_inline]] bool has(bool indexed, uint32_t index, uint64_t inside, uint32_t bytes) const {
    if (unchecked) return records != 0;
    return stride != 0 && indexed ? index < records : inside + bytes <= records;
  }
};

}  // namespace emu::exec
