// SPDX-License-Identifier: Apache-2.0
// v_cmp and v_cmpx.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

template <class T>
EMU_FN auto plain(T x) {
  if constexpr (std::is_same_v<T, Half>)
    return x.f;
  else
    return x;
}

// One comparison of one type: v_cmp and v_cmpx.
#define COMPARE(name, type, expression)                         \
  valu<[](type x, type y) {                                     \
    [[maybe_unused]] const auto a = plain(x), b = plain(y);     \
    return bool(expression);                                    \
  }>("v_cmp_" name),                                            \
      valu_exec<[](type x, type y) {                            \
        [[maybe_unused]] const auto a = plain(x), b = plain(y); \
        return bool(expression);                                \
      }>("v_cmpx_" name),
#define ORDERED(suffix, type)         \
  COMPARE("lt_" suffix, type, a < b)  \
  COMPARE("eq_" suffix, type, a == b) \
  COMPARE("le_" suffix, type, a <= b) \
  COMPARE("gt_" suffix, type, a > b)  \
  COMPARE("ge_" suffix, type, a >= b) \
  COMPARE("f_" suffix, type, false)   \
  COMPARE("t_" suffix, type, true)
#define INTEGER(suffix, type) \
  ORDERED(suffix, type)       \
  COMPARE("ne_" suffix, type, a != b)
#define FLOATING(suffix, type)                       \
  ORDERED(suffix, type)                              \
  COMPARE("lg_" suffix, type, (a < b) | (a > b))     \
  COMPARE("o_" suffix, type, (a == a) & (b == b))    \
  COMPARE("u_" suffix, type, (a != a) | (b != b))    \
  COMPARE("nge_" suffix, type, !(a >= b))            \
  COMPARE("nlg_" suffix, type, !((a < b) | (a > b))) \
  COMPARE("ngt_" suffix, type, !(a > b))             \
  COMPARE("nle_" suffix, type, !(a <= b))            \
  COMPARE("neq_" suffix, type, !(a == b))            \
  COMPARE("nlt_" suffix, type, !(a < b))             \
  COMPARE("tru_" suffix, type, true)

constexpr Row kRows[] = {INTEGER("i16", int16_t) INTEGER("u16", uint16_t) INTEGER("i32", int32_t)
                             INTEGER("u32", uint32_t) INTEGER("i64", int64_t) INTEGER("u64", uint64_t)
                                 FLOATING("f16", Half) FLOATING("f32", float) FLOATING("f64", double)};

}  // namespace
EMU_GROUP(vector_compare, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
