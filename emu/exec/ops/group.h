// SPDX-License-Identifier: Apache-2.0
// EMU_GROUP(group, rows): makes a file's table known to the list of groups.def. Tables are constexpr: code
// that fills them when the library is loaded would be of this level, on any processor.
#pragma once
#include "emu/exec/table.h"

#define EMU_GROUP(group, rows)                                                 \
  static_assert(rows[0].name != nullptr, "a table of rows must be constexpr"); \
  extern const RowGroup k_##group;                                             \
  const RowGroup k_##group = {#group, rows, sizeof(rows) / sizeof(rows[0])};
