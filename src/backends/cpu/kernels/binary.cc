// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/binary.h"

#include <type_traits>

#include "backends/cpu/kernels/lines.h"
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

template <class S, class Row>
BW_FN void binary_lines(const S* a, const S* b, S* to, int64_t count, bool past_caches) {
  using T = Compute<S>;
  map_lines(
      to, count, past_caches, [](T x, T y) __attribute__((always_inline)) { return Row::apply(x, y); }, a, b);
}

template <class S, class Row, Guard guard>
int64_t binary_loop(const void* x, const void* y, void* out, int64_t count, bool past_caches) {
  const S* a = static_cast<const S*>(x);
  const S* b = static_cast<const S*>(y);
  S* to = static_cast<S*>(out);
  int64_t broken = 0;
  if constexpr (guard == Guard::NonZero && std::is_integral_v<S>) {
    constexpr int64_t kBlock = 1024;  // stays in the first cache between the two loops
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const int64_t size = begin + kBlock < count ? kBlock : count - begin;
      S zero = 0;
      for (int64_t i = begin; i < begin + size; ++i) zero = static_cast<S>(zero | (b[i] == 0 ? 1 : 0));
      broken += zero;
      binary_lines<S, Row>(a + begin, b + begin, to + begin, size, past_caches);
    }
  } else {
    binary_lines<S, Row>(a, b, to, count, past_caches);
  }
  return broken;
}

template <class S, class Row, Dtypes dtypes, Guard guard>
constexpr BinaryLoop loop_of() {
  if constexpr (dtypes == Dtypes::Number || !std::is_integral_v<S>) {
    return binary_loop<S, Row, guard>;
  } else {
    return nullptr;
  }
}

template <class S>
constexpr void fill_row(BinaryLoop* loops) {
  size_t i = 0;
#define BW_BINARY(Name, method, dtypes, expr, guard, ...) \
  loops[i++] = loop_of<S, Name##Row, Dtypes::dtypes, Guard::guard>();
#include "tables/binary.def"
}

constexpr BinaryKernels make_table() {
  BinaryKernels table{};
#define BW_DTYPE(Name, name, ctype, ...) fill_row<ctype>(table.loops[static_cast<size_t>(DType::Name)]);
#include "tables/dtypes.def"
  return table;
}

}  // namespace

const BinaryKernels& binary_kernels() {
  static constexpr BinaryKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
