// SPDX-License-Identifier: Apache-2.0
// scatter_add and index_add: the documented order of additions, bit for bit, on every dtype and layout.
#include <gtest/gtest.h>

#include <algorithm>

#include "beeswax/tensor.h"
#include "support/devices.h"
#include "support/documented_order.h"
#include "support/on_device.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::expect_same_bits;
using test::for_each_index;
using test::laid_out_here;
using test::linear;
using test::ordered_sum;
using test::pick;
using test::Random;
using test::raw;
using test::Raw;

Device& here = test::device_of_test;

class IndexAdd : public test::DeviceTest {};

template <class T, class A>
Raw add_by_hand(const Raw& to, const Shape& shape, const std::vector<int64_t>& ids, const Raw& source,
                const Shape& part, int axis) {
  std::vector<std::vector<A>> contributions(to.size());
  const auto value = [](uint64_t bits) {
    T element;
    std::memcpy(&element, &bits, sizeof(T));
    return static_cast<A>(element);
  };
  // Row-major order visits the ids of one column in increasing order.
  for_each_index(part, [&](std::vector<int64_t> index) {
    const size_t at = linear(part, index);
    index[static_cast<size_t>(axis)] = ids[at];
    if (ids[at] < shape[axis]) contributions[linear(shape, index)].push_back(value(source[at]));
  });
  Raw out = to;
  for (size_t i = 0; i < to.size(); ++i) {
    if (contributions[i].empty()) continue;
    const T sum = static_cast<T>(static_cast<A>(value(to[i]) + ordered_sum(contributions[i])));
    out[i] = 0;
    std::memcpy(&out[i], &sum, sizeof(T));
  }
  return out;
}

Raw add_by_hand(DType dtype, const Raw& to, const Shape& shape, const std::vector<int64_t>& ids,
                const Raw& source, const Shape& part, int axis) {
  switch (dtype) {
#define BW_DTYPE(Name, name, ctype, compute, ...) \
  case DType::Name:                               \
    return add_by_hand<ctype, compute>(to, shape, ids, source, part, axis);
#include "tables/dtypes.def"
    default:
      return {};
  }
}

// Finite values of many magnitudes, so that every change of order shows; zeros of both signs.
template <class T>
uint64_t number(Random& random) {
  uint64_t bits = 0;
  if constexpr (std::is_integral_v<T>) {
    const auto value = static_cast<T>(random());
    std::memcpy(&bits, &value, sizeof(T));
  } else {
    const auto mantissa = static_cast<float>(pick(random, -1000, 1000));
    const float x = pick(random, 0, 9) == 0
                        ? -0.0f
                        : mantissa * std::ldexp(1.0f, static_cast<int>(pick(random, -12, -6)));
    const T value = T(x);
    std::memcpy(&bits, &value, sizeof(T));
  }
  return bits;
}

Raw numbers(Random& random, int64_t count, DType dtype) {
  Raw out;
  for (int64_t i = 0; i < count; ++i) {
    switch (dtype) {
#define BW_DTYPE(Name, name, ctype, ...)  \
  case DType::Name:                       \
    out.push_back(number<ctype>(random)); \
    break;
#include "tables/dtypes.def"
      default:
        break;
    }
  }
  return out;
}

std::vector<int64_t> random_ids(Random& random, int64_t count, int64_t size) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(pick(random, 0, 15) == 0 ? INT64_MAX : pick(random, 0, size - 1));
  return out;
}

Tensor id_tensor(Random& random, const std::vector<int64_t>& ids, const Shape& shape) {
  return laid_out_here(random, Raw(ids.begin(), ids.end()), shape, DType::I64);
}

// Ids are multiples of `step`.
void check_index_add(Random& random, DType dtype, const Shape& shape, int axis, int64_t count,
                     int64_t step = 1) {
  Shape part = shape;
  part.set(axis, count);
  std::vector<int64_t> ids = random_ids(random, count, shape[axis] / step);
  for (int64_t& id : ids)
    if (id != INT64_MAX) id *= step;
  const Raw values = numbers(random, shape.elem_count(), dtype);
  const Raw added = numbers(random, part.elem_count(), dtype);
  std::vector<int64_t> spread;
  for_each_index(part, [&](const std::vector<int64_t>& index) {
    spread.push_back(ids[static_cast<size_t>(index[static_cast<size_t>(axis)])]);
  });
  const Raw expected = add_by_hand(dtype, values, shape, spread, added, part, axis);
  const Tensor x = laid_out_here(random, values, shape, dtype);
  const Tensor source = laid_out_here(random, added, part, dtype);
  const Tensor list = id_tensor(random, ids, {count});
  ASSERT_EQ(raw(x.index_add(list, source, axis)), expected)
      << x.describe() << " axis " << axis << ", " << count;
  // The same ids spelled out, and spread by strides of 0, are the same sums.
  ASSERT_EQ(raw(x.scatter_add(id_tensor(random, spread, part), source, axis)), expected);
  Shape ones = part;
  for (int i = 0; i < ones.rank(); ++i) ones.set(i, i == axis ? count : 1);
  ASSERT_EQ(raw(x.scatter_add(list.reshape(ones).broadcast_as(part), source, axis)), expected);
}

TEST_P(IndexAdd, OrderOnEveryDtype) {
  Random random(11);
  for (DType dtype : test::arithmetic_dtypes()) {
    check_index_add(random, dtype, {2}, 0, 3000);
    check_index_add(random, dtype, {3, 40}, 0, 700);
    check_index_add(random, dtype, {3, 150}, 0, 1);
    check_index_add(random, dtype, {3, 20, 3}, 1, 65);
    check_index_add(random, dtype, {2, 5, 17}, 1, 130);
    check_index_add(random, dtype, {30, 4}, 1, 200);
    for (int round = 0; round < 20; ++round) {
      const Shape shape = test::random_shape(random, static_cast<int>(pick(random, 1, 4)), 1, 20);
      if (shape.elem_count() > 5000) continue;
      check_index_add(random, dtype, shape, static_cast<int>(pick(random, 0, shape.rank() - 1)),
                      pick(random, 0, 40));
    }
  }
}

// More than one level of chunks above the first: 512^2 contributions to one destination.
TEST_P(IndexAdd, ManyLevels) {
  Random random(12);
  check_index_add(random, DType::F32, {1}, 0, 512 * 512 + 700);
  check_index_add(random, DType::F32, {1, 16}, 0, 512 * 20 + 3);
  check_index_add(random, DType::BF16, {1, 130}, 0, 512 * 3);
  for (int64_t count : {63, 64, 65, 128, 511, 512, 513, 1024, 1025})
    check_index_add(random, DType::F64, {1, 16}, 0, count);
}

// So few that they are sorted, down to one and up to more than a chunk for a destination.
TEST_P(IndexAdd, FewContributionsToManyDestinations) {
  Random random(17);
  for (DType dtype : {DType::F32, DType::BF16, DType::U8, DType::I64}) {
    check_index_add(random, dtype, {50000}, 0, 700, 50000);
    check_index_add(random, dtype, {50000}, 0, 700, 9000);
    check_index_add(random, dtype, {50000}, 0, 1);
    check_index_add(random, dtype, {7000, 17}, 0, 90, 1000);
    check_index_add(random, dtype, {3, 20000}, 1, 100, 6000);
    check_index_add(random, dtype, {2, 9000, 3}, 1, 20, 4000);
  }
}

TEST_P(IndexAdd, ScatterAddWithIdsOfItsOwn) {
  Random random(13);
  for (DType dtype : test::arithmetic_dtypes()) {
    for (int round = 0; round < 30; ++round) {
      const Shape shape = test::random_shape(random, static_cast<int>(pick(random, 1, 4)), 1, 8);
      const int axis = static_cast<int>(pick(random, 0, shape.rank() - 1));
      Shape part = shape;
      for (int i = 0; i < part.rank(); ++i)
        part.set(i, i == axis                 ? pick(random, 0, 30)
                    : pick(random, 0, 2) == 0 ? pick(random, 1, shape[i])
                                              : shape[i]);
      const std::vector<int64_t> ids = random_ids(random, part.elem_count(), shape[axis]);
      const Raw values = numbers(random, shape.elem_count(), dtype);
      const Raw added = numbers(random, part.elem_count(), dtype);
      Tensor x = laid_out_here(random, values, shape, dtype);
      const Tensor source = laid_out_here(random, added, part, dtype);
      const Tensor list = id_tensor(random, ids, part);
      const Raw expected = add_by_hand(dtype, values, shape, ids, added, part, axis);
      ASSERT_EQ(raw(x.scatter_add(list, source, axis)), expected) << x.describe() << " axis " << axis;
      ASSERT_EQ(raw(x), values);
      x.scatter_add_set(list, source, axis);
      ASSERT_EQ(raw(x), expected);
    }
  }
}

// A few contributions to each destination of a column, up to and beyond what is kept side by side.
TEST_P(IndexAdd, FewContributionsToEach) {
  Random random(15);
  const Shape shape{3, 43};
  for (DType dtype : test::arithmetic_dtypes()) {
    for (int64_t most = 1; most <= 10; ++most) {
      std::vector<int64_t> one;
      for (int64_t id = 0; id < shape[1]; ++id)
        one.insert(one.end(), static_cast<size_t>(id % 12 == 5 ? most : id % 2), id);
      one.push_back(INT64_MAX);
      std::vector<int64_t> ids;
      for (int64_t row = 0; row < shape[0]; ++row) {
        std::shuffle(one.begin(), one.end(), random);
        ids.insert(ids.end(), one.begin(), one.end());
      }
      const Shape part{shape[0], static_cast<int64_t>(one.size())};
      const Raw values = numbers(random, shape.elem_count(), dtype);
      const Raw added = numbers(random, part.elem_count(), dtype);
      const Tensor x = laid_out_here(random, values, shape, dtype);
      const Tensor source = laid_out_here(random, added, part, dtype);
      const Tensor list = id_tensor(random, ids, part);
      ASSERT_EQ(raw(x.scatter_add(list, source, 1)), add_by_hand(dtype, values, shape, ids, added, part, 1))
          << x.describe() << ", at most " << most;
      expect_same_bits([&] { return x.scatter_add(list, source, 1); });
    }
  }
}

// Rows that a block takes whole, around the most that it can, with lists of any length: all contributions to
// one destination, to few, and to any.
TEST_P(IndexAdd, ScatterAddToShortRows) {
  Random random(16);
  for (DType dtype : {DType::F32, DType::BF16, DType::F64, DType::U8, DType::I64}) {
    for (const auto& [part, size, axis] : std::vector<std::tuple<Shape, int64_t, int>>{{{3, 2048}, 2048, 1},
                                                                                       {{2, 2049}, 70, 1},
                                                                                       {{2, 4096}, 1, 1},
                                                                                       {{1, 4097}, 3000, 1},
                                                                                       {{2, 2047}, 2, 1},
                                                                                       {{2, 700}, 9000, 1},
                                                                                       {{3, 40}, 9000, 1},
                                                                                       {{2, 90, 1}, 15000, 1},
                                                                                       {{65, 33}, 33, 1},
                                                                                       {{40, 19}, 5, 0},
                                                                                       {{600, 5}, 2, 0},
                                                                                       {{2500, 3}, 40, 0}}) {
      Shape shape = part;
      shape.set(axis, size);
      const std::vector<int64_t> ids = random_ids(random, part.elem_count(), size);
      const Raw values = numbers(random, shape.elem_count(), dtype);
      const Raw added = numbers(random, part.elem_count(), dtype);
      const Tensor x = laid_out_here(random, values, shape, dtype);
      const Tensor source = laid_out_here(random, added, part, dtype);
      const Tensor list = id_tensor(random, ids, part);
      ASSERT_EQ(raw(x.scatter_add(list, source, axis)),
                add_by_hand(dtype, values, shape, ids, added, part, axis))
          << x.describe() << " axis " << axis << ", " << part.to_string();
    }
  }
}

TEST_P(IndexAdd, SameBitsEverywhere) {
  Random random(14);
  for (DType dtype : {DType::F32, DType::F16, DType::F64, DType::U8}) {
    for (const auto& [shape, axis] :
         std::vector<std::pair<Shape, int>>{{{100, 300}, 0}, {{40, 50, 20}, 1}, {{300, 70}, 1}, {{9}, 0}}) {
      Shape part = shape;
      part.set(axis, 5000 / (shape.elem_count() / shape[axis] / 10 + 1) + 600);
      const Tensor x = laid_out_here(random, numbers(random, shape.elem_count(), dtype), shape, dtype);
      const Tensor source = laid_out_here(random, numbers(random, part.elem_count(), dtype), part, dtype);
      const Tensor list = id_tensor(random, random_ids(random, part[axis], shape[axis]), {part[axis]});
      const Tensor grid = id_tensor(random, random_ids(random, part.elem_count(), shape[axis]), part);
      const int at = axis;
      expect_same_bits([&] { return x.index_add(list, source, at); });
      expect_same_bits([&] { return x.scatter_add(grid, source, at); });
    }
  }
}

TEST_P(IndexAdd, EmptyAndUntouched) {
  const Tensor x = Tensor::ones({3, 2}, DType::F32, here);
  EXPECT_EQ(raw(x.index_add(Tensor::empty({0}, DType::U8, here), Tensor::empty({0, 2}, DType::F32, here), 0)),
            raw(x));
  EXPECT_EQ(
      raw(x.scatter_add(Tensor::empty({0, 2}, DType::U8, here), Tensor::empty({0, 2}, DType::F32, here), 0)),
      raw(x));
  const Tensor skip = Tensor::full({4}, 255, DType::U8, here);
  EXPECT_EQ(raw(x.index_add(skip, Tensor::ones({4, 2}, DType::F32, here), 0)), raw(x));
  EXPECT_EQ(x.index_add(skip, Tensor::ones({3, 4}, DType::F32, here).narrow(0, 0, 3), 1).shape(), x.shape());
}

INSTANTIATE_TEST_SUITE_P(Devices, IndexAdd, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax
