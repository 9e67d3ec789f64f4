// SPDX-License-Identifier: Apache-2.0
// Matrix units behind one name: Mma<T> multiplies 16 rows of a by 16 columns of b over a tile's 64 bytes of
// k, which both hold in shared memory (mma/lanes.h). T is f16, bf16 or uint8_t, and double and Tf32 where the
// units have them; modules with these are built for such targets alone (BW_ONLY of cmake/kernels.cmake).
// Which k a thread holds does not matter as long as it is the same for a and b, so every family reads whole
// packs of 16 bytes, and reads those of every T alike.
//   Sum       what products are added in: float, int32_t (which wraps), double
//   Fragment  a thread's share of 16 lanes: load() for rows of a, load_columns() for columns of b
//   kSums     its share of the 16 x 16 results
//   row(i), column(i)   where number i of a thread's sums belongs
// Of Tf32, tf32_bits() is what lies in shared memory.
#pragma once

#include "kernels/mma/mfma.h"
#include "kernels/mma/mma_sync.h"
#include "kernels/mma/wmma.h"
