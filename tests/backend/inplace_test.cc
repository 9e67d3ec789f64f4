// SPDX-License-Identifier: Apache-2.0
// Operations that write in place: what they write, what they leave, their version counts, and their refusals.
// What scatter_set and scatter_add_set compute is tested with scatter and scatter_add.
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

TEST(InPlace, SliceSetOnEveryDtype) {
  Random random(1);
  std::vector<DType> dtypes = test::arithmetic_dtypes();
  dtypes.push_back(DType::F8E8M0);
  for (DType dtype : dtypes) {
    for (int round = 0; round < 20; ++round) {
      const Shape shape = test::random_shape(random, static_cast<int>(pick(random, 1, 4)), 1, 6);
      const int axis = static_cast<int>(pick(random, 0, shape.rank() - 1));
      const int64_t start = pick(random, 0, shape[axis]);
      Shape part = shape;
      part.set(axis, pick(random, 0, shape[axis] - start));
      const Raw values = test::random_raw(random, shape.elem_count(), dtype);
      const Raw added = test::random_raw(random, part.elem_count(), dtype);
      Tensor x = test::laid_out(random, values, shape, dtype);
      const Tensor source = test::laid_out(random, added, part, dtype);
      Raw expected = values;
      for_each_index(part, [&](std::vector<int64_t> index) {
        const size_t from = linear(part, index);
        index[static_cast<size_t>(axis)] += start;
        expected[linear(shape, index)] = added[from];
      });
      ASSERT_EQ(raw(x.slice_scatter(source, axis, start)), expected);
      ASSERT_EQ(raw(x), values);
      const uint64_t version = x.version();
      x.slice_set(source, axis - shape.rank(), start);
      ASSERT_EQ(raw(x), expected);
      ASSERT_EQ(x.version(), version + (part.elem_count() > 0 ? 1 : 0));
    }
  }
}

TEST(InPlace, ConstSetThroughViews) {
  for (DType dtype : test::arithmetic_dtypes()) {
    Tensor x = Tensor::ones({4, 6}, dtype);
    Tensor view = x.t().narrow(0, 1, 2).narrow(1, 1, 3);
    view.const_set(3);
    const std::vector<double> got = x.to_doubles();
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t c = 0; c < 6; ++c)
        ASSERT_EQ(got[static_cast<size_t>(r * 6 + c)], r >= 1 && (c == 1 || c == 2) ? 3 : 1);
    EXPECT_EQ(x.version(), 1u);
    Tensor row = x.i(0);
    row.zero_set();
    EXPECT_EQ(row.to_doubles(), std::vector<double>(6, 0.0));
    x.one_set();
    EXPECT_EQ(x.to_doubles(), std::vector<double>(24, 1.0));
    EXPECT_EQ(view.version(), 3u);
  }
  // Windows that do not overlap are views to write to; a transposed unfold too.
  Tensor x = Tensor::zeros({6}, DType::I32);
  Tensor windows = x.unfold(0, 2, 2).t().narrow(0, 1, 1);
  windows.const_set(7);
  EXPECT_EQ(x.to_vec<int32_t>(), (std::vector<int32_t>{0, 7, 0, 7, 0, 7}));
  Tensor nothing = Tensor::zeros({0, 3}, DType::F32);
  nothing.const_set(1);
  EXPECT_EQ(nothing.version(), 0u);
}

TEST(InPlace, RefusesOverlappingViews) {
  Tensor wide = Tensor::zeros({3, 1}, DType::F32).broadcast_as({3, 4});
  const Tensor source = Tensor::ones({3, 4}, DType::F32);
  const Tensor ids = Tensor::zeros({3, 4}, DType::U32);
  EXPECT_ERROR(wide.const_set(1), Aliasing,
               "[const_set] the destination [3, 4] f32 cpu is a view with several");
  EXPECT_ERROR(wide.slice_set(source, 0, 0), Aliasing,
               "[slice_set] the destination [3, 4] f32 cpu is a view");
  EXPECT_ERROR(wide.scatter_set(ids, source, 0), Aliasing, "[scatter_set] the destination");
  EXPECT_ERROR(wide.scatter_add_set(ids, source, 0), Aliasing, "[scatter_add_set] the destination");
  Tensor windows = Tensor::zeros({6}, DType::F32).unfold(0, 3, 2);
  EXPECT_ERROR(windows.const_set(1), Aliasing, "broadcast or unfolded");
  EXPECT_EQ(wide.version(), 0u);
}

TEST(InPlace, RefusesSharedStorage) {
  Tensor x = Tensor::zeros({4, 4}, DType::I64);
  EXPECT_ERROR(x.slice_set(x.narrow(0, 2, 2), 0, 0), Aliasing,
               "[slice_set] the source [2, 4] i64 cpu shares storage with the destination [4, 4] i64 cpu");
  const Tensor other = Tensor::zeros({4, 4}, DType::I64);
  EXPECT_ERROR(x.scatter_set(x, other, 0), Aliasing, "[scatter_set] the ids [4, 4] i64 cpu shares storage");
  EXPECT_ERROR(x.scatter_add_set(other, x.t(), 1), Aliasing, "[scatter_add_set] the source");
  EXPECT_EQ(x.version(), 0u);
}

TEST(InPlace, BadIdsLeaveEverythingAsItWas) {
  if (!test::on_cpu()) GTEST_SKIP() << "a GPU finds them while it writes";
  Tensor x = Tensor::arange(0, 40, DType::F32).reshape({10, 4});
  const std::vector<float> before = x.to_vec<float>();
  std::vector<int32_t> list(40, 1);
  list[39] = 10;
  const Tensor ids = Tensor::from_vec(list, {10, 4});
  const Tensor source = Tensor::ones({10, 4}, DType::F32);
  EXPECT_ERROR(x.scatter_set(ids, source, 0), IndexOutOfRange, "scatter_set into [10, 4] f32 cpu");
  EXPECT_ERROR(x.scatter_add_set(ids, source, 0), IndexOutOfRange, "id 10 at [9, 3]");
  Tensor turned = x.t();
  EXPECT_ERROR(turned.scatter_set(ids.t(), source.t(), 1), IndexOutOfRange, "id 10 at [3, 9]");
  EXPECT_EQ(x.to_vec<float>(), before);
  EXPECT_EQ(x.version(), 0u);
}

TEST(InPlace, Errors) {
  Tensor x = Tensor::zeros({3, 4}, DType::F32);
  EXPECT_ERROR(x.slice_set(Tensor::zeros({3, 5}, DType::F32), 1, 0), InvalidArgument,
               "[slice_set] the source [3, 5] f32 cpu at 0 does not fit axis 1 of [3, 4] f32 cpu "
               "(accepted: a start from 0, and at most 4 - the source's size)");
  EXPECT_ERROR(x.slice_set(Tensor::zeros({3, 2}, DType::F32), 1, 3), InvalidArgument, "at 3 does not fit");
  EXPECT_ERROR(x.slice_set(Tensor::zeros({3, 2}, DType::F32), 1, -1), InvalidArgument, "at -1 does not fit");
  EXPECT_ERROR(
      x.slice_set(Tensor::zeros({2, 2}, DType::F32), 1, 0), ShapeMismatch,
      "[slice_set] the source [2, 2] f32 cpu does not go with [3, 4] f32 cpu; only axis 1 may differ");
  EXPECT_ERROR(x.slice_set(Tensor::zeros({3}, DType::F32), 1, 0), ShapeMismatch, "does not go with");
  EXPECT_ERROR(x.slice_set(Tensor::zeros({3, 2}, DType::F16), 1, 0), DTypeMismatch, "[slice_set]");
  EXPECT_ERROR(x.slice_scatter(Tensor::zeros({3, 2}, DType::F16), 1, 0), DTypeMismatch, "[slice_scatter]");
  EXPECT_ERROR(x.slice_scatter(Tensor::zeros({4, 4}, DType::F32), 0, 0), InvalidArgument, "[slice_scatter]");
  Tensor ids = Tensor::zeros({2}, DType::U8);
  EXPECT_ERROR(ids.const_set(256), InvalidArgument, "[const_set] the number 256 is not a value of u8");
  EXPECT_ERROR(ids.const_set(1.5), InvalidArgument, "[const_set] the number 1.5 is not a value of u8");
  Tensor bytes = Tensor::from_bytes(std::vector<std::byte>(3), {3}, DType::F8E8M0);
  EXPECT_ERROR(bytes.const_set(1), UnsupportedDType, "[const_set] not defined for [3] f8e8m0");
}

}  // namespace
}  // namespace beeswax
