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

std::vector<int64_t> places(const StridedIndex& index) {
  std::vector<int64_t> out;
  for (const int64_t at : index) out.push_back(at);
  EXPECT_EQ(static_cast<int64_t>(out.size()), index.size());
  return out;
}

TEST(Layout, PlacesOfElements) {
  using Places = std::vector<int64_t>;
  const Layout dense(Shape{2, 3}, 4);
  EXPECT_EQ(places(dense.strided_index()), (Places{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(places(dense.transpose(0, 1).strided_index()), (Places{4, 7, 5, 8, 6, 9}));
  EXPECT_EQ(places(Layout(Shape{2, 1}).broadcast_as({2, 2}, "t").strided_index()), (Places{0, 0, 1, 1}));
  EXPECT_EQ(places(Layout(Shape{}, 3).strided_index()), (Places{3}));
  EXPECT_EQ(places(dense.narrow(1, 1, 0).strided_index()), Places());
  EXPECT_EQ(places(StridedIndex()), (Places{0}));  // a scalar at the start
}

TEST(Layout, BlocksOfNeighbours) {
  using Places = std::vector<int64_t>;
  const auto check = [](const Layout& layout, int64_t length, const Places& starts) {
    const StridedBlocks blocks = layout.strided_blocks();
    EXPECT_EQ(blocks.length, length);
    EXPECT_EQ(places(blocks.starts), starts);
    Places all;
    for (const int64_t start : blocks.starts)
      for (int64_t i = 0; i < blocks.length; ++i) all.push_back(start + i);
    EXPECT_EQ(all, places(layout.strided_index()));
  };
  const Layout dense(Shape{2, 3, 4}, 1);
  check(dense, 24, {1});
  check(dense.narrow(1, 1, 2), 8, {5, 17});
  check(dense.narrow(2, 0, 3), 3, {1, 5, 9, 13, 17, 21});
  check(dense.transpose(0, 2).narrow(0, 0, 2), 1, {1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22});
  check(dense.narrow(2, 3, 1).narrow(0, 0, 1), 1, {4, 8, 12});  // axes of one element do not count
  check(Layout(Shape{2, 1}).broadcast_as({2, 3}, "t"), 1, {0, 0, 0, 1, 1, 1});
  check(Layout(Shape{}), 1, {0});
  check(dense.narrow(0, 0, 0), 0, {});
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

TEST(Layout, HasOneStrideForEachAxis) {
  const std::vector<int64_t> strides(200, 1);
  EXPECT_ERROR(Layout(Shape{2}, strides, 0), InvalidArgument,
               "[layout] 200 strides for shape [2]; accepted: one for each axis");
  EXPECT_ERROR(Layout(Shape{2, 3}, std::span(strides).first(1), 0), InvalidArgument, "[layout] 1 strides");
  EXPECT_EQ(strides_of(Layout(Shape{2, 3}, std::span(strides).first(2), 0)), (std::vector<int64_t>{1, 1}));
}

}  // namespace
}  // namespace beeswax
