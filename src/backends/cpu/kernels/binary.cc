// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/binary.h"

#include <type_traits>

#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

enum class Dtypes { Float, Number };
enum class Guard { None, NonZero };

#define BW_BINARY(Name, method, dtypes, expr, ...) \
  struct Name##Row {                               \
    template <class T>                             \
    BW_MEMBER_FN static T apply(T x, T y) {        \
      return static_cast<T>(expr);                 \
    }                                              \
  };
#include "tables/binary.def"

template <class T, class Row, Guard guard>
int64_t binary_loop(const void* x, const void* y, void* out, int64_t count) {
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(y);
  T* to = static_cast<T*>(out);
  int64_t broken = 0;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (guard == Guard::NonZero && std::is_integral_v<T>) broken += b[i] == T(0);
    to[i] = Row::apply(a[i], b[i]);
  }
  return broken;
}

template <class T, class Row, Dtypes dtypes, Guard guard>
constexpr BinaryLoop loop_of() {
  if constexpr (dtypes == Dtypes::Number || std::is_floating_point_v<T>) {
    return binary_loop<T, Row, guard>;
  } else {
    return nullptr;
  }
}

template <class T>
constexpr void fill_row(BinaryLoop* loops) {
  size_t i = 0;
#define BW_BINARY(Name, method, dtypes, expr, guard, ...) \
  loops[i++] = loop_of<T, Name##Row, Dtypes::dtypes, Guard::guard>();
#include "tables/binary.def"
}

constexpr BinaryKernels make_table() {
  BinaryKernels table{};
#define BW_X(Name, ctype) fill_row<ctype>(table.loops[static_cast<size_t>(ComputeType::Name)]);
  BW_COMPUTE_TYPES(BW_X)
#undef BW_X
  return table;
}

}  // namespace

const BinaryKernels& binary_kernels() {
  static constexpr BinaryKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
