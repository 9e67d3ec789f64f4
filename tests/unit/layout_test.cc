// SPDX-License-Identifier: Apache-2.0
#include "beeswax/layout.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace beeswax {
namespace {

std::vector<int64_t> strides_of(const Layout& layout) {
  return {layout.strides().begin(), layout.strides().end()};
}

TEST(Layout, Contiguity) {
  const Layout dense(Shape{2, 3, 4});
  EXPECT_EQ(strides_of(dense), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_TRUE(dense.is_contiguous());
  EXPECT_FALSE(dense.is_fortran_contiguous());
  EXPECT_TRUE(dense.transpose(0, 2).is_fortran_contiguous());
  EXPECT_TRUE(dense.narrow(0, 1, 1).is_contiguous());  // the offset does not count
  EXPECT_FALSE(dense.narrow(1, 0, 2).is_contiguous());
  EXPECT_TRUE(dense.narrow(0, 0, 1).narrow(1, 0, 2).is_contiguous());
  EXPECT_TRUE(Layout(Shape{1, 5}).transpose(0, 1).is_contiguous());  // nor do axes of size 1
  EXPECT_TRUE(dense.narrow(1, 0, 0).is_contiguous());                // an empty tensor always is
  EXPECT_TRUE(Layout(Shape{}).is_contiguous());
}

TEST(Layout, ViewsOfStrides) {
  const Layout dense(Shape{2, 3, 4});
  EXPECT_EQ(dense.narrow(1, 2, 1).offset(), 8);
  EXPECT_EQ(strides_of(dense.squeeze(0)), (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(strides_of(dense.unsqueeze(1)), (std::vector<int64_t>{12, 12, 4, 1}));
  EXPECT_EQ(strides_of(dense.unsqueeze(3)), (std::vector<int64_t>{12, 4, 1, 1}));
  const Layout windows = dense.unfold(2, 3, 1);
  EXPECT_EQ(windows.shape(), (Shape{2, 3, 2, 3}));
  EXPECT_EQ(strides_of(windows), (std::vector<int64_t>{12, 4, 1, 1}));
  EXPECT_EQ(strides_of(Layout(Shape{3, 1}).broadcast_as({2, 3, 4}, "t")), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_ERROR(dense.broadcast_as({2, 3, 5}, "broadcast_as"), ShapeMismatch,
               "[broadcast_as] cannot broadcast [2, 3, 4] to [2, 3, 5]");
  EXPECT_EQ(dense.extent(), 24);
  EXPECT_EQ(dense.narrow(0, 1, 0).extent(), 0);
}

TEST(Layout, ReshapeViews) {
  Layout out;
  const Layout dense(Shape{4, 6});
  EXPECT_TRUE(dense.narrow(1, 0, 4).reshape_view({4, 2, 2}, &out));
  EXPECT_EQ(strides_of(out), (std::vector<int64_t>{6, 2, 1}));
  EXPECT_FALSE(dense.narrow(1, 0, 4).reshape_view({16}, &out));
  EXPECT_TRUE(dense.transpose(0, 1).reshape_view({6, 2, 2}, &out));
  EXPECT_EQ(strides_of(out), (std::vector<int64_t>{1, 12, 6}));
  EXPECT_FALSE(dense.transpose(0, 1).reshape_view({24}, &out));
  EXPECT_TRUE(dense.transpose(0, 1).reshape_view({1, 6, 1, 4}, &out));
  EXPECT_TRUE(Layout(Shape{1}).broadcast_as({5, 1}, "t").reshape_view({5}, &out));
  EXPECT_EQ(strides_of(out), (std::vector<int64_t>{0}));
}

}  // namespace
}  // namespace beeswax
