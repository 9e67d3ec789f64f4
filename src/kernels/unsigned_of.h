// SPDX-License-Identifier: Apache-2.0
// Elements as bits.
#pragma once

#include <cstdint>

namespace beeswax::gpu {

template <int bytes>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using Type = uint8_t;
};
template <>
struct UnsignedOfSize<2> {
  using Type = uint16_t;
};
template <>
struct UnsignedOfSize<4> {
  using Type = uint32_t;
};
template <>
struct UnsignedOfSize<8> {
  using Type = uint64_t;
};
/// The unsigned integer of so many bytes.
template <int bytes>
using UnsignedOf = typename UnsignedOfSize<bytes>::Type;

}  // namespace beeswax::gpu
