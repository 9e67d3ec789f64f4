// SPDX-License-Identifier: Apache-2.0
#include "beeswax/shape.h"

#include <gtest/gtest.h>

#include "beeswax/error.h"
#include "core/broadcast.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().elem_count(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).elem_count(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).elem_count(), 0);
  EXPECT_EQ((Shape{int64_t{1} << 40, 0, int64_t{1} << 20}).elem_count(), 0);
}

TEST(Shape, RefusesWhatDoesNotFit) {
  EXPECT_ERROR((Shape{int64_t{1} << 40, int64_t{1} << 40}).elem_count(), TooLarge, "more than 2^63");
  // An empty axis does not excuse the others: strides are their products.
  EXPECT_ERROR((Shape{int64_t{1} << 40, 0, int64_t{1} << 40}).elem_count(), TooLarge,
               "other sizes have a product above 2^63");
  EXPECT_ERROR((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), InvalidArgument, "at most 8");
  EXPECT_ERROR((Shape{2, -1}), InvalidArgument, "negative size -1");
}

TEST(Shape, SetsSizesOfItsAxesOnly) {
  Shape shape{2, 3};
  shape.set(1, 0);
  EXPECT_EQ(shape, (Shape{2, 0}));
  EXPECT_ERROR(shape.set(0, -1), InvalidArgument, "[shape] negative size -1");
  EXPECT_ERROR(shape.set(2, 1), DimOutOfRange, "[shape] axis 2 is out of range for shape [2, 0]");
  EXPECT_ERROR(shape.set(8, 1), DimOutOfRange, "[shape] axis 8 is out of range");
  EXPECT_ERROR(shape.set(-1, 1), DimOutOfRange, "out of range for shape [2, 0]");
  for (const int axis : {-1, 3, 8})
    EXPECT_ERROR(shape.insert(axis, 1), DimOutOfRange, "[shape] no size can be put before axis ");
  for (const int axis : {-1, 2, 8})
    EXPECT_ERROR(shape.erase(axis), DimOutOfRange, "is out of range for shape [2, 0]");
  EXPECT_ERROR(Shape().erase(0), DimOutOfRange, "[shape] axis 0 is out of range for shape []");
  EXPECT_EQ(shape, (Shape{2, 0}));
  Shape other = shape;
  other.insert(2, 5);
  EXPECT_EQ(other, (Shape{2, 0, 5}));
  other.erase(0);
  EXPECT_EQ(other, (Shape{0, 5}));
  EXPECT_EQ(shape, (Shape{2, 0}));
}

TEST(Shape, NormalizesAxes) {
  const Shape shape{2, 3};
  EXPECT_EQ(shape.axis(-1, "t"), 1);
  EXPECT_EQ(shape.axis(0, "t"), 0);
  EXPECT_ERROR(shape.axis(2, "sum"), DimOutOfRange,
               "[sum] axis 2 is out of range for shape [2, 3] (accepted: -2 to 1)");
  EXPECT_ERROR(Shape().axis(0, "sum"), DimOutOfRange, "a scalar has no axes");
}

TEST(Axes, MaskRefusesDuplicates) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(Axes({0, -1}).mask(shape, "sum"), 0b101u);
  EXPECT_EQ(Axes(1).mask(shape, "sum"), 0b010u);
  EXPECT_ERROR(Axes({2, -1}).mask(shape, "sum"), DuplicateDim, "axis -1 is named twice");
  EXPECT_ERROR(Axes({0, 1, 2, 0, 1, 2, 0, 1, 2}).mask(shape, "sum"), InvalidArgument,
               "[sum] 9 axes are named for shape [2, 3, 4]; at most 8");
}

TEST(Broadcast, FollowsNumPy) {
  EXPECT_EQ(broadcast_shapes({4, 1, 3}, {2, 1}, "add"), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast_shapes({}, {2, 0}, "add"), (Shape{2, 0}));
  EXPECT_EQ(broadcast_shapes({1}, {0}, "add"), (Shape{0}));
  EXPECT_EQ(broadcast_shapes({2, 1}, {4, 1, 3}, "add"), (Shape{4, 2, 3}));
  EXPECT_ERROR(broadcast_shapes({2, 3}, {4}, "add"), ShapeMismatch, "[add] cannot broadcast [2, 3] with [4]");
}

TEST(Broadcast, NamesTheAxisThatDoesNotFit) {
  EXPECT_ERROR(broadcast_shapes({3, 1, 5}, {2, 4, 5}, "add"), ShapeMismatch, "sizes 3 and 2 of axis -3");
  EXPECT_ERROR(broadcast_shapes({2, 3}, {9, 4, 3}, "add"), ShapeMismatch, "sizes 2 and 4 of axis -2");
  EXPECT_EQ(broadcast_misfit({2, 3}, {4}), -1);
  EXPECT_EQ(broadcast_misfit({7, 2, 1}, {0, 1}), -2);
  EXPECT_EQ(broadcast_misfit({7, 1, 1}, {0, 1}), 0);
  EXPECT_TRUE(broadcasts({}, {}));
  EXPECT_TRUE(broadcasts({2, 1}, {3, 1, 4}));
  EXPECT_FALSE(broadcasts({2, 1}, {3, 4}));
}

TEST(Broadcast, OneWay) {
  EXPECT_TRUE(broadcasts_to({}, {}));
  EXPECT_TRUE(broadcasts_to({}, {2, 0}));
  EXPECT_TRUE(broadcasts_to({3, 1}, {2, 3, 4}));
  EXPECT_TRUE(broadcasts_to({1}, {0}));
  EXPECT_FALSE(broadcasts_to({0}, {1}));
  EXPECT_FALSE(broadcasts_to({2, 3, 4}, {3, 4}));
  EXPECT_FALSE(broadcasts_to({1, 3}, {3}));
  EXPECT_FALSE(broadcasts_to({3, 4}, {3, 1}));
  EXPECT_FALSE(broadcasts_to({3, 4}, {3, 5}));
}

}  // namespace
}  // namespace beeswax
