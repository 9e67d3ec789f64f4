// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/blas/choice.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "core/fail.h"

namespace beeswax::gpu::blas {
namespace {
std::atomic<int> chosen{-1};
constexpr Range range(int64_t least, int64_t most) { return {least, most}; }
}  // namespace

Mode mode_of(const char* text) {
  const std::string_view name = text == nullptr ? "" : text;
  if (name.empty() || name == "auto") return Mode::Auto;
  if (name == "own") return Mode::Own;
  if (name == "vendor") return Mode::Vendor;
  fail(ErrorKind::InvalidArgument, "matmul", "BEESWAX_BLAS is '", name, "'; accepted: own, vendor, auto");
}

Choice choice() {
  static const std::vector<Win> rows = {
#define BW_BLAS_WINS(arch, dtype, m, n, k) Win{arch, DType::dtype, range m, range n, range k},
#include "backends/gpu/blas/wins.def"
  };
  int value = chosen.load(std::memory_order_relaxed);
  if (value < 0) {
    value = static_cast<int>(mode_of(std::getenv("BEESWAX_BLAS")));
    int unread = -1;
    if (!chosen.compare_exchange_strong(unread, value)) value = unread;
  }
  return {static_cast<Mode>(value), rows};
}

void set_mode(Mode mode) { chosen.store(static_cast<int>(mode)); }

bool wins(std::span<const Win> table, std::string_view arch, const Product& product) {
  return std::ranges::any_of(table, [&](const Win& win) {
    return win.dtype == product.c_type && win.m.has(product.m) && win.n.has(product.n) &&
           win.k.has(product.k) && win.arch == arch;
  });
}

}  // namespace beeswax::gpu::blas
