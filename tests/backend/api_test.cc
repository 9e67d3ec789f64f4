// SPDX-License-Identifier: Apache-2.0
// What a user of NumPy or Candle writes compiles and means the same: nested lists, sizes by structured
// binding, slices from the end, bounds of either kind.
#include <gtest/gtest.h>

#include <list>
#include <ranges>
#include <sstream>

#include "beeswax/tensor.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

using Floats = std::vector<float>;

TEST(Api, NestedLists) {
  EXPECT_EQ(Tensor::of({1.0f, 2.0f}).to_vec<float>(), (Floats{1, 2}));
  const Tensor x = Tensor::of({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(x.describe(), test::here("[2, 3] i32 cpu"));
  EXPECT_EQ(x.to_vec2<int32_t>(), (std::vector<std::vector<int32_t>>{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(x.i(1).to_vec1<int32_t>(), (std::vector<int32_t>{4, 5, 6}));
  const Tensor y = Tensor::of({{{1.0, 2.0}}, {{3.0, 4.0}}});
  EXPECT_EQ(y.describe(), test::here("[2, 1, 2] f64 cpu"));
  EXPECT_EQ(y.to_vec3<double>(), (std::vector<std::vector<std::vector<double>>>{{{1, 2}}, {{3, 4}}}));
  EXPECT_EQ(Tensor::of({{{{true ? 1.0f : 0.0f}}}}).shape(), Shape({1, 1, 1, 1}));
  EXPECT_ERROR(Tensor::of({{1, 2}, {3}}), InvalidArgument,
               "[of] the lists are ragged: one has 1 elements, the first one of its level has 2");
  EXPECT_ERROR(x.to_vec1<int32_t>(), ShapeMismatch, "[to_vec1] expected rank 1, got [2, 3] i32 cpu");
  EXPECT_ERROR(x.to_vec3<int32_t>(), ShapeMismatch, "[to_vec3] expected rank 3");
  EXPECT_ERROR(x.to_vec2<float>(), DTypeMismatch, "holds i32, not f32");
}

TEST(Api, CopyToMemoryOfTheCallers) {
  const Tensor x = Tensor::of({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  Floats memory(8, -1);
  x.t().copy_to(std::span(memory).subspan(1, 6));
  EXPECT_EQ(memory, (Floats{-1, 1, 4, 2, 5, 3, 6, -1}));
  x.narrow(1, 1, 0).copy_to(std::span<float>());
  EXPECT_ERROR(x.copy_to(std::span(memory)), ShapeMismatch,
               test::here("[copy_to] the tensor [2, 3] f32 cpu has 6 elements, the memory for them holds 8"));
  std::vector<double> doubles(6);
  EXPECT_ERROR(x.copy_to(std::span(doubles)), DTypeMismatch, "[copy_to]");
}

template <class Values>
concept MakesATensor = requires(Values values) { Tensor::from_iter(values); };

TEST(Api, FromAnyRange) {
  const Tensor x = Tensor::from_iter(std::views::iota(0, 6) |
                                     std::views::transform([](int i) { return static_cast<float>(i) / 2; }));
  EXPECT_EQ(x.describe(), test::here("[6] f32 cpu"));
  EXPECT_EQ(x.to_vec<float>(), (Floats{0, 0.5, 1, 1.5, 2, 2.5}));
  const std::list<int64_t> list = {7, -1};
  EXPECT_EQ(Tensor::from_iter(list).to_vec<int64_t>(), (std::vector<int64_t>{7, -1}));
  EXPECT_EQ(Tensor::from_iter(std::vector<uint8_t>{}).describe(), test::here("[0] u8 cpu"));
  const double array[] = {0.5, 4};
  EXPECT_EQ(Tensor::from_iter(array).to_vec<double>(), (std::vector<double>{0.5, 4}));
  std::istringstream text("1.5 2 -3");
  EXPECT_EQ(Tensor::from_iter(std::views::istream<float>(text)).to_vec<float>(), (Floats{1.5, 2, -3}));
  const std::vector<bool> bits = {true, false, true};
  const auto bytes = std::views::transform(bits, [](bool bit) { return static_cast<uint8_t>(bit); });
  EXPECT_EQ(Tensor::from_iter(bytes).to_vec<uint8_t>(), (std::vector<uint8_t>{1, 0, 1}));
  // What has no dtype is refused where it is called.
  static_assert(MakesATensor<std::vector<f16>>);
  static_assert(!MakesATensor<std::vector<bool>>);
  static_assert(!MakesATensor<std::string>);
  static_assert(!MakesATensor<std::vector<std::vector<float>>>);
  static_assert(!MakesATensor<int>);
}

TEST(Api, ComparisonsByName) {
  const Tensor x = Tensor::of({1, 2, 3}), y = Tensor::of({3, 2, 1});
  using Bytes = std::vector<uint8_t>;
  const std::pair<CompareOp, Bytes> cases[] = {{CompareOp::Eq, {0, 1, 0}}, {CompareOp::Ne, {1, 0, 1}},
                                               {CompareOp::Lt, {1, 0, 0}}, {CompareOp::Le, {1, 1, 0}},
                                               {CompareOp::Gt, {0, 0, 1}}, {CompareOp::Ge, {0, 1, 1}}};
  for (const auto& [op, want] : cases) {
    EXPECT_EQ(x.cmp(y, op).to_vec<uint8_t>(), want);
    EXPECT_EQ(x.cmp(2, op).to_vec<uint8_t>(), want);
  }
  EXPECT_ERROR(x.cmp(Tensor::of({1.0f}), CompareOp::Eq), DTypeMismatch,
               "[cmp] the dtypes of [3] i32 cpu and");
}

TEST(Api, AxesFromTheEnd) {
  const Tensor x = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_EQ(x.normalize_axis(-1), 1);
  EXPECT_EQ(x.normalize_axis(0), 0);
  EXPECT_ERROR(x.normalize_axis(2), DimOutOfRange,
               "[normalize_axis] axis 2 is out of range for shape [2, 3]");
}

TEST(Api, SizesAndStrides) {
  const Tensor x = Tensor::zeros({2, 3}, DType::F32);
  const auto [rows, columns] = x.dims<2>();
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(columns, 3);
  EXPECT_EQ(x.dims().size(), 2u);
  EXPECT_EQ(x.t().strides()[0], 1);
  EXPECT_TRUE(x.t().is_fortran_contiguous());
  EXPECT_ERROR(x.dims<3>(), ShapeMismatch, "[dims] expected rank 3, got [2, 3] f32 cpu");
}

TEST(Api, TensorsAlike) {
  const Tensor x = Tensor::zeros({2, 2}, DType::BF16);
  EXPECT_EQ(x.full_like(1.5).to_doubles(), std::vector<double>(4, 1.5));
  EXPECT_EQ(x.empty_like().describe(), test::here("[2, 2] bf16 cpu"));
  const std::vector<Tensor> grid = Tensor::meshgrid({Tensor::of({1, 2}), Tensor::of({3, 4, 5})}, false);
  EXPECT_EQ(grid[1].shape(), Shape({2, 3}));
}

TEST(Api, SlicesFromTheEnd) {
  const Tensor x = Tensor::arange(0, 5, DType::I32);
  using Ints = std::vector<int32_t>;
  EXPECT_EQ(x.i(range(-3, -1)).to_vec<int32_t>(), (Ints{2, 3}));
  EXPECT_EQ(x.i(range(0, -1)).to_vec<int32_t>(), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(x.i(range_from(-2)).to_vec<int32_t>(), (Ints{3, 4}));
  EXPECT_EQ(x.i(range_to(-4)).to_vec<int32_t>(), (Ints{0}));
  EXPECT_EQ(x.i(range(-5, 5)).to_vec<int32_t>(), (Ints{0, 1, 2, 3, 4}));
  EXPECT_EQ(x.i(range(-1, -2)).shape(), Shape({0}));
  EXPECT_EQ(x.i(range(-1, 0)).shape(), Shape({0}));
  EXPECT_EQ(x.get(-1).to_scalar<int32_t>(), 4);
  EXPECT_EQ(x.i(std::vector<int64_t>{4, 0}).to_vec<int32_t>(), (Ints{4, 0}));
  EXPECT_ERROR(x.i(range(-6, 2)), IndexOutOfRange,
               "[index] range -6..2 does not fit axis 0 of [5] i32 cpu (accepted: positions from -5 to 5)");
  EXPECT_ERROR(x.i(range(0, -6)), IndexOutOfRange, "[index] range 0..-6");
  EXPECT_ERROR(x.i(range_from(6)), IndexOutOfRange, "[index] range 6.. does not fit axis 0");
  EXPECT_ERROR(x.get(-6), IndexOutOfRange, "[get] index -6 is out of range for axis 0 of [5] i32 cpu");
  EXPECT_ERROR(x.get_on_dim(0, 5), IndexOutOfRange, "[get_on_dim] index 5 is out of range");
  EXPECT_ERROR(x.i(SIZE_MAX), IndexOutOfRange, "[index] position");
  EXPECT_ERROR(x.i(uint64_t{1} << 63), IndexOutOfRange, "[index] position");
  EXPECT_EQ(x.i(size_t{4}).to_scalar<int32_t>(), 4);
}

TEST(Api, IndicesAsLists) {
  const Tensor x = Tensor::of({{1, 2}, {3, 4}});
  EXPECT_EQ(x.i().to_vec<int32_t>(), x.to_vec<int32_t>());
  EXPECT_EQ(x.index({all, 1}).to_vec<int32_t>(), (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(x.slice_assign({0, range(0, 1)}, Tensor::of({9})).to_vec<int32_t>(),
            (std::vector<int32_t>{9, 2, 3, 4}));
  EXPECT_EQ(x.slice_scatter0(Tensor::of({{7, 8}}), 1).to_vec<int32_t>(), (std::vector<int32_t>{1, 2, 7, 8}));
}

TEST(Api, BoundsAndWholeReductions) {
  const Tensor x = Tensor::of({-2.0f, 0.5f, 3.0f});
  EXPECT_EQ(x.clamp(-1, 1).to_vec<float>(), (Floats{-1, 0.5, 1}));
  EXPECT_EQ(x.clamp(Tensor::of({0.0f, 1.0f, 0.0f}), 2).to_vec<float>(), (Floats{0, 1, 2}));
  EXPECT_EQ(x.clamp(-1, Tensor::of({0.0f, 0.0f, 9.0f})).to_vec<float>(), (Floats{-1, 0, 3}));
  EXPECT_EQ(x.sum().to_scalar<float>(), 1.5f);
  EXPECT_EQ(x.max().to_scalar<float>(), 3);
  EXPECT_EQ(x.argmin().to_scalar<uint32_t>(), 0u);
  EXPECT_EQ(Tensor::of({3.0, 4.0}).norm().to_scalar<double>(), 5);
}

TEST(Api, ScalarsHaveNoAxes) {
  const Tensor x = Tensor::scalar(2, DType::F32);
  EXPECT_EQ(x.i().to_scalar<float>(), 2);
  EXPECT_EQ(x.flatten_all().shape(), Shape({1}));
  EXPECT_ERROR(x.get(0), DimOutOfRange, "[get] axis 0 is out of range for shape [] (a scalar has no axes)");
  EXPECT_ERROR(x.i(0), DimOutOfRange, "[index] 1 indices for [] f32 cpu, which has 0 axes");
  EXPECT_ERROR(x.squeeze(-1), DimOutOfRange, "[squeeze]");
  EXPECT_ERROR(x.softmax(0), DimOutOfRange, "[softmax]");
  EXPECT_ERROR(x.sort_last_dim(), DimOutOfRange, "[sort_last_dim]");
  EXPECT_ERROR(x.arg_sort_last_dim(), DimOutOfRange, "[arg_sort_last_dim]");
}

TEST(Api, ShapesThatCannotBe) {
  const Tensor x = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_ERROR(x.reshape({-1, -1}), InvalidArgument, "[reshape] size -1 of axis 1 for [2, 3] f32 cpu");
  EXPECT_ERROR(x.reshape({-2, 3}), InvalidArgument, "accepted: sizes of 0 or more, one of them may be -1");
  EXPECT_ERROR(x.reshape({1, 1, 1, 1, 1, 1, 1, 2, 3}), InvalidArgument,
               "[reshape] the result of [2, 3] f32 cpu would have 9 axes; accepted: at most 8");
  const Tensor deep = x.reshape({1, 1, 1, 1, 1, 1, 2, 3});
  EXPECT_ERROR(deep.unsqueeze(0), InvalidArgument, "[unsqueeze] the result of");
  EXPECT_ERROR(deep.unfold(7, 1, 1), InvalidArgument, "[unfold] the result of");
  EXPECT_ERROR(deep.broadcast_left({2}), InvalidArgument, "[broadcast_left] the result of");
  EXPECT_ERROR(
      x.reshape({INT64_MAX, INT64_MAX, -1}), TooLarge,
      "[reshape] the shape [9223372036854775807, 9223372036854775807, 1] for [2, 3] f32 cpu has more");
  EXPECT_ERROR(Tensor::zeros({1}, DType::U8).repeat({INT64_MAX, INT64_MAX, 2}), TooLarge, "[repeat] ");
  EXPECT_ERROR(x.sum({0, 1, 2, 3, 4, 5, 6, 7, 8}), InvalidArgument,
               "[sum] 9 axes are named for shape [2, 3]");
  EXPECT_ERROR(x.flip({0, 1, 2, 3, 4, 5, 6, 7, 8}), InvalidArgument, "[flip] 9 axes");
  EXPECT_ERROR(x.permute({0, 1, 2, 3, 4, 5, 6, 7, 8}), InvalidArgument, "[permute] 9 axes");
}

}  // namespace
}  // namespace beeswax
