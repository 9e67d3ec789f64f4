// SPDX-License-Identifier: Apache-2.0
// Sorting against std::stable_sort under the documented order, for every dtype.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "backends/cpu/isa.h"
#include "beeswax/tensor.h"
#include "core/thread_pool.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/on_device.h"

namespace beeswax {
namespace {

Device& here = test::device_of_test;

class Sort : public test::DeviceTest {};

template <class T>
long double wide(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<long double>(x);
  } else {
    return static_cast<long double>(static_cast<float>(x));
  }
}

// Whether a comes before b: NaN last in both directions, zeros equal.
template <class T>
bool before(T a, T b, bool ascending) {
  const long double x = wide(a);
  const long double y = wide(b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return ascending ? x < y : x > y;
}

template <class T>
std::vector<uint32_t> expected_ids(const std::vector<T>& row, bool ascending) {
  std::vector<uint32_t> ids(row.size());
  std::iota(ids.begin(), ids.end(), 0u);
  std::ranges::stable_sort(ids, [&](uint32_t a, uint32_t b) { return before(row[a], row[b], ascending); });
  return ids;
}

// Any bits: for floats these are NaNs of many payloads, infinities, denormals and both zeros too. With few
// distinct values, ties show whether the order is stable.
template <class T>
std::vector<T> random_row(int64_t count, bool few, std::mt19937_64& random) {
  std::vector<T> row(static_cast<size_t>(count));
  for (T& x : row) {
    const uint64_t bits = random();
    std::memcpy(&x, &bits, sizeof(T));
    if (few) {
      if constexpr (std::is_integral_v<T>) {
        x = static_cast<T>(bits % 5);
      } else {
        const float choices[] = {0.0f, -0.0f, 1.0f, -1.0f, NAN, -NAN, INFINITY, 1e-40f};
        x = static_cast<T>(choices[bits % 8]);
      }
    }
  }
  return row;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void check_row(const std::vector<T>& row, int64_t keep, bool ascending) {
  const Tensor x = Tensor::from_vec(row, {static_cast<int64_t>(row.size())}, here);
  const bool all = keep == static_cast<int64_t>(row.size());
  const auto [values, ids] = all ? x.sort(0, ascending) : x.topk(keep, !ascending);
  std::vector<uint32_t> expected = expected_ids(row, ascending);
  expected.resize(static_cast<size_t>(keep));
  std::vector<T> picked;
  for (uint32_t id : expected) picked.push_back(row[id]);
  ASSERT_EQ(ids.to_vec<uint32_t>(), expected)
      << dtype_name(x.dtype()) << " of " << row.size() << " keep " << keep;
  ASSERT_TRUE(same_bits(values.to_vec<T>(), picked)) << dtype_name(x.dtype()) << " of " << row.size();
}

template <class T>
void check_lengths() {
  std::mt19937_64 random(7);
  for (int64_t count : {0, 1, 2, 3, 31, 40, 41, 63, 64, 65, 100, 127, 255, 257, 1000, 1025, 4097}) {
    for (const bool ascending : {true, false}) {
      for (const bool few : {true, false}) {
        const std::vector<T> row = random_row<T>(count, few, random);
        check_row(row, count, ascending);
        for (const int64_t keep : {int64_t{0}, int64_t{1}, int64_t{7}, count / 4, count / 2})
          if (keep <= count) check_row(row, keep, ascending);
      }
    }
  }
}

template <class T>
void check_long_row() {
  std::mt19937_64 random(11);
  const std::vector<T> row = random_row<T>(70'001, false, random);
  for (const int threads : {1, 2, 3}) {
    ThreadPool::global().set_threads(threads);
    check_row(row, 70'001, true);
  }
  check_row(row, 600, false);
}

// Along every axis of a transposed, narrowed and of a broadcast view.
template <class T>
void check_views() {
  std::mt19937_64 random(5);
  const Tensor base = Tensor::from_vec(random_row<T>(int64_t{7} * 6 * 45, true, random), {7, 6, 45}, here);
  for (const Tensor& x :
       {base.transpose(0, 2).narrow(0, 3, 41), base.narrow(1, 2, 1).broadcast_as({7, 5, 45})}) {
    for (int axis = 0; axis < 3; ++axis) {
      const auto [values, ids] = x.sort(axis, false);
      ASSERT_TRUE(values.is_contiguous() && ids.is_contiguous());
      EXPECT_EQ(ids.to_vec<uint32_t>(), x.arg_sort(axis, false).to_vec<uint32_t>());
      const Tensor rows = x.transpose(axis, 2);
      const Tensor row_ids = ids.transpose(axis, 2);
      for (int64_t i = 0; i < rows.dim(0); ++i)
        for (int64_t j = 0; j < rows.dim(1); ++j)
          ASSERT_EQ(row_ids.get(i).get(j).to_vec<uint32_t>(),
                    expected_ids(rows.get(i).get(j).to_vec<T>(), false));
    }
  }
}

#define BW_DTYPE(Name, name, ctype, ...) \
  TEST_P(Sort, Name) {                   \
    check_lengths<ctype>();              \
    check_views<ctype>();                \
  }                                      \
  TEST_P(Sort, LongRow##Name) { check_long_row<ctype>(); }
#include "tables/dtypes.def"

TEST_P(Sort, EveryIsaLevel) {
  std::mt19937_64 random(3);
  const std::vector<float> row = random_row<float>(500, false, random);
  const cpu::Isa chosen = cpu::isa();
  for (const cpu::Isa level : {cpu::Isa::base, cpu::Isa::v3, cpu::Isa::v4}) {
    if (level > cpu::best_isa()) continue;
    cpu::set_isa(level);
    check_row(row, 500, true);
    check_row(row, 20, false);
  }
  cpu::set_isa(chosen);
}

TEST_P(Sort, SortedAndReversedRows) {
  std::vector<int32_t> row(3000);
  std::iota(row.begin(), row.end(), -1500);
  for (const bool ascending : {true, false}) {
    check_row(row, 3000, ascending);
    check_row(row, 100, ascending);
  }
}

TEST(SortErrors, Errors) {
  const Tensor x = Tensor::zeros({2, 5}, DType::F32);
  EXPECT_ERROR(x.topk(6), InvalidArgument, "[topk] k = 6 is not in [0, 5], the last axis of [2, 5] f32 cpu");
  EXPECT_ERROR(x.topk(-1), InvalidArgument, "k = -1");
  EXPECT_ERROR(x.sort(2), DimOutOfRange, "[sort]");
  EXPECT_ERROR(x.i(0, 0).arg_sort(0), DimOutOfRange, "[arg_sort]");
  EXPECT_ERROR(Tensor::empty({4}, DType::F8E8M0).sort(0), UnsupportedDType,
               "[sort] not defined for [4] f8e8m0 cpu");
  const Tensor many = Tensor::zeros({1}, DType::U8).broadcast_as({int64_t{1} << 33});
  EXPECT_ERROR(many.topk(1), TooLarge, "8589934592 elements");
}

INSTANTIATE_TEST_SUITE_P(Devices, Sort, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax
