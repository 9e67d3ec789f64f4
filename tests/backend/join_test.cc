// SPDX-License-Identifier: Apache-2.0
// cat, stack, padding, repeat, flip, roll, grids and masks against index arithmetic; every error.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/configurations.h"
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

std::vector<DType> moving_dtypes() {
  std::vector<DType> out = test::arithmetic_dtypes();
  out.push_back(DType::F8E8M0);
  return out;
}

// The elements of `to`, each read from `from` at the index that where(index) gives.
template <class Where>
Raw read_at(const Shape& to, const Raw& values, const Shape& from, Where&& where) {
  Raw out;
  for_each_index(
      to, [&](const std::vector<int64_t>& index) { out.push_back(values[linear(from, where(index))]); });
  return out;
}

struct Sample {
  Shape shape;
  int axis;
  Raw values;
  Tensor tensor;
};

Sample sample(Random& random, DType dtype, int64_t least = 0) {
  Sample s;
  s.shape = test::random_shape(random, static_cast<int>(pick(random, 1, 4)), least, 6);
  s.axis = static_cast<int>(pick(random, 0, s.shape.rank() - 1));
  s.values = test::random_raw(random, s.shape.elem_count(), dtype);
  s.tensor = test::laid_out(random, s.values, s.shape, dtype);
  return s;
}

TEST(Join, Cat) {
  Random random(1);
  for (DType dtype : moving_dtypes()) {
    for (int round = 0; round < 20; ++round) {
      const Sample first = sample(random, dtype);
      std::vector<Tensor> parts;
      std::vector<Raw> values;
      std::vector<int64_t> starts = {0};
      const int64_t count = pick(random, 2, 5);
      for (int64_t p = 0; p < count; ++p) {
        Shape shape = first.shape;
        shape.set(first.axis, pick(random, 0, 5));
        values.push_back(test::random_raw(random, shape.elem_count(), dtype));
        parts.push_back(test::laid_out(random, values.back(), shape, dtype));
        starts.push_back(starts.back() + shape[first.axis]);
      }
      Shape to = first.shape;
      to.set(first.axis, starts.back());
      Raw expected;
      for_each_index(to, [&](std::vector<int64_t> index) {
        int64_t& at = index[static_cast<size_t>(first.axis)];
        size_t p = 0;
        while (at >= starts[p + 1]) ++p;
        at -= starts[p];
        expected.push_back(values[p][linear(parts[p].shape(), index)]);
      });
      const Tensor out = Tensor::cat(parts, pick(random, 0, 1) == 0 ? first.axis : first.axis - to.rank());
      ASSERT_EQ(out.shape(), to);
      ASSERT_EQ(raw(out), expected);
    }
  }
}

// Dense parts, of which GPUs copy several at a time, in units that their sizes and places allow.
TEST(Join, CatOfManyDenseParts) {
  Random random(7);
  for (DType dtype : moving_dtypes()) {
    for (const int64_t unit : {1, 2, 3, 4, 8, 16}) {
      for (const int64_t rows : {1, 3, 70}) {
        const int64_t count = pick(random, 2, 19);
        std::vector<Tensor> parts;
        std::vector<Raw> values;
        std::vector<int64_t> widths;
        for (int64_t p = 0; p < count; ++p) {
          widths.push_back(unit * pick(random, 0, p == 1 ? 400 : 9));
          const int64_t skipped = pick(random, 0, 3) == 0 ? 1 : 0;
          const Raw all = test::random_raw(random, (rows + skipped) * widths.back(), dtype);
          values.emplace_back(all.begin() + skipped * widths.back(), all.end());
          const Tensor whole = test::from_raw(all, {rows + skipped, widths.back()}, dtype);
          parts.push_back(whole.narrow(0, skipped, rows));
        }
        Raw expected;
        for (int64_t row = 0; row < rows; ++row)
          for (size_t p = 0; p < parts.size(); ++p)
            expected.insert(expected.end(), values[p].begin() + row * widths[p],
                            values[p].begin() + (row + 1) * widths[p]);
        ASSERT_EQ(raw(Tensor::cat(parts, 1)), expected) << unit << " " << rows << " " << count;
      }
    }
  }
}

TEST(Join, CatAndStackErrors) {
  const Tensor x = Tensor::zeros({2, 3}, DType::F32);
  EXPECT_EQ(&Tensor::cat({x}, 1).storage(), &x.storage());
  EXPECT_ERROR(Tensor::cat(std::span<const Tensor>(), 0), InvalidArgument, "[cat] needs at least one tensor");
  EXPECT_ERROR(Tensor::cat({x}, 2), DimOutOfRange, "[cat]");
  EXPECT_ERROR(Tensor::cat({x, Tensor::zeros({2, 4}, DType::F32)}, 0), ShapeMismatch,
               "[cat] part 1 is [2, 4] f32 cpu, part 0 is [2, 3] f32 cpu; only axis 0 may differ");
  EXPECT_ERROR(Tensor::cat({x, x, Tensor::zeros({3}, DType::F32)}, -1), ShapeMismatch,
               "[cat] part 2 is [3] f32 cpu, part 0 is [2, 3] f32 cpu; only axis 1 may differ");
  EXPECT_ERROR(Tensor::cat({x, Tensor::zeros({2, 3}, DType::F64)}, 0), DTypeMismatch,
               "[cat] the dtypes of [2, 3] f32 cpu and [2, 3] f64 cpu differ");
  EXPECT_ERROR(Tensor::cat({x, Tensor()}, 0), InvalidArgument, "undefined");
  const Tensor packed = Tensor::from_bytes(std::vector<std::byte>(2), {4}, DType::F4);
  EXPECT_EQ(Tensor::cat({packed}, 0).to_bytes(), packed.to_bytes());
  EXPECT_ERROR(Tensor::cat({packed, packed}, 0), UnsupportedDType, "[cat] [4] f4 cpu is packed below a byte");
  EXPECT_ERROR(Tensor::stack(std::span<const Tensor>(), 0), InvalidArgument, "[stack] needs at least one");
  EXPECT_ERROR(Tensor::stack({x, Tensor::zeros({2, 4}, DType::F32)}, 0), ShapeMismatch,
               "[stack] part 1 is [2, 4] f32 cpu, part 0 is [2, 3] f32 cpu; all must be alike");
  EXPECT_ERROR(Tensor::stack({x, x}, 3), DimOutOfRange,
               "[stack] axis 3 is out of range for parts [2, 3] f32 cpu (accepted: -3 to 2)");
  EXPECT_ERROR(Tensor::stack({x, Tensor::zeros({2, 3}, DType::U8)}, 0), DTypeMismatch, "[stack]");
  const Tensor deep = Tensor::zeros({1, 1, 1, 1, 1, 1, 1, 1}, DType::U8);
  EXPECT_ERROR(Tensor::stack({deep, deep}, 0), InvalidArgument, "have 8 axes already");
}

TEST(Join, Stack) {
  Random random(2);
  for (DType dtype : moving_dtypes()) {
    for (int round = 0; round < 10; ++round) {
      const Sample first = sample(random, dtype);
      const Raw other = test::random_raw(random, first.shape.elem_count(), dtype);
      const int axis = static_cast<int>(pick(random, 0, first.shape.rank()));
      const Tensor out =
          Tensor::stack({first.tensor, test::laid_out(random, other, first.shape, dtype)}, axis);
      Shape to = first.shape;
      to.insert(axis, 2);
      Raw expected;
      for_each_index(to, [&](std::vector<int64_t> index) {
        const bool second = index[static_cast<size_t>(axis)] == 1;
        index.erase(index.begin() + axis);
        expected.push_back((second ? other : first.values)[linear(first.shape, index)]);
      });
      ASSERT_EQ(out.shape(), to);
      ASSERT_EQ(raw(out), expected);
    }
  }
  const Tensor one = Tensor::scalar(1, DType::U8);
  EXPECT_EQ(Tensor::stack({one, one, one}, -1).to_vec<uint8_t>(), (std::vector<uint8_t>{1, 1, 1}));
  EXPECT_EQ(Tensor::stack({one}, 0).shape(), Shape({1}));
}

TEST(Join, Padding) {
  Random random(3);
  for (DType dtype : moving_dtypes()) {
    for (int round = 0; round < 15; ++round) {
      const Sample s = sample(random, dtype, 1);
      const int64_t left = pick(random, 0, 3);
      const int64_t right = pick(random, 0, 3);
      const int64_t size = s.shape[s.axis];
      Shape to = s.shape;
      to.set(s.axis, left + size + right);
      const auto axis = static_cast<size_t>(s.axis);
      const Raw same = read_at(to, s.values, s.shape, [&](std::vector<int64_t> index) {
        index[axis] = std::clamp<int64_t>(index[axis] - left, 0, size - 1);
        return index;
      });
      ASSERT_EQ(raw(s.tensor.pad_with_same(s.axis, left, right)), same);
      if (dtype_is_storage(dtype)) continue;
      Raw zeros;
      for_each_index(to, [&](std::vector<int64_t> index) {
        index[axis] -= left;
        zeros.push_back(index[axis] < 0 || index[axis] >= size ? 0 : s.values[linear(s.shape, index)]);
      });
      ASSERT_EQ(raw(s.tensor.pad_with_zeros(s.axis - s.shape.rank(), left, right)), zeros);
    }
  }
  const Tensor x = Tensor::zeros({2, 0}, DType::F32);
  EXPECT_EQ(x.pad_with_zeros(1, 2, 1).shape(), Shape({2, 3}));
  EXPECT_EQ(x.pad_with_same(0, 2, 1).shape(), Shape({5, 0}));
  EXPECT_EQ(x.pad_with_same(1, 0, 0).shape(), Shape({2, 0}));
  EXPECT_ERROR(x.pad_with_same(1, 1, 0), EmptyTensor, "[pad_with_same] axis 1 of [2, 0] f32 cpu is empty");
  EXPECT_ERROR(x.pad_with_zeros(0, -1, 0), InvalidArgument, "[pad_with_zeros] left -1 and right 0 of axis 0");
  EXPECT_ERROR(x.pad_with_same(0, 0, -2), InvalidArgument, "[pad_with_same] left 0 and right -2");
  EXPECT_ERROR(x.pad_with_zeros(2, 0, 0), DimOutOfRange, "[pad_with_zeros]");
  const Tensor bytes = Tensor::from_bytes(std::vector<std::byte>(3), {3}, DType::F8E8M0);
  EXPECT_ERROR(bytes.pad_with_zeros(0, 1, 0), UnsupportedDType,
               "[pad_with_zeros] not defined for [3] f8e8m0");
}

TEST(Join, Repeat) {
  Random random(4);
  for (DType dtype : moving_dtypes()) {
    for (int round = 0; round < 20; ++round) {
      const Sample s = sample(random, dtype);
      std::vector<int64_t> times;
      const int64_t added = pick(random, -1, 2);
      for (int64_t i = 0; i < s.shape.rank() + added; ++i) times.push_back(pick(random, 0, 3));
      if (times.empty()) continue;
      const int rank = std::max(s.shape.rank(), static_cast<int>(times.size()));
      Shape from;
      for (int i = 0; i < rank; ++i)
        from.push_back(i < rank - s.shape.rank() ? 1 : s.shape[i - rank + s.shape.rank()]);
      Shape to = from;
      const int missing = rank - static_cast<int>(times.size());
      for (int i = missing; i < rank; ++i) to.set(i, from[i] * times[static_cast<size_t>(i - missing)]);
      const Tensor out = s.tensor.repeat(times);
      ASSERT_EQ(out.shape(), to);
      ASSERT_EQ(raw(out), read_at(to, s.values, from, [&](std::vector<int64_t> index) {
                  for (int i = 0; i < rank; ++i) index[static_cast<size_t>(i)] %= from[i];
                  return index;
                }));
    }
  }
  const Tensor deep = Tensor::arange(0, 8, DType::I32).reshape({2, 1, 1, 2, 1, 1, 1, 2});
  EXPECT_EQ(deep.repeat({2, 1, 1, 2, 1, 1, 1, 2}).shape(), Shape({4, 1, 1, 4, 1, 1, 1, 4}));
  EXPECT_ERROR(deep.repeat({1, 1, 1, 1, 1, 1, 1, 1, 1}), InvalidArgument, "[repeat] takes at most 8 factors");
  EXPECT_ERROR(deep.repeat({2, -1}), InvalidArgument, "got 2, the least -1");
}

TEST(Join, FlipAndRoll) {
  Random random(5);
  for (DType dtype : moving_dtypes()) {
    for (int round = 0; round < 20; ++round) {
      const Sample s = sample(random, dtype);
      const int other = static_cast<int>(pick(random, 0, s.shape.rank() - 1));
      const std::vector<int> axes =
          other == s.axis ? std::vector<int>{s.axis} : std::vector<int>{s.axis, other - s.shape.rank()};
      ASSERT_EQ(raw(s.tensor.flip(Axes(std::span(axes)))),
                read_at(s.shape, s.values, s.shape, [&](std::vector<int64_t> index) {
                  for (int axis : axes) {
                    const auto i = static_cast<size_t>(axis < 0 ? axis + s.shape.rank() : axis);
                    index[i] = s.shape[static_cast<int>(i)] - 1 - index[i];
                  }
                  return index;
                }));
      const int64_t shift = pick(random, -9, 9);
      ASSERT_EQ(raw(s.tensor.roll(shift, s.axis)),
                read_at(s.shape, s.values, s.shape, [&](std::vector<int64_t> index) {
                  int64_t& at = index[static_cast<size_t>(s.axis)];
                  at = (((at - shift) % s.shape[s.axis]) + s.shape[s.axis]) % s.shape[s.axis];
                  return index;
                }));
    }
  }
  const Tensor x = Tensor::arange(0, 6, DType::F64).reshape({2, 3});
  EXPECT_EQ(x.flip({0, 1}).to_vec<double>(), (std::vector<double>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(x.roll(1, -1).to_vec<double>(), (std::vector<double>{2, 0, 1, 5, 3, 4}));
  EXPECT_ERROR(x.flip({0, -2}), DuplicateDim, "[flip]");
  EXPECT_ERROR(x.flip(2), DimOutOfRange, "[flip]");
  EXPECT_ERROR(x.roll(1, 2), DimOutOfRange, "[roll]");
}

TEST(Join, MasksAndGrids) {
  for (DType dtype : test::arithmetic_dtypes()) {
    for (int64_t n : {0, 1, 2, 5, 33}) {
      const std::vector<double> eye = Tensor::eye(n, dtype).to_doubles();
      const std::vector<double> lower = Tensor::tril2(n, dtype).to_doubles();
      const std::vector<double> upper = Tensor::triu2(n, dtype).to_doubles();
      ASSERT_EQ(eye.size(), static_cast<size_t>(n * n));
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<size_t>(i * n + j);
          ASSERT_EQ(eye[at], i == j ? 1 : 0);
          ASSERT_EQ(lower[at], j <= i ? 1 : 0);
          ASSERT_EQ(upper[at], j >= i ? 1 : 0);
        }
      }
    }
  }
  EXPECT_ERROR(Tensor::eye(-1, DType::F32), InvalidArgument, "-1");
  EXPECT_ERROR(Tensor::tril2(-1, DType::F32), InvalidArgument, "-1");
  EXPECT_ERROR(Tensor::tril2(int64_t{1} << 32, DType::U8), TooLarge, "[4294967296, 4294967296]");
  EXPECT_ERROR(Tensor::triu2(int64_t{1} << 32, DType::U8), TooLarge, "[4294967296, 4294967296]");
  const Tensor a = Tensor::arange(0, 2, DType::I32);
  const Tensor b = Tensor::arange(10, 13, DType::F16);
  const std::vector<Tensor> ij = Tensor::meshgrid(std::vector<Tensor>{a, b}, false);
  EXPECT_EQ(ij[0].shape(), Shape({2, 3}));
  EXPECT_EQ(ij[0].to_doubles(), (std::vector<double>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(ij[1].to_doubles(), (std::vector<double>{10, 11, 12, 10, 11, 12}));
  const std::vector<Tensor> xy = Tensor::meshgrid(std::vector<Tensor>{a, b, a}, true);
  EXPECT_EQ(xy[0].shape(), Shape({3, 2, 2}));
  EXPECT_EQ(xy[0].i(0, all, 0).to_doubles(), (std::vector<double>{0, 1}));
  EXPECT_EQ(xy[1].i(all, 0, 0).to_doubles(), (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(xy[2].i(0, 0, all).to_doubles(), (std::vector<double>{0, 1}));
  EXPECT_ERROR(Tensor::meshgrid(std::vector<Tensor>{a}, false), InvalidArgument,
               "[meshgrid] takes 2 to 8 1-D tensors, got 1");
  EXPECT_ERROR(Tensor::meshgrid(std::vector<Tensor>{a, ij[0]}, false), ShapeMismatch, "[meshgrid]");
}

TEST(Join, SameBitsEverywhere) {
  Random random(6);
  const Tensor x = test::random_tensor(random, {300, 200, 5}, DType::U8);
  test::expect_same_everywhere([&] { return Tensor::cat({x, x.flip(2)}, 1); });
  test::expect_same_everywhere([&] { return x.pad_with_same(0, 7, 9).roll(11, 1).repeat({1, 2, 2}); });
}

}  // namespace
}  // namespace beeswax
