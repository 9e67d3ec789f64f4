// SPDX-License-Identifier: Apache-2.0
// EMU_GROUP(name, rows): makes a file's table known to the list of groups.def.
#pragma once
#include "emu/exec/table.h"

#define EMU_GROUP(name, rows)     \
  extern const RowGroup k_##name; \
  const RowGroup k_##name = {#name, rows, sizeof(rows) / sizeof(rows[0])};
