// SPDX-License-Identifier: Apache-2.0
// Who makes a matrix product: our kernels, or a vendor's library. BEESWAX_BLAS says own, vendor or auto; auto
// asks a table of measurements.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/gpu/gemm.h"
#include "backends/gpu/vendor_mode.h"
#include "beeswax/export.h"

namespace beeswax::gpu::blas {

/// Instead of the variable's, for benchmarks that compare.
BW_API void set_mode(VendorMode mode);

struct Range {
  int64_t least, most;
  bool has(int64_t value) const { return value >= least && value <= most; }
};
/// A row of wins.def.
struct Win {
  std::string_view arch;
  DType dtype;
  Range m, n, k;
};
/// Whether a table says that a library is faster on `arch`; of batches none does.
bool wins(std::span<const Win> table, std::string_view arch, const Product& product);

struct Choice {
  VendorMode mode = VendorMode::Auto;
  std::span<const Win> table;
};
/// The process's: BEESWAX_BLAS, read at the first call, and wins.def.
Choice choice();

}  // namespace beeswax::gpu::blas
