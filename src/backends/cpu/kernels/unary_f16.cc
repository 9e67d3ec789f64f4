// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/kernels/unary_rows.h"

namespace beeswax::cpu::BW_ISA {

const UnaryF16Kernels& unary_f16_kernels() {
  static constexpr UnaryF16Kernels kTable = {{
#define BW_UNARY(Name, ...) unary_loop<f16, Name##Row>,
#define BW_UNARY_PARAM(Name, ...) unary_loop<f16, Name##Row>,
#include "tables/unary.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
