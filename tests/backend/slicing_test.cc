// SPDX-License-Identifier: Apache-2.0
// i(), narrow, get, chunk and slice_assign against index arithmetic; every error.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::for_each_index;
using test::linear;
using test::pick;
using test::Random;
using test::raw;
using test::Raw;

// Positions of one axis that an index names, and whether the axis stays.
struct Named {
  std::vector<int64_t> positions;
  bool stays;
};

Index random_index(Random& random, int64_t size, bool ids, Named* named) {
  switch (pick(random, 0, ids ? 4 : 3)) {
    case 0:
      if (size > 0) {
        const int64_t at = pick(random, -size, size - 1);
        *named = {{at < 0 ? at + size : at}, false};
        return at;
      }
      [[fallthrough]];
    case 1: {
      const int64_t start = pick(random, 0, size);
      const int64_t end = pick(random, 0, size);  // a reversed range is empty
      *named = {{}, true};
      for (int64_t i = start; i < end; ++i) named->positions.push_back(i);
      return range(start, end);
    }
    case 2: {
      const int64_t start = pick(random, 0, size);
      *named = {{}, true};
      for (int64_t i = start; i < size; ++i) named->positions.push_back(i);
      return range_from(start);
    }
    case 3:
      *named = {{}, true};
      for (int64_t i = 0; i < size; ++i) named->positions.push_back(i);
      return all;
    default: {
      std::vector<uint32_t> list;
      for (int64_t i = 0; size > 0 && i < pick(random, 0, 4); ++i)
        list.push_back(static_cast<uint32_t>(pick(random, 0, size - 1)));
      *named = {{list.begin(), list.end()}, true};
      return list;
    }
  }
}

// Calls fn(linear number in the slice, linear number in the whole) for every element of the slice.
template <class F>
Shape for_each_named(const Shape& shape, std::vector<Named> named, F&& fn) {
  Shape counts;
  Shape kept;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (static_cast<size_t>(axis) == named.size()) {
      named.push_back({{}, true});
      for (int64_t i = 0; i < shape[axis]; ++i) named.back().positions.push_back(i);
    }
    const Named& here = named[static_cast<size_t>(axis)];
    counts.push_back(static_cast<int64_t>(here.positions.size()));
    if (here.stays) kept.push_back(counts[axis]);
  }
  size_t next = 0;
  for_each_index(counts, [&](std::vector<int64_t> index) {
    for (size_t axis = 0; axis < index.size(); ++axis)
      index[axis] = named[axis].positions[static_cast<size_t>(index[axis])];
    fn(next++, linear(shape, index));
  });
  return kept;
}

TEST(Slicing, IndexAndSliceAssign) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto dtype = static_cast<DType>(pick(random, 0, kArithmeticDTypeCount - 1));
    const Shape shape =
        test::random_shape(random, static_cast<int>(pick(random, 0, 5)), round % 4 == 0 ? 0 : 1, 5);
    const Raw values = test::random_raw(random, shape.elem_count(), dtype);
    const Tensor x = test::laid_out(random, values, shape, dtype);
    const bool assign = round % 2 == 0;
    std::vector<Index> indices;
    std::vector<Named> named;
    for (int axis = 0; axis < pick(random, 0, shape.rank()); ++axis) {
      Named here;
      indices.push_back(random_index(random, shape[axis], !assign, &here));
      named.push_back(here);
    }
    Raw expected;
    const Shape to = for_each_named(shape, named, [&](size_t, size_t at) { expected.push_back(values[at]); });
    if (!assign) {
      const Tensor out = x.index(indices);
      ASSERT_EQ(out.shape(), to);
      ASSERT_EQ(raw(out), expected);
      continue;
    }
    const Raw added = test::random_raw(random, to.elem_count(), dtype);
    Raw whole = values;
    for_each_named(shape, named, [&](size_t i, size_t at) { whole[at] = added[i]; });
    ASSERT_EQ(raw(x.slice_assign(indices, test::laid_out(random, added, to, dtype))), whole);
    ASSERT_EQ(raw(x), values);
  }
}

TEST(Slicing, ByHand) {
  const Tensor x = Tensor::arange(0, 24, DType::I32).reshape({2, 3, 4});
  EXPECT_EQ(x.i(1, range(0, 2), 3).to_vec<int32_t>(), (std::vector<int32_t>{15, 19}));
  EXPECT_EQ(x.i(-1, all, range_to(1)).to_vec<int32_t>(), (std::vector<int32_t>{12, 16, 20}));
  EXPECT_EQ(x.i(0, std::vector<uint32_t>{2, 0, 2}, 1).to_vec<int32_t>(), (std::vector<int32_t>{9, 1, 9}));
  EXPECT_EQ(x.i(all, Tensor::from_vec(std::vector<int64_t>{1}, {1}), range_from(3)).to_vec<int32_t>(),
            (std::vector<int32_t>{7, 19}));
  EXPECT_EQ(x.i(range(1, 1)).shape(), Shape({0, 3, 4}));
  EXPECT_EQ(x.i(range(2, 1)).shape(), Shape({0, 3, 4}));
  EXPECT_EQ(&x.i(all, 1).storage(), &x.storage());
  EXPECT_EQ(x.get(1).get_on_dim(-1, 2).to_vec<int32_t>(), (std::vector<int32_t>{14, 18, 22}));
}

TEST(Slicing, Chunk) {
  const Tensor x = Tensor::arange(0, 7, DType::I32);
  const auto sizes = [&](int chunks) {
    std::vector<int64_t> out;
    int64_t next = 0;
    for (const Tensor& part : x.chunk(chunks, 0)) {
      out.push_back(part.elem_count());
      for (int32_t value : part.to_vec<int32_t>()) EXPECT_EQ(value, next++);
    }
    EXPECT_EQ(next, 7);
    return out;
  };
  EXPECT_EQ(sizes(1), (std::vector<int64_t>{7}));
  EXPECT_EQ(sizes(3), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(sizes(4), (std::vector<int64_t>{2, 2, 2, 1}));
  EXPECT_EQ(sizes(20), (std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1}));
  EXPECT_ERROR(x.chunk(0, 0), InvalidArgument, "[chunk] needs at least one chunk of [7] i32 cpu, got 0");
}

TEST(Slicing, Errors) {
  const Tensor x = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_ERROR(
      x.i(2), IndexOutOfRange,
      "[index] position 2 is out of range for axis 0 of [2, 3] f32 cpu (accepted: positions from -2 to 1)");
  EXPECT_ERROR(x.i(all, -4), IndexOutOfRange, "[index] position -4 is out of range for axis 1");
  EXPECT_ERROR(x.i(range(0, 3)), IndexOutOfRange,
               "[index] range 0..3 does not fit axis 0 of [2, 3] f32 cpu (accepted: positions from -2 to 2)");
  EXPECT_ERROR(x.i(range(-3, 1)), IndexOutOfRange, "[index] range -3..1");
  // The axis and the shape are the caller's, not those of what the positions before have left.
  EXPECT_ERROR(x.i(0, 5), IndexOutOfRange, "[index] position 5 is out of range for axis 1 of [2, 3] f32 cpu");
  EXPECT_ERROR(x.i(0, range(1, 4)), IndexOutOfRange,
               "[index] range 1..4 does not fit axis 1 of [2, 3] f32 cpu");
  EXPECT_ERROR(x.i(std::vector<int64_t>{1}, 5), IndexOutOfRange, "axis 1 of [2, 3] f32 cpu");
  if (test::on_cpu())  // others check ids later
    EXPECT_ERROR(x.i(0, std::vector<int64_t>{9}), IndexOutOfRange, "index of axis 1 of [2, 3] f32 cpu");
  EXPECT_ERROR(x.slice_assign({0, 5}, Tensor::zeros({}, DType::F32)), IndexOutOfRange,
               "[slice_assign] position 5 is out of range for axis 1 of [2, 3] f32 cpu");
  EXPECT_ERROR(x.i(range_from(3)), IndexOutOfRange, "[index] range 3.. does not fit");
  EXPECT_ERROR(x.i(0, 0, 0), DimOutOfRange,
               "[index] 3 indices for [2, 3] f32 cpu, which has 2 axes; accepted: at most one for each");
  EXPECT_ERROR(x.i(std::vector<uint32_t>{2}), IndexOutOfRange,
               test::on_cpu() ? "[index_select] id 2 at [0]" : "[index_select] index 2 at");
  EXPECT_ERROR(x.i(x), UnsupportedDType, "[index]");
  const Tensor none = Tensor::zeros({2, 0}, DType::F32);
  EXPECT_ERROR(none.i(0, 0), IndexOutOfRange, "axis 1 of [2, 0] f32 cpu (the axis is empty)");
  EXPECT_ERROR(none.get_on_dim(1, 0), IndexOutOfRange, "axis 1 of [2, 0] f32 cpu (the axis is empty)");
  const std::vector<Index> row = {Index(1)};
  const std::vector<Index> too_far = {Index(all), Index(range(0, 4))};
  const std::vector<Index> ids = {Index(std::vector<uint32_t>{0})};
  const std::vector<Index> three = {Index(0), Index(0), Index(0)};
  EXPECT_ERROR(x.slice_assign(row, x), ShapeMismatch,
               "[slice_assign] the ranges name a slice [3] f32 cpu of [2, 3] f32 cpu, the source is [2, 3] "
               "f32 cpu; accepted: a source of the slice's shape");
  EXPECT_ERROR(x.slice_assign(row, Tensor::zeros({3}, DType::F64)), DTypeMismatch, "[slice_assign]");
  EXPECT_ERROR(x.slice_assign(too_far, x), IndexOutOfRange, "[slice_assign] range 0..4 does not fit axis 1");
  EXPECT_ERROR(x.slice_assign(ids, x), InvalidArgument,
               "[slice_assign] takes numbers and ranges, and got ids for [2, 3] f32 cpu");
  EXPECT_ERROR(x.slice_assign(three, x), DimOutOfRange, "[slice_assign] 3 indices");
  EXPECT_ERROR(x.narrow(0, 1, 2), InvalidArgument,
               "[narrow] start 1 and length 2 do not fit axis 0 of [2, 3] f32 cpu (accepted: a start from "
               "0 to 2, a length from 0 to 2 - start)");
  EXPECT_ERROR(x.narrow(0, -1, 1), InvalidArgument, "[narrow]");
  EXPECT_ERROR(x.get(2), IndexOutOfRange, "[get]");
}

}  // namespace
}  // namespace beeswax
