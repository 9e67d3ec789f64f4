// SPDX-License-Identifier: Apache-2.0
// From the loop nests of operands to what kernels take: walks of at most 2^30 elements.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/nest.h"
#include "kernels/args.h"

namespace beeswax::gpu {

/// What one launch can take: indices and the ends of blocks stay below 2^31.
inline constexpr int64_t kMostElements = int64_t{1} << 30;
/// The most elements of one launch, a multiple of kLaunchStep so that parts begin where packs and blocks of
/// elements do: kMostElements, or what BEESWAX_GPU_LAUNCH_ELEMENTS says, by which tests let parts of small
/// tensors meet.
inline constexpr int64_t kLaunchStep = 1024;
int64_t most_elements_asked();
inline int64_t most_elements() {
  static const int64_t most = most_elements_asked();
  return most;
}

/// The most blocks of a launch: AMD's runtime takes fewer than 2^32 threads.
inline int64_t most_blocks(int64_t threads) { return std::max<int64_t>(1, most_elements() / threads); }

/// Whether data begins at a multiple of `bytes`.
inline bool begins_at(const void* data, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0;
}

/// Magic numbers for n / divisor with n < 2^31: Granlund and Montgomery, "Division by invariant integers
/// using multiplication" (1994), the form with an added n.
constexpr Divisor divisor_of(uint32_t divisor) {
  const auto shift = static_cast<uint32_t>(std::bit_width(divisor - 1));
  const uint64_t multiplier = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1;
  return {divisor, static_cast<uint32_t>(multiplier), shift};
}

template <int n>
Walk<n> walk_of(const Nest<n>& nest) {
  Walk<n> walk{};
  walk.rank = nest.rank;
  for (int axis = 0; axis < nest.rank; ++axis) {
    const auto from = static_cast<size_t>(nest.rank - 1 - axis);
    walk.dims[axis] = divisor_of(static_cast<uint32_t>(nest.dims[from]));
    for (size_t k = 0; k < n; ++k) walk.strides[k][axis] = nest.strides[k][from];
  }
  return walk;
}

/// The nest by packs of `elements`, where its innermost axis is dense or broadcast in both operands, divides
/// into packs and lies on their boundaries; `aligned` says that the operands' first elements do. False where
/// it is not so.
inline bool pack_walk(const Nest<2>& nest, int64_t elements, bool aligned, Walk<2>* walk) {
  const size_t last = nest.last();
  if (!aligned || nest.dims[last] % elements != 0) return false;
  uint32_t packed = 0;
  for (size_t k = 0; k < 2; ++k) {
    if (nest.strides[k][last] == 1) packed |= 1u << k;
    if (nest.strides[k][last] != 0 && nest.strides[k][last] != 1) return false;
    for (size_t axis = 0; axis < last; ++axis)
      if (nest.strides[k][last] == 1 && nest.strides[k][axis] % elements != 0) return false;
  }
  if (packed == 0) return false;
  Nest<2> packs = nest;
  packs.dims[last] /= elements;
  for (size_t k = 0; k < 2; ++k) packs.strides[k][last] *= elements;
  *walk = walk_of(packs);
  walk->packed = packed;
  return true;
}

/// Calls part(nest, offsets, first) for pieces of a nest that one launch can take; `offsets` are where each
/// operand's piece begins and `first` is the linear index there. `most`: of the elements of a piece, if it
/// has several.
template <int n, class Part>
void for_each_part(const Nest<n>& nest, const Part& part,
                   const std::type_identity_t<std::array<int64_t, n>>& offsets = {}, int64_t first = 0,
                   int64_t most = most_elements()) {
  if (nest.count == 0) return;
  if (nest.count <= std::max<int64_t>(most, 1)) return part(nest, offsets, first);
  const int64_t inner = nest.count / nest.dims[0];
  const int64_t rows = std::max<int64_t>(most / inner, 1);
  for (int64_t row = 0; row < nest.dims[0]; row += rows) {
    Nest<n> piece = nest;
    piece.dims[0] = std::min(rows, nest.dims[0] - row);
    piece.count = piece.dims[0] * inner;
    std::array<int64_t, n> at = offsets;
    for (size_t k = 0; k < n; ++k) at[k] += row * nest.strides[k][0];
    if (piece.dims[0] == 1 && piece.rank > 1) {  // one row may still be too long
      --piece.rank;
      for (size_t axis = 0; axis < static_cast<size_t>(piece.rank); ++axis) {
        piece.dims[axis] = piece.dims[axis + 1];
        for (size_t k = 0; k < n; ++k) piece.strides[k][axis] = piece.strides[k][axis + 1];
      }
    }
    for_each_part(piece, part, at, first + row * inner, most);
  }
}

}  // namespace beeswax::gpu
