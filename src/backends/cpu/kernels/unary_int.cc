// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/kernels/unary_rows.h"

namespace beeswax::cpu::BW_ISA {
namespace {

enum class Dtypes { Float, Number };

template <class T, class Row, Dtypes dtypes>
constexpr UnaryLoop int_loop() {
  if constexpr (dtypes == Dtypes::Number) {
    return unary_loop<T, Row>;
  } else {
    return nullptr;
  }
}

template <class T>
constexpr void fill_row(UnaryLoop* loops) {
  size_t i = 0;
#define BW_UNARY(Name, method, dtypes, ...) loops[i++] = int_loop<T, Name##Row, Dtypes::dtypes>();
#define BW_UNARY_PARAM(Name, method, param, dtypes, ...) \
  loops[i++] = int_loop<T, Name##Row, Dtypes::dtypes>();
#include "tables/unary.def"
}

constexpr UnaryIntKernels make_table() {
  UnaryIntKernels table{};
#define BW_X(Name, ctype) fill_row<ctype>(table.loops[static_cast<size_t>(ComputeType::Name)]);
  BW_COMPUTE_INT_TYPES(BW_X)
#undef BW_X
  return table;
}

}  // namespace

const UnaryIntKernels& unary_int_kernels() {
  static constexpr UnaryIntKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
