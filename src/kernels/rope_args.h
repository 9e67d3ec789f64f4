// SPDX-License-Identifier: Apache-2.0
// What kernels of rotary position embedding are called with.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

inline constexpr uint32_t kRopeNeighbours = 1;
inline constexpr uint32_t kRopePacks = 2;  ///< sizes and addresses allow packs

/// Elements in a pack.
constexpr int rope_pack(int bytes) { return packed_elements(bytes); }
/// The most rows that a thread turns by the same angles.
inline constexpr int kRopeRepeats = 4;

/// A thread has one place of a row and the same place of `repeats` rows.
struct RopeArgs {
  const void* x;
  const void* cos;
  const void* sin;
  void* y;
  uint32_t count;  // of threads
  uint32_t flags;
  uint32_t repeats;
  Divisor places;  // of a row: packs of pairs, or pairs, and then what is not turned, or a part of these
  int64_t first;   // of these places
  int64_t turned;  // places of pairs
  int64_t half;    // pairs of a row
  int64_t x_step, y_step;  // from one of the rows to the next
  Walk<3> walk;            // of x, angles and y over first rows
};

}  // namespace beeswax::gpu
