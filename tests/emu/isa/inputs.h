// SPDX-License-Identifier: Apache-2.0
// What instructions are tried on: the same edge values and random numbers every time.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "emu/isa/exact.h"

namespace emu::isa {

inline constexpr unsigned kItems = 1024;

/// One work-item's registers before the instruction.
struct Item {
  std::array<u128, 3> source;
  u128 destination;
  bool vcc, active;
};

/// Formats of the sources and of the destination as the document has them ("F32", "PK2_F16"), empty for none.
/// Two sources meet in every pair of edge values, three in every triple of fewer.
std::vector<Item> make_items(const std::array<std::string, 3>& sources, const std::string& destination);

/// Bits of one element of a format: 16 for PK2_F16; and whether it is a float.
struct Element {
  int width;
  bool floating, bfloat;
};
Element element_of(const std::string& format);

}  // namespace emu::isa
