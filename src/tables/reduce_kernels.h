// SPDX-License-Identifier: Apache-2.0
// Which kernel serves a row of tables/reduce.def: rows that differ in their last step only share one, and a
// minimum is the maximum of elements in reversed order. The same for the host and for kernels.
#pragma once

#include <cstdint>

#include "tables/same_text.h"

namespace beeswax::gpu {

struct ReduceTexts {
  const char* method;
  const char* dtypes;
  const char* center;
  const char* map;
  const char* combine;
};
inline constexpr ReduceTexts kReduceTexts[] = {
#define BW_REDUCE(Name, method, dtypes, center, map, combine, ...) \
  {#method, #dtypes, #center, #map, #combine},
#include "tables/reduce.def"
};
inline constexpr int kReduceRows = sizeof(kReduceTexts) / sizeof(kReduceTexts[0]);

namespace reduce_center {
enum : int {
  NONE = -1,
#define BW_REDUCE(Name, ...) Name,
#include "tables/reduce.def"
};
}  // namespace reduce_center
/// The row whose result each row takes for its center, or reduce_center::NONE.
inline constexpr int kReduceCenters[] = {
#define BW_REDUCE(Name, method, dtypes, center, ...) reduce_center::center,
#include "tables/reduce.def"
};

inline constexpr const char* kMaximumText = "m::maximum(a, b)";
inline constexpr const char* kMinimumText = "m::minimum(a, b)";

constexpr bool reduce_reverses(int row) {
  return same_text(kReduceTexts[row].combine, kMinimumText) && same_text(kReduceTexts[row].map, "x");
}
/// The first row that differs from this one in the last step at most.
constexpr int reduce_kernel(int row) {
  const char* combine = reduce_reverses(row) ? kMaximumText : kReduceTexts[row].combine;
  int first = 0;
  while (!same_text(kReduceTexts[first].center, kReduceTexts[row].center) ||
         !same_text(kReduceTexts[first].map, kReduceTexts[row].map) ||
         !same_text(kReduceTexts[first].combine, combine))
    ++first;
  return first;
}

}  // namespace beeswax::gpu
