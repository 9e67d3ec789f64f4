// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/binary.h"
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

template <class T, class Row>
void compare_loop(const void* x, const void* y, uint8_t* out, int64_t count) {
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(y);
  for (int64_t i = 0; i < count; ++i) out[i] = Row::apply(a[i], b[i]) ? 1 : 0;
}

template <class T>
void affine_loop(const void* x, void* out, int64_t count, const void* mul, const void* add) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  const T m = *static_cast<const T*>(mul);
  const T a = *static_cast<const T*>(add);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i] * m + a);
}

template <class T>
void mask_loop(const void* x, uint8_t* mask, int64_t count) {
  const T* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < count; ++i) mask[i] = from[i] != 0 ? 255 : 0;
}

template <class T>
void select_loop(const uint8_t* mask, const void* x, const void* y, void* out, int64_t count) {
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(y);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = mask[i] != 0 ? a[i] : b[i];
}

template <class T>
constexpr void fill_row(CompareLoop* loops) {
  size_t i = 0;
#define BW_COMPARE(Name, ...) loops[i++] = compare_loop<T, Name##Row>;
#include "tables/binary.def"
}

constexpr CompareKernels make_table() {
  CompareKernels table{};
#define BW_X(Name, ctype)                                               \
  fill_row<ctype>(table.loops[static_cast<size_t>(ComputeType::Name)]); \
  table.affine[static_cast<size_t>(ComputeType::Name)] = affine_loop<ctype>;
  BW_COMPUTE_TYPES(BW_X)
#undef BW_X
  table.mask[0] = mask_loop<uint8_t>;
  table.mask[1] = mask_loop<uint16_t>;
  table.mask[2] = mask_loop<uint32_t>;
  table.mask[3] = mask_loop<uint64_t>;
  table.select[0] = select_loop<uint8_t>;
  table.select[1] = select_loop<uint16_t>;
  table.select[2] = select_loop<uint32_t>;
  table.select[3] = select_loop<uint64_t>;
  return table;
}

}  // namespace

const CompareKernels& compare_kernels() {
  static constexpr CompareKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
