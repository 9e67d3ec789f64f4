// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/kernels/unary_rows.h"

namespace beeswax::cpu::BW_ISA {

const UnaryFloatKernels& unary_float_kernels() {
  static constexpr UnaryFloatKernels kTable = {{
#define BW_UNARY(Name, ...) unary_loop<float, Name##Row>,
#define BW_UNARY_PARAM(Name, ...) unary_loop<float, Name##Row>,
#include "tables/unary.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
