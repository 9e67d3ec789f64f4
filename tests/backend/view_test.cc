// SPDX-License-Identifier: Apache-2.0
// Views and copies against index arithmetic done by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "beeswax/tensor.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

Tensor iota(const Shape& shape) {
  std::vector<float> data(static_cast<size_t>(shape.elem_count()));
  std::iota(data.begin(), data.end(), 0.0f);
  return Tensor::from_vec(data, shape);
}

TEST(View, TransposeCopiesRight) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 5}, {17, 33}, {100, 7}, {64, 64}, {257, 300}}) {
    const std::vector<float> got = iota({rows, cols}).t().contiguous().to_vec<float>();
    for (int64_t c = 0; c < cols; ++c)
      for (int64_t r = 0; r < rows; ++r)
        ASSERT_EQ(got[static_cast<size_t>(c * rows + r)], static_cast<float>(r * cols + c));
  }
}

TEST(View, ReshapeKeepsViewsWhereStridesAllow) {
  const Tensor x = iota({4, 6});
  const Tensor y = x.narrow(0, 1, 2).reshape({3, 4});
  EXPECT_EQ(&x.storage(), &y.storage());
  EXPECT_EQ(y.to_vec<float>(), (std::vector<float>{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}));
  const Tensor z = x.t().reshape({-1, 2});
  EXPECT_NE(&x.storage(), &z.storage());
  EXPECT_EQ(z.i(1, 0).to_scalar<float>(), 12.0f);
  const Tensor split = x.t().reshape({2, 3, 4});  // splitting an axis needs no copy
  EXPECT_EQ(&x.storage(), &split.storage());
  EXPECT_EQ(split.to_vec<float>(), x.t().to_vec<float>());
  EXPECT_ERROR(x.reshape({5, -1}), ShapeMismatch,
               "[reshape] cannot infer the -1: 24 elements of [4, 6] f32 cpu do not divide by 5; accepted: "
               "other sizes "
               "whose product is not 0 and divides 24");
  EXPECT_ERROR(
      x.reshape({5, 5}), ShapeMismatch,
      "[reshape] [4, 6] f32 cpu has 24 elements, [5, 5] has 25; accepted: sizes whose product is 24");
  EXPECT_ERROR(x.broadcast_as({3, 4, 5}), ShapeMismatch,
               "[broadcast_as] cannot broadcast [4, 6] f32 cpu to [3, 4, 5]; accepted: each size equal or 1");
  EXPECT_ERROR(x.flatten(1, 0), InvalidArgument,
               "[flatten] first axis 1 comes after last axis 0 in [4, 6] f32 cpu; accepted: a first axis");
  EXPECT_ERROR(x.chunk(0, 1), InvalidArgument, "[chunk] needs at least one chunk of [4, 6] f32 cpu, got 0");
}

TEST(View, FullThenDense) {
  const Tensor x = Tensor::full({2, 3}, 7, DType::I64);
  EXPECT_EQ(x.to_vec<int64_t>(), (std::vector<int64_t>{7, 7, 7, 7, 7, 7}));
  EXPECT_ERROR(Tensor::full({2}, 300, DType::U8), InvalidArgument, "300 is not a value of u8");
}

}  // namespace
}  // namespace beeswax
