// SPDX-License-Identifier: Apache-2.0
// index_select, embedding, gather and scatter against index arithmetic, over all data and id dtypes, shapes,
// strides and offsets; the "skip" id; and every error.
#include <gtest/gtest.h>

#include <limits>

#include "beeswax/tensor.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/on_device.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::expect_same_bits;
using test::for_each_index;
using test::laid_out_here;
using test::linear;
using test::pick;
using test::Random;
using test::raw;
using test::Raw;

Device& here = test::device_of_test;

class Indexing : public test::DeviceTest {};

Tensor from_raw(const Raw& values, const Shape& shape, DType dtype) {
  return test::from_raw(values, shape, dtype, here);
}
template <class T>
Tensor from_vec(const std::vector<T>& values, const Shape& shape) {
  return Tensor::from_vec(values, shape, here);
}

constexpr DType kIdTypes[] = {DType::U8, DType::U32, DType::I16, DType::I32, DType::I64};

int64_t largest_id(DType dtype) {
  switch (dtype) {
    case DType::U8:
      return 255;
    case DType::U32:
      return 4294967295;
    case DType::I16:
      return 32767;
    case DType::I32:
      return std::numeric_limits<int32_t>::max();
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

// Every dtype whose elements have an address.
std::vector<DType> moving_dtypes() {
  std::vector<DType> out = test::arithmetic_dtypes();
  out.push_back(DType::F8E8M0);
  return out;
}

Raw as_raw(const std::vector<int64_t>& ids, DType dtype) {
  Raw out;
  for (int64_t id : ids)
    out.push_back(dtype_bits(dtype) == 64
                      ? static_cast<uint64_t>(id)
                      : static_cast<uint64_t>(id) & ((uint64_t{1} << dtype_bits(dtype)) - 1));
  return out;
}

// Ids in [0, size) with a skip now and then; all skips where there is nothing to name.
std::vector<int64_t> random_ids(Random& random, int64_t count, int64_t size, DType dtype) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(size == 0 || pick(random, 0, 7) == 0 ? largest_id(dtype) : pick(random, 0, size - 1));
  return out;
}

bool skips(int64_t id, int64_t size) { return id >= size; }

Raw select_by_hand(const Raw& x, const Shape& shape, const std::vector<int64_t>& ids, int axis) {
  Shape to = shape;
  to.set(axis, static_cast<int64_t>(ids.size()));
  Raw out;
  for_each_index(to, [&](std::vector<int64_t> index) {
    int64_t& at = index[static_cast<size_t>(axis)];
    at = ids[static_cast<size_t>(at)];
    out.push_back(skips(at, shape[axis]) ? 0 : x[linear(shape, index)]);
  });
  return out;
}

TEST_P(Indexing, IndexSelectOnEveryDtype) {
  Random random(1);
  for (DType dtype : moving_dtypes()) {
    for (DType id_type : kIdTypes) {
      for (int round = 0; round < 12; ++round) {
        const Shape shape =
            test::random_shape(random, static_cast<int>(pick(random, 1, 4)), round == 0 ? 0 : 1, 9);
        const int axis = static_cast<int>(pick(random, 0, shape.rank() - 1));
        const std::vector<int64_t> ids = random_ids(random, pick(random, 0, 12), shape[axis], id_type);
        const auto count = static_cast<int64_t>(ids.size());
        const Raw values = test::random_raw(random, shape.elem_count(), dtype);
        const Tensor x = laid_out_here(random, values, shape, dtype);
        const Tensor id_tensor = laid_out_here(random, as_raw(ids, id_type), {count}, id_type);
        ASSERT_EQ(raw(x.index_select(id_tensor, pick(random, 0, 1) == 0 ? axis : axis - shape.rank())),
                  select_by_hand(values, shape, ids, axis))
            << x.describe() << " axis " << axis << " by " << id_tensor.describe();
      }
    }
  }
}

TEST_P(Indexing, LargeIndexSelect) {
  Random random(2);
  const std::vector<Shape> shapes = {{5000, 40}, {3, 70000}, {7, 900, 3}, {300, 200, 7}, {100000}};
  for (const Shape& shape : shapes) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::vector<int64_t> ids =
          random_ids(random, 400000 / (shape.elem_count() / shape[axis]) + 3, shape[axis], DType::I32);
      const Raw values = test::random_raw(random, shape.elem_count(), DType::F16);
      const Tensor id_tensor =
          from_raw(as_raw(ids, DType::I32), {static_cast<int64_t>(ids.size())}, DType::I32);
      const Tensor x = laid_out_here(random, values, shape, DType::F16);
      ASSERT_EQ(raw(x.index_select(id_tensor, axis)), select_by_hand(values, shape, ids, axis))
          << shape.to_string();
      expect_same_bits([&] { return x.index_select(id_tensor, axis); });
    }
  }
}

TEST_P(Indexing, Embedding) {
  Random random(3);
  const Raw values = test::random_raw(random, 15, DType::BF16);
  const Tensor table = laid_out_here(random, values, {5, 3}, DType::BF16);
  const Tensor ids = from_vec(std::vector<uint32_t>{4, 0, 0, 4294967295, 2, 1}, {2, 3});
  const Tensor out = table.embedding(ids);
  EXPECT_EQ(out.shape(), Shape({2, 3, 3}));
  EXPECT_EQ(raw(out), select_by_hand(values, {5, 3}, {4, 0, 0, 4294967295, 2, 1}, 0));
  EXPECT_EQ(table.embedding(from_vec(std::vector<uint8_t>{1}, {})).shape(), Shape({3}));
  EXPECT_EQ(table.embedding(Tensor::empty({0, 2}, DType::I64, here)).shape(), Shape({0, 2, 3}));
}

TEST_P(Indexing, GatherOnEveryDtype) {
  Random random(4);
  for (DType dtype : moving_dtypes()) {
    for (DType id_type : kIdTypes) {
      for (int round = 0; round < 12; ++round) {
        const Shape shape = test::random_shape(random, static_cast<int>(pick(random, 1, 4)), 1, 8);
        const int axis = static_cast<int>(pick(random, 0, shape.rank() - 1));
        Shape to = shape;
        for (int i = 0; i < to.rank(); ++i)
          to.set(i, i == axis                 ? pick(random, 0, 12)
                    : pick(random, 0, 2) == 0 ? pick(random, 1, shape[i])
                                              : shape[i]);
        const std::vector<int64_t> ids = random_ids(random, to.elem_count(), shape[axis], id_type);
        const Raw values = test::random_raw(random, shape.elem_count(), dtype);
        const Tensor x = laid_out_here(random, values, shape, dtype);
        const Tensor id_tensor = laid_out_here(random, as_raw(ids, id_type), to, id_type);
        Raw expected;
        for_each_index(to, [&](std::vector<int64_t> index) {
          const int64_t id = ids[linear(to, index)];
          index[static_cast<size_t>(axis)] = id;
          expected.push_back(skips(id, shape[axis]) ? 0 : values[linear(shape, index)]);
        });
        ASSERT_EQ(raw(x.gather(id_tensor, axis)), expected)
            << x.describe() << " axis " << axis << " by " << id_tensor.describe();
      }
    }
  }
}

// More than caches hold, named anywhere in by columns that devices take in panels; the last panel is not
// full.
TEST_P(Indexing, GatherFromAnywhere) {
  Random random(16);
  const Shape shape = {2, 1000, 1100}, to = {2, 260, 1100};
  const std::vector<int64_t> ids = random_ids(random, to.elem_count(), shape[1], DType::I16);
  const Raw values = test::random_raw(random, shape.elem_count(), DType::I64);
  const Tensor x = from_raw(values, shape, DType::I64),
               id_tensor = from_raw(as_raw(ids, DType::I16), to, DType::I16);
  Raw expected;
  for_each_index(to, [&](std::vector<int64_t> index) {
    index[1] = ids[linear(to, index)];
    expected.push_back(skips(index[1], shape[1]) ? 0 : values[linear(shape, index)]);
  });
  ASSERT_EQ(raw(x.gather(id_tensor, 1)), expected);
}

// By hand. Row-major order visits the ids of one column in increasing order, so that the last one wins.
Raw scatter_by_hand(Raw to, const Shape& shape, const std::vector<int64_t>& ids, const Raw& source,
                    const Shape& part, int axis) {
  for_each_index(part, [&](std::vector<int64_t> index) {
    const size_t at = linear(part, index);
    index[static_cast<size_t>(axis)] = ids[at];
    if (!skips(ids[at], shape[axis])) to[linear(shape, index)] = source[at];
  });
  return to;
}

TEST_P(Indexing, ScatterOnEveryDtype) {
  Random random(5);
  for (DType dtype : moving_dtypes()) {
    for (DType id_type : kIdTypes) {
      for (int round = 0; round < 12; ++round) {
        const Shape shape = test::random_shape(random, static_cast<int>(pick(random, 1, 4)), 1, 8);
        const int axis = static_cast<int>(pick(random, 0, shape.rank() - 1));
        Shape part = shape;
        for (int i = 0; i < part.rank(); ++i)
          part.set(i, i == axis                 ? pick(random, 0, 12)
                      : pick(random, 0, 2) == 0 ? pick(random, 1, shape[i])
                                                : shape[i]);
        const std::vector<int64_t> ids = random_ids(random, part.elem_count(), shape[axis], id_type);
        const Raw values = test::random_raw(random, shape.elem_count(), dtype);
        const Raw source_values = test::random_raw(random, part.elem_count(), dtype);
        const Tensor source = laid_out_here(random, source_values, part, dtype);
        const Tensor id_tensor = laid_out_here(random, as_raw(ids, id_type), part, id_type);
        Tensor x = laid_out_here(random, values, shape, dtype);
        const Raw expected = scatter_by_hand(values, shape, ids, source_values, part, axis);
        ASSERT_EQ(raw(x.scatter(id_tensor, source, axis)), expected)
            << x.describe() << " axis " << axis << " by " << id_tensor.describe();
        ASSERT_EQ(raw(x), values);
        x.scatter_set(id_tensor, source, axis);
        ASSERT_EQ(raw(x), expected);
      }
    }
  }
}

// Few ids of many elements, which GPUs sort, beside as many that they do not: lists that all columns share,
// lists of a batch, ids of their own; the same element again and again.
TEST_P(Indexing, ScatterOfFewIds) {
  struct Case {
    Shape shape, part, own;  // own: of the ids, before they are broadcast
    int axis;
  };
  const std::vector<Case> cases = {{{300000}, {5000}, {5000}, 0},
                                   {{4100, 65}, {7, 65}, {7, 1}, 0},
                                   {{4100, 65}, {7, 65}, {7, 65}, 0},
                                   {{4100, 65}, {300, 64}, {300, 64}, 0},
                                   {{4100, 65}, {4100, 3}, {4100, 3}, 1},
                                   {{4100, 65}, {4100, 5}, {4100, 5}, 1},
                                   {{3, 700, 130}, {3, 5, 130}, {3, 5, 1}, 1},
                                   {{3, 700, 130}, {3, 5, 130}, {1, 5, 130}, 1},
                                   {{2, 3, 400, 120}, {2, 3, 6, 110}, {2, 1, 6, 1}, 2},
                                   {{2, 3, 400, 120}, {2, 3, 400, 4}, {2, 3, 1, 4}, 3}};
  constexpr DType kMoved[] = {DType::U8, DType::BF16, DType::F32, DType::I64};
  Random random(17);
  int round = 0;
  for (const Case& test : cases) {
    const DType dtype = kMoved[round % 4], id_type = kIdTypes[1 + round % 4];
    ++round;
    const int64_t size = test.shape[test.axis];
    std::vector<int64_t> own;
    for (int64_t i = 0; i < test.own.elem_count(); ++i) {
      const int64_t kind = pick(random, 0, 7);
      own.push_back(kind == 0  ? largest_id(id_type)
                    : kind < 6 ? kind % 2 * (size - 1)
                               : pick(random, 0, size - 1));
    }
    const Tensor id_tensor =
        laid_out_here(random, as_raw(own, id_type), test.own, id_type).broadcast_as(test.part);
    std::vector<int64_t> ids;
    for_each_index(test.part, [&](std::vector<int64_t> index) {
      for (int i = 0; i < test.own.rank(); ++i)
        if (test.own[i] == 1) index[static_cast<size_t>(i)] = 0;
      ids.push_back(own[linear(test.own, index)]);
    });
    const Raw values = test::random_raw(random, test.shape.elem_count(), dtype);
    const Raw source_values = test::random_raw(random, test.part.elem_count(), dtype);
    const Tensor source = laid_out_here(random, source_values, test.part, dtype);
    Tensor x = laid_out_here(random, values, test.shape, dtype);
    x.scatter_set(id_tensor, source, test.axis);
    ASSERT_TRUE(raw(x) == scatter_by_hand(values, test.shape, ids, source_values, test.part, test.axis))
        << x.describe() << " axis " << test.axis << " by " << id_tensor.describe();
  }
}

TEST_P(Indexing, LargeGatherAndScatter) {
  Random random(6);
  for (const Shape& shape : std::vector<Shape>{{3000, 50}, {2, 40000}, {20, 60, 70}}) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::vector<int64_t> ids = random_ids(random, shape.elem_count(), shape[axis], DType::I64);
      const Raw values = test::random_raw(random, shape.elem_count(), DType::F32);
      const Raw source_values = test::random_raw(random, shape.elem_count(), DType::F32);
      const Tensor x = laid_out_here(random, values, shape, DType::F32);
      const Tensor source = laid_out_here(random, source_values, shape, DType::F32);
      const Tensor id_tensor = laid_out_here(random, as_raw(ids, DType::I64), shape, DType::I64);
      ASSERT_EQ(raw(x.scatter(id_tensor, source, axis)),
                scatter_by_hand(values, shape, ids, source_values, shape, axis));
      expect_same_bits([&] { return x.scatter(id_tensor, source, axis); });
      expect_same_bits([&] { return x.gather(id_tensor, axis); });
    }
  }
}

// The largest id skips only where it names nothing.
TEST_P(Indexing, SkipIdCanBeLegal) {
  const Tensor wide = Tensor::arange(0, 300, DType::I32, here);
  const Tensor narrow = Tensor::arange(0, 255, DType::I32, here);
  const Tensor ids = from_vec(std::vector<uint8_t>{255, 3}, {2});
  EXPECT_EQ(wide.index_select(ids, 0).to_vec<int32_t>(), (std::vector<int32_t>{255, 3}));
  EXPECT_EQ(wide.gather(ids, 0).to_vec<int32_t>(), (std::vector<int32_t>{255, 3}));
  EXPECT_EQ(narrow.index_select(ids, 0).to_vec<int32_t>(), (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(narrow.gather(ids, 0).to_vec<int32_t>(), (std::vector<int32_t>{0, 3}));
  const Tensor source = from_vec(std::vector<int32_t>{-1, -2}, {2});
  EXPECT_EQ(wide.scatter(ids, source, 0).i(255).to_scalar<int32_t>(), -1);
  EXPECT_EQ(wide.index_add(ids, source, 0).i(255).to_scalar<int32_t>(), 254);
  EXPECT_EQ(narrow.scatter(ids, source, 0).i(254).to_scalar<int32_t>(), 254);
  EXPECT_EQ(narrow.scatter_add(ids, source, 0).i(254).to_scalar<int32_t>(), 254);
}

// What the CPU says of a bad id; a GPU's words are those of Indexing.BadIds.
std::string on_cpu(const std::string& text) { return test::on_cpu() ? text : "of the ids is out of range"; }

TEST(IndexingErrors, Embedding) {
  const Tensor table = Tensor::zeros({5, 3}, DType::BF16);
  const Tensor ids = Tensor::zeros({2, 3}, DType::U32);
  EXPECT_ERROR(table.reshape({15}).embedding(ids), ShapeMismatch,
               "[embedding] expected a table [rows, columns]");
  EXPECT_ERROR(table.embedding(table), UnsupportedDType, "accepted dtypes: u8, u32, i16, i32, i64");
  const Tensor bad = Tensor::from_vec(std::vector<uint8_t>{1, 5}, {2, 1});
  EXPECT_ERROR(table.embedding(bad), IndexOutOfRange,
               on_cpu("embedding of ids [2, 1] u8 cpu in [5, 3] bf16 cpu"));
}

// A GPU finds a bad id while it computes, so the error comes when it is waited for; it says which id and
// where.
template <class Call>
void expect_bad_id(Call&& call, const std::string& operation, int64_t id, int64_t place, int64_t size) {
  const auto all = [&] {
    call();
    here.synchronize();
  };
  if (here.is_cpu()) {
    EXPECT_ERROR(all(), IndexOutOfRange, "[" + operation + "] id " + std::to_string(id) + " at [");
  } else {
    EXPECT_ERROR(all(), IndexOutOfRange,
                 "[" + operation + "] index " + std::to_string(id) + " at element " + std::to_string(place) +
                     " of the ids is out of range for an axis of size " + std::to_string(size));
  }
  EXPECT_NO_THROW(here.synchronize());
}

TEST_P(Indexing, BadIds) {
  const Tensor x = Tensor::zeros({4, 5}, DType::F32, here);
  const Tensor ids = from_vec(std::vector<int32_t>{0, 1, 9, -3}, {4});
  expect_bad_id([&] { x.index_select(ids.narrow(0, 0, 3), 1); }, "index_select", 9, 2, 5);
  expect_bad_id([&] { x.index_select(ids.narrow(0, 3, 1).broadcast_as({7}), 0); }, "index_select", -3, 0, 4);
  const Tensor grid = from_vec(std::vector<int64_t>{0, 1, 2, 3, 3, 3, 0, 5}, {4, 2});
  const Tensor source = Tensor::ones({4, 2}, DType::F32, here);
  expect_bad_id([&] { x.gather(grid, 1); }, "gather", 5, 7, 5);
  expect_bad_id([&] { x.gather(grid.transpose(0, 1), 0); }, "gather", 5, 7, 4);
  expect_bad_id([&] { x.scatter(grid, source, 1); }, "scatter", 5, 7, 5);
  expect_bad_id([&] { x.scatter_add(grid, source, 1); }, "scatter_add", 5, 7, 5);
  const Tensor one = from_vec(std::vector<int64_t>{2, 3, 6}, {3, 1}).broadcast_as({3, 2});
  expect_bad_id([&] { x.scatter_add(one, source.narrow(0, 0, 3), 0); }, "scatter_add", 6, 4, 4);
  // Elements that share an id move together; each has its own number nevertheless.
  const Tensor rows = from_vec(std::vector<uint8_t>{0, 1, 9}, {3, 1});
  expect_bad_id([&] { Tensor::zeros({4, 64}, DType::F32, here).gather(rows.broadcast_as({3, 64}), 0); },
                "gather", 9, 128, 4);
  expect_bad_id([&] { Tensor::zeros({4, 8}, DType::F16, here).gather(rows.broadcast_as({3, 8}), 0); },
                "gather", 9, 16, 4);
  const Tensor batch = from_vec(std::vector<uint8_t>{0, 1, 9, 1}, {2, 2, 1}).broadcast_as({2, 2, 4});
  expect_bad_id([&] { Tensor::zeros({2, 3, 4}, DType::F32, here).gather(batch, 1); }, "gather", 9, 8, 3);
  const Tensor bad = ids.narrow(0, 1, 2);
  expect_bad_id([&] { x.index_add(bad, Tensor::ones({4, 2}, DType::F32, here), 1); }, "index_add", 9, 1, 5);
  // Ids are checked even where nothing moves.
  const Tensor none = Tensor::zeros({5, 0, 2}, DType::F32, here);
  expect_bad_id([&] { none.index_select(bad, 0); }, "index_select", 9, 1, 5);
  expect_bad_id([&] { none.index_add(bad, Tensor::zeros({2, 0, 2}, DType::F32, here), 0); }, "index_add", 9,
                1, 5);
  std::vector<uint8_t> many(300000, 2);
  many[123457] = 9;
  const Tensor big = from_vec(many, {300000});
  expect_bad_id([&] { Tensor::zeros({3}, DType::U8, here).gather(big, 0); }, "gather", 9, 123457, 3);
}

TEST_P(Indexing, BadIdsOnEveryDType) {
  const Tensor row = from_vec(std::vector<int32_t>{0, 9, 1}, {3});
  const Tensor grid = row.reshape({3, 1}).broadcast_as({3, 5});
  for (const DType dtype : test::arithmetic_dtypes()) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    const Tensor x = Tensor::zeros({4, 5}, dtype, here), source = Tensor::ones({3, 5}, dtype, here);
    expect_bad_id([&] { x.index_select(row, 0); }, "index_select", 9, 1, 4);
    expect_bad_id([&] { x.gather(grid, 0); }, "gather", 9, 5, 4);
    expect_bad_id([&] { x.scatter(grid, source, 0); }, "scatter", 9, 5, 4);
    expect_bad_id([&] { x.scatter_add(grid, source, 0); }, "scatter_add", 9, 5, 4);
    expect_bad_id([&] { x.index_add(row, source, 0); }, "index_add", 9, 1, 4);
  }
}

// Few ids of many elements.
TEST_P(Indexing, BadIdsOfScatter) {
  Tensor x = Tensor::zeros({2, 1100, 130}, DType::U8, here);
  const Tensor source = Tensor::ones({2, 3, 130}, DType::U8, here);
  const auto expect_bad = [&](const Tensor& ids, int64_t place) {
    expect_bad_id([&] { x.scatter_set(ids.broadcast_as({2, 3, 130}), source, 1); }, "scatter", 1100, place,
                  1100);
  };
  expect_bad(from_vec(std::vector<int16_t>{0, 1, 1100}, {1, 3, 1}), 2 * 130);
  expect_bad(from_vec(std::vector<int16_t>{0, 1, 2, 3, 1100, 5}, {2, 3, 1}), 4 * 130);
  std::vector<uint32_t> own(size_t{2} * 3 * 130, 7);
  own[500] = 1100;
  expect_bad(from_vec(own, {2, 3, 130}), 500);
}

// Many ids of long rows: GPUs keep such rows in shared memory, whole packs of them and what is left over.
TEST_P(Indexing, ManyIdsOfRows) {
  Random random(7);
  for (const DType dtype : {DType::U8, DType::BF16, DType::F32, DType::I64}) {
    for (const Shape& shape : {Shape{129, 301}, Shape{2, 65, 320}}) {
      const int axis = shape.rank() - 1;
      for (const DType id_type : {DType::I16, DType::I64}) {
        const Raw values = test::random_raw(random, shape.elem_count(), dtype);
        const Tensor x = laid_out_here(random, values, shape, dtype);
        const std::vector<int64_t> list = random_ids(random, 1030, shape[axis], id_type);
        const Tensor ids = laid_out_here(random, as_raw(list, id_type), {1030}, id_type);
        ASSERT_EQ(raw(x.index_select(ids, axis)), select_by_hand(values, shape, list, axis))
            << x.describe() << " by " << ids.describe();
        ASSERT_EQ(raw(x.copy().index_select(ids, axis)), select_by_hand(values, shape, list, axis));
        Shape to = shape;
        to.set(axis, 259);
        const std::vector<int64_t> own = random_ids(random, to.elem_count(), shape[axis], id_type);
        Raw expected;
        for_each_index(to, [&](std::vector<int64_t> index) {
          const int64_t id = own[linear(to, index)];
          index[static_cast<size_t>(axis)] = id;
          expected.push_back(skips(id, shape[axis]) ? 0 : values[linear(shape, index)]);
        });
        const Tensor grid = laid_out_here(random, as_raw(own, id_type), to, id_type);
        ASSERT_EQ(raw(x.copy().gather(grid, axis)), expected) << grid.describe();
      }
    }
  }
  const Tensor x = Tensor::zeros({130, 300}, DType::F32, here);
  std::vector<int32_t> ids(300, 7);
  ids[298] = 300;
  expect_bad_id([&] { x.index_select(from_vec(ids, {300}), 1); }, "index_select", 300, 298, 300);
  std::vector<int32_t> grid(size_t{130} * 300, 7);
  grid[size_t{129} * 300 + 290] = -1;
  expect_bad_id([&] { x.gather(from_vec(grid, {130, 300}), 1); }, "gather", -1, 129 * 300 + 290, 300);
}

TEST(IndexingErrors, IdsOutOfRange) {
  const Tensor x = Tensor::zeros({4, 5}, DType::F32);
  const Tensor ids = Tensor::from_vec(std::vector<int32_t>{0, 1, 7, -3}, {4});
  EXPECT_ERROR(
      x.index_select(ids, 1), IndexOutOfRange,
      on_cpu("[index_select] id 7 at [2] of the ids [4] i32 is out of range for axis 1 of [4, 5] (size 5)"));
  EXPECT_ERROR(x.index_select(ids.narrow(0, 3, 1), 0), IndexOutOfRange, on_cpu("id -3 at [0]"));
  const Tensor grid = Tensor::from_vec(std::vector<int64_t>{0, 1, 2, 3, 4, 4, 0, 5}, {4, 2});
  EXPECT_ERROR(
      x.gather(grid, 0), IndexOutOfRange,
      on_cpu("[gather] id 4 at [2, 0] of the ids [4, 2] i64 is out of range for axis 0 of [4, 5] (size 4)"));
  EXPECT_ERROR(x.gather(grid, 1), IndexOutOfRange, on_cpu("id 5 at [3, 1]"));
  const Tensor source = Tensor::ones({4, 2}, DType::F32);
  EXPECT_ERROR(x.scatter(grid, source, 1), IndexOutOfRange, on_cpu("[scatter] id 5 at [3, 1]"));
  EXPECT_ERROR(x.scatter_add(grid, source, 1), IndexOutOfRange, on_cpu("[scatter_add] id 5 at [3, 1]"));
  EXPECT_ERROR(x.index_add(ids, Tensor::ones({4, 4}, DType::F32), 1), IndexOutOfRange,
               on_cpu("[index_add] id 7 at [2]"));
  // Ids are checked even where nothing moves.
  const Tensor none = Tensor::zeros({5, 0, 2}, DType::F32);
  EXPECT_ERROR(none.index_select(ids, 0), IndexOutOfRange, on_cpu("[index_select] id 7 at [2]"));
  EXPECT_ERROR(none.index_add(ids, Tensor::zeros({4, 0, 2}, DType::F32), 0), IndexOutOfRange,
               on_cpu("[index_add] id 7 at [2]"));
  EXPECT_ERROR(Tensor::zeros({4, 0}, DType::F32).embedding(ids), IndexOutOfRange, on_cpu("id 7"));
  const Tensor legal = ids.narrow(0, 0, 2);
  EXPECT_EQ(none.index_select(legal, 0).shape().to_string(), "[2, 0, 2]");
  EXPECT_EQ(none.index_add(legal, Tensor::zeros({2, 0, 2}, DType::F32), 0).shape().to_string(), "[5, 0, 2]");
  // The first one in row-major order is named, for any number of threads.
  std::vector<uint32_t> many(300000, 1);
  many[123457] = 9;
  many[250000] = 8;
  const Tensor big = Tensor::from_vec(many, {300000});
  EXPECT_ERROR(Tensor::zeros({3}, DType::U8).index_select(big, 0), IndexOutOfRange,
               on_cpu("id 9 at [123457]"));
  EXPECT_ERROR(Tensor::zeros({3}, DType::U8).gather(big, 0), IndexOutOfRange, on_cpu("id 9 at [123457]"));
  EXPECT_ERROR(Tensor::zeros({3}, DType::U8).scatter(big, Tensor::zeros({300000}, DType::U8), 0),
               IndexOutOfRange, on_cpu("id 9 at [123457]"));
}

// A result without elements does not hide a bad id.
TEST(IndexingErrors, IdsOutOfRangeOfEmptyResults) {
  const Tensor x = Tensor::zeros({3, 0}, DType::F32);
  const Tensor good = Tensor::from_vec(std::vector<uint8_t>{2, 255, 0}, {3});
  const Tensor bad = Tensor::from_vec(std::vector<uint8_t>{2, 7, 9}, {3});
  EXPECT_EQ(x.index_select(good, 0).shape(), Shape({3, 0}));
  EXPECT_ERROR(x.index_select(bad, 0), IndexOutOfRange, on_cpu("id 7 at [1]"));
  EXPECT_ERROR(x.index_select(bad, 0), IndexOutOfRange,
               on_cpu("[index_select] id 7 at [1] of the ids [3] u8 is out of range for axis 0 of [3, 0]"));
  EXPECT_ERROR(x.i(std::vector<uint32_t>{3}), IndexOutOfRange, on_cpu("id 3 at [0]"));
  EXPECT_EQ(x.embedding(good.reshape({3, 1})).shape(), Shape({3, 1, 0}));
  EXPECT_ERROR(x.embedding(bad.reshape({3, 1})), IndexOutOfRange,
               on_cpu("embedding of ids [3, 1] u8 cpu in [3, 0]"));
  EXPECT_EQ(x.index_add(good, x, 0).shape(), Shape({3, 0}));
  EXPECT_ERROR(x.index_add(bad, x, 0), IndexOutOfRange,
               on_cpu("[index_add] id 7 at [1] of the ids [3] u8 is out of range for axis 0 of [3, 0]"));
  EXPECT_ERROR(Tensor::zeros({0, 3}, DType::I64).index_select(good, 0), IndexOutOfRange,
               on_cpu("id 2 at [0]"));
  EXPECT_ERROR(Tensor::zeros({0, 0}, DType::I64).index_select(good, 0), IndexOutOfRange,
               on_cpu("id 2 at [0]"));
}

TEST(IndexingErrors, Errors) {
  const Tensor x = Tensor::zeros({4, 5}, DType::F32);
  const Tensor ids = Tensor::zeros({3}, DType::U32);
  const Tensor grid = Tensor::zeros({4, 5}, DType::U32);
  EXPECT_ERROR(x.index_select(ids, 2), DimOutOfRange, "[index_select]");
  EXPECT_ERROR(x.index_select(x, 0), UnsupportedDType, "accepted dtypes: u8, u32, i16, i32, i64");
  EXPECT_ERROR(x.index_select(grid, 0), ShapeMismatch,
               "[index_select] expected ids [n] (rank 1), got [4, 5] u32");
  EXPECT_ERROR(x.gather(ids, 0), ShapeMismatch, "[gather] the ids [3] u32 cpu must have the rank of [4, 5]");
  EXPECT_ERROR(x.gather(Tensor::zeros({4, 6}, DType::U8), 0), ShapeMismatch,
               "but for axis 0, no size larger than there");
  EXPECT_ERROR(x.gather(Tensor::zeros({4, 5}, DType::F64), 0), UnsupportedDType,
               "[gather] not defined for [4, 5] f64");
  EXPECT_ERROR(x.scatter(grid, Tensor::zeros({4, 4}, DType::F32), 0), ShapeMismatch,
               "[scatter] the ids [4, 5] u32 cpu and the source [4, 4] f32 cpu must have one shape");
  EXPECT_ERROR(x.scatter(grid, Tensor::zeros({4, 5}, DType::F16), 0), DTypeMismatch, "[scatter]");
  EXPECT_ERROR(x.scatter(Tensor::zeros({5, 5}, DType::U8), Tensor::zeros({5, 5}, DType::F32), 1),
               ShapeMismatch, "[scatter] the source [5, 5] f32 cpu must have the rank of [4, 5]");
  EXPECT_ERROR(x.scatter_add(grid, x, -3), DimOutOfRange, "[scatter_add]");
  EXPECT_ERROR(x.index_add(grid, x, 0), ShapeMismatch, "[index_add] expected ids [n]");
  EXPECT_ERROR(x.index_add(ids, x, 0), ShapeMismatch,
               "[index_add] the source [4, 5] f32 cpu does not go with the destination [4, 5] f32 cpu and 3 "
               "ids along axis 0; expected [3, 5]");
  EXPECT_ERROR(x.index_add(ids, Tensor::zeros({3, 5}, DType::I64), 0), DTypeMismatch, "[index_add]");
  const Tensor packed = Tensor::from_bytes(std::vector<std::byte>(6), {8}, DType::F6E2M3);
  EXPECT_ERROR(packed.index_select(ids, 0), UnsupportedDType,
               "[index_select] [8] f6e2m3 cpu is packed below a byte");
  EXPECT_ERROR(packed.gather(ids, 0), UnsupportedDType, "[gather]");
  const Tensor bytes = Tensor::from_bytes(std::vector<std::byte>(3), {3}, DType::F8E8M0);
  EXPECT_ERROR(bytes.scatter_add(ids, bytes, 0), UnsupportedDType,
               "[scatter_add] not defined for [3] f8e8m0");
}

INSTANTIATE_TEST_SUITE_P(Devices, Indexing, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax
