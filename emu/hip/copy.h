// SPDX-License-Identifier: Apache-2.0
// Copies and fills, in up to three dimensions, between all kinds of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emu/hip/abi.h"
#include "emu/hip/stream.h"

namespace emu::hip {

/// Bytes of one side of a copy: `rows` of `row_pitch` bytes apart in slices of `slice_pitch` bytes.
struct Side {
  std::byte* start;
  size_t row_pitch, slice_pitch;
};

struct CopyShape {
  size_t width, height, depth;  // width in bytes
};

/// Sizes and places, by counts that programs choose. They throw hipErrorInvalidValue where the result wraps.
size_t product(size_t a, size_t b);
size_t sum(size_t a, size_t b);

/// Where an address lies.
enum class Place { Device, Pinned, Pageable };
Place place_of(const void* address);

/// Throws ApiError when the ranges are not inside memory that is there; then copies on the stream.
/// wait: the host goes on only when it is done. Otherwise that depends on the memory, as HIP has it: from
/// pageable memory the bytes are taken at once (where more than 64 MiB would be taken and wait for their
/// copies, the host waits), into pageable memory the host waits (not under BEESWAX_EMU_CHECK=strict).
void copy(Side to, Side from, CopyShape shape, int kind, Stream& stream, bool wait);
void copy_flat(void* to, const void* from, size_t bytes, int kind, Stream& stream, bool wait);

/// Fills with a value of 1, 2 or 4 bytes; width in bytes.
void fill(Side to, CopyShape shape, uint32_t value, size_t value_bytes, Stream& stream, bool wait);

/// For nodes of graphs: checks, and gives the work without doing it.
Work copy_work(Side to, Side from, CopyShape shape);
Work fill_work(Side to, CopyShape shape, uint32_t value, size_t value_bytes);

}  // namespace emu::hip
