// SPDX-License-Identifier: Apache-2.0
// The rows of tables/reduce.def for tests: each one's method, its value evaluated in the documented order one
// element at a time, and its oracle with its bound.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "beeswax/tensor.h"
#include "core/math/log_sum_exp.h"
#include "core/math/math.h"
#include "support/documented_order.h"
#include "support/oracle.h"

namespace beeswax::test {

/// The number of roundings on an element's way through that order.
inline int depth(size_t count) {
  int levels = 0;
  do {
    levels += 13;
    count = (count + 511) / 512;
  } while (count > 1);
  return levels;
}

template <class A>
struct ReduceRow {
  const char* name;
  ReduceOp op;
  bool floats_only;
  Tensor (Tensor::*method)(const Axes&, bool) const;
  Tensor (Tensor::*method_all)() const;
  std::optional<double> empty;  // none: EmptyTensor
  A (*value)(const std::vector<A>&);
  long double (*exact)(oracle::Values v);
  long double (*bound)(oracle::Values v, long double e);
};

template <int op>
struct RowOf;
template <>
struct RowOf<-1> {
  template <class A>
  static A value(const std::vector<A>& /*v*/) {
    return A(0);
  }
};

enum RowNames {
  NONE = -1,
#define BW_REDUCE(Name, ...) Name,
#include "tables/reduce.def"
};
enum class Dtypes { Number, Float };

// An integer never sees the expressions of a row for floats.
#define BW_REDUCE(Name, method, dtypes, center, map, combine, final, empty, bound_, oracle_, doc) \
  template <>                                                                                     \
  struct RowOf<Name> {                                                                            \
    static constexpr int kCenter = center;                                                        \
    template <class A>                                                                            \
    static A value(const std::vector<A>& v) {                                                     \
      if constexpr (Dtypes::dtypes == Dtypes::Number || m::Floating<A>) {                         \
        [[maybe_unused]] const A c = RowOf<kCenter>::template value<A>(v);                        \
        [[maybe_unused]] const A n = static_cast<A>(v.size());                                    \
        std::vector<A> mapped;                                                                    \
        for (const A x : v) mapped.push_back(static_cast<A>(map));                                \
        const A a = in_order(mapped, [](A a, A b) { return static_cast<A>(combine); });           \
        return static_cast<A>(final);                                                             \
      } else {                                                                                    \
        return v[0];                                                                              \
      }                                                                                           \
    }                                                                                             \
    static long double exact(oracle::Values v) { return oracle_; }                                \
    static long double bound([[maybe_unused]] oracle::Values v, [[maybe_unused]] long double e) { \
      return bound_;                                                                              \
    }                                                                                             \
  };
#include "tables/reduce.def"

// In the column `empty`.
constexpr std::nullopt_t ERROR = std::nullopt;

template <class A>
const std::vector<ReduceRow<A>>& reduce_rows() {
  static const std::vector<ReduceRow<A>> rows = {
#define BW_REDUCE(Name, method, dtypes, center, map, combine, final, empty, ...) \
  {#method,                                                                      \
   ReduceOp::Name,                                                               \
   Dtypes::dtypes == Dtypes::Float,                                              \
   &Tensor::method,                                                              \
   &Tensor::method##_all,                                                        \
   std::optional<double>(empty),                                                 \
   RowOf<Name>::value<A>,                                                        \
   RowOf<Name>::exact,                                                           \
   RowOf<Name>::bound},
#include "tables/reduce.def"
  };
  return rows;
}

}  // namespace beeswax::test
