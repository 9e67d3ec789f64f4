// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/cast.h"

#include <type_traits>

#include "backends/cpu/kernels/lines.h"
#include "core/math/convert.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class From, class To>
void cast_loop(const void* x, void* y, int64_t count, bool past_caches) {
  map_lines(
      static_cast<To*>(y), count, past_caches,
      [](Compute<From> v) __attribute__((always_inline)) {
        if constexpr (kNarrow<To>) {
          return m::narrow_source<To>(v);
        } else {
          return m::convert<To>(v);
        }
      },
      static_cast<const From*>(x));
}

template <class From, class To>
constexpr CastFn loop_of() {
  if constexpr (std::is_same_v<From, To>) {
    return nullptr;
  } else {
    return cast_loop<From, To>;
  }
}

template <class From>
constexpr void fill_row(CastFn* loops) {
#define BW_DTYPE(Name, name, ctype, ...) loops[static_cast<size_t>(DType::Name)] = loop_of<From, ctype>();
#include "tables/dtypes.def"
}

constexpr CastKernels make_table() {
  CastKernels table{};
#define BW_DTYPE(Name, name, ctype, ...) fill_row<ctype>(table.loops[static_cast<size_t>(DType::Name)]);
#include "tables/dtypes.def"
  return table;
}

}  // namespace

const CastKernels& cast_kernels() {
  static constexpr CastKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
