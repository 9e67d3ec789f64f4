// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/blas/choice.h"

#include <algorithm>
#include <vector>

namespace beeswax::gpu::blas {
namespace {
constinit VendorVariable variable("BEESWAX_BLAS", "matmul");
constexpr Range range(int64_t least, int64_t most) { return {least, most}; }
}  // namespace

Choice choice() {
  static const std::vector<Win> rows = {
#define BW_BLAS_WINS(arch, dtype, m, n, k) Win{arch, DType::dtype, range m, range n, range k},
#include "backends/gpu/blas/wins.def"
  };
  return {variable.mode(), rows};
}

void set_mode(VendorMode mode) { variable.set(mode); }

bool wins(std::span<const Win> table, std::string_view arch, const Product& product) {
  if (product.batch.count != 1) return false;
  return std::ranges::any_of(table, [&](const Win& win) {
    return win.dtype == product.c_type && win.m.has(product.m) && win.n.has(product.n) &&
           win.k.has(product.k) && win.arch == arch;
  });
}

}  // namespace beeswax::gpu::blas
