// SPDX-License-Identifier: Apache-2.0
// Parts of messages as text.
#include "core/fail.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace beeswax {
namespace {

TEST(Fail, NumbersAreTheShortestThatReadBack) {
  EXPECT_EQ(join_text("eps ", 1e-6, " and ", 0.1f), "eps 1e-06 and 0.1");
  EXPECT_EQ(join_text(1e-300), "1e-300");
  EXPECT_EQ(join_text(0.5, " ", -2.0, " ", 10.0), "0.5 -2 10");
  EXPECT_EQ(join_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(join_text(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(join_text(HUGE_VAL, " ", -HUGE_VAL, " ", std::nan("")), "inf -inf nan");
  EXPECT_EQ(join_text(7, " ", uint64_t{UINT64_MAX}), "7 18446744073709551615");
}

}  // namespace
}  // namespace beeswax
