// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/kernels/unary_rows.h"

namespace beeswax::cpu::BW_ISA {

const UnaryDoubleKernels& unary_double_kernels() {
  static constexpr UnaryDoubleKernels kTable = {{
#define BW_UNARY(Name, ...) unary_loop<double, Name##Row>,
#define BW_UNARY_PARAM(Name, ...) unary_loop<double, Name##Row>,
#include "tables/unary.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
