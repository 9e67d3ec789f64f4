// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/kernels/unary_rows.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class Row>
void half_loop(const void* x, void* y, int64_t count, double param) {
  const float* from = static_cast<const float*>(x);
  float* to = static_cast<float*>(y);
  const float p = static_cast<float>(param);
  for (int64_t i = 0; i < count; ++i) to[i] = Row::half(from[i], p);
}

// The loop for narrow results: the f32 loop itself where the row has no expression of its own.
template <class Row>
constexpr UnaryLoop half_of() {
  if constexpr (std::is_same_v<decltype(Row::half(0.0f, 0.0f)), Same>) {
    return unary_loop<float, Row>;
  } else {
    return half_loop<Row>;
  }
}

}  // namespace

const UnaryFloatKernels& unary_float_kernels() {
  static constexpr UnaryFloatKernels kTable = {
      {
#define BW_UNARY(Name, ...) unary_loop<float, Name##Row>,
#define BW_UNARY_PARAM(Name, ...) unary_loop<float, Name##Row>,
#include "tables/unary.def"
      },
      {
#define BW_UNARY(Name, ...) half_of<Name##Row>(),
#define BW_UNARY_PARAM(Name, ...) half_of<Name##Row>(),
#include "tables/unary.def"
      },
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
