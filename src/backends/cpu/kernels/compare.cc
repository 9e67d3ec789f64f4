// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/binary.h"
#include "backends/cpu/kernels/lines.h"
#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

#define BW_COMPARE(Name, method, expr, ...)    \
  struct Name##Row {                           \
    template <class T>                         \
    BW_MEMBER_FN static bool apply(T x, T y) { \
      return expr;                             \
    }                                          \
  };
#include "tables/binary.def"

template <class S, class Row>
void compare_loop(const void* x, const void* y, uint8_t* out, int64_t count, bool past_caches) {
  using T = Compute<S>;
  map_lines(
      out, count, past_caches,
      [](T a, T b) __attribute__((always_inline)) { return static_cast<uint8_t>(Row::apply(a, b) ? 1 : 0); },
      static_cast<const S*>(x), static_cast<const S*>(y));
}

template <class S>
void affine_loop(const void* x, void* out, int64_t count, const void* mul, const void* add,
                 bool past_caches) {
  using T = Compute<S>;
  const T m = *static_cast<const T*>(mul);
  const T a = *static_cast<const T*>(add);
  map_lines(
      static_cast<S*>(out), count, past_caches,
      [m, a](T v) __attribute__((always_inline)) { return static_cast<T>(v * m + a); },
      static_cast<const S*>(x));
}

template <class C, class S>
void where_loop(const void* condition, const void* x, const void* y, void* out, int64_t count,
                bool past_caches) {
  map_lines(
      static_cast<S*>(out), count, past_caches,
      [](C c, S a, S b) __attribute__((always_inline)) { return c != 0 ? a : b; },
      static_cast<const C*>(condition), static_cast<const S*>(x), static_cast<const S*>(y));
}

template <class S>
constexpr void fill_row(CompareLoop* loops) {
  size_t i = 0;
#define BW_COMPARE(Name, ...) loops[i++] = compare_loop<S, Name##Row>;
#include "tables/binary.def"
}

template <class C>
constexpr void fill_where(WhereLoop* loops) {
  loops[0] = where_loop<C, uint8_t>;
  loops[1] = where_loop<C, uint16_t>;
  loops[2] = where_loop<C, uint32_t>;
  loops[3] = where_loop<C, uint64_t>;
}

constexpr CompareKernels make_table() {
  CompareKernels table{};
#define BW_DTYPE(Name, name, ctype, ...)                          \
  fill_row<ctype>(table.loops[static_cast<size_t>(DType::Name)]); \
  table.affine[static_cast<size_t>(DType::Name)] = affine_loop<ctype>;
#include "tables/dtypes.def"
  fill_where<uint8_t>(table.where[0]);
  fill_where<uint16_t>(table.where[1]);
  fill_where<uint32_t>(table.where[2]);
  fill_where<uint64_t>(table.where[3]);
  return table;
}

}  // namespace

const CompareKernels& compare_kernels() {
  static constexpr CompareKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
