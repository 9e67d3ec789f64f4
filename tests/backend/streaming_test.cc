// SPDX-License-Identifier: Apache-2.0
// Elementwise operations whose results are written past the caches: every element of odd shapes, against
// integers that are exact in every dtype used.
// CPU only: other devices have no such writes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "beeswax/tensor.h"
#include "core/divide.h"

namespace beeswax {
namespace {

constexpr int64_t kRows = 2111;
constexpr int64_t kColumns = 4099;  // no whole number of cache lines

double element(int64_t row, int64_t column) { return static_cast<double>((row * 7 + column * 3) % 101 - 50); }
double of_row(int64_t column) { return static_cast<double>(column % 23 - 11); }
double of_column(int64_t row) { return static_cast<double>(row % 19 - 9); }

Tensor make(const Shape& shape, DType dtype, const std::function<double(int64_t, int64_t)>& value) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(shape.elem_count()));
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j) values.push_back(static_cast<float>(value(i, j)));
  return Tensor::from_vec(values, shape).to_dtype(dtype);
}

// The number of elements of `got` that are not want(row, column), by exact operations of the host.
template <class Want>
int64_t differences(const Tensor& got, const Want& want) {
  EXPECT_EQ(got.shape(), (Shape{kRows, kColumns}));
  const std::vector<float> values = got.to_dtype(DType::F32).reshape({kRows * kColumns}).to_vec<float>();
  int64_t count = 0;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j)
      count += static_cast<double>(values[static_cast<size_t>(i * kColumns + j)]) != want(i, j);
  return count;
}

class StreamingTest : public testing::TestWithParam<DType> {};

TEST_P(StreamingTest, EveryWayOfReading) {
  const DType dtype = GetParam();
  const Tensor x = make({kRows, kColumns}, dtype, element);
  const Tensor turned =
      make({kColumns, kRows}, dtype, [](int64_t j, int64_t i) { return element(i, j); }).t();
  const Tensor row = make({1, kColumns}, dtype, [](int64_t, int64_t j) { return of_row(j); });
  const Tensor column = make({kRows, 1}, dtype, [](int64_t i, int64_t) { return of_column(i); });
  const auto with_row = [](int64_t i, int64_t j) { return element(i, j) + of_row(j); };
  const auto with_column = [](int64_t i, int64_t j) { return element(i, j) + of_column(i); };
  EXPECT_EQ(differences(x.neg(), [](int64_t i, int64_t j) { return -element(i, j); }), 0);
  EXPECT_EQ(differences(x + row, with_row), 0);
  EXPECT_EQ(differences(x + column, with_column), 0);
  EXPECT_EQ(differences(turned + row, with_row), 0);
  EXPECT_EQ(differences(turned + column, with_column), 0);
  EXPECT_EQ(differences(column + row, [](int64_t i, int64_t j) { return of_column(i) + of_row(j); }), 0);
  EXPECT_EQ(differences(x + 3, [](int64_t i, int64_t j) { return element(i, j) + 3; }), 0);
  EXPECT_EQ(differences(x.lt(row), [](int64_t i, int64_t j) { return element(i, j) < of_row(j) ? 1 : 0; }),
            0);
  EXPECT_EQ(differences(x.gt(0).where_cond(x, turned.neg()),
                        [](int64_t i, int64_t j) { return std::abs(element(i, j)); }),
            0);
  EXPECT_EQ(differences(x.affine(2, 1), [](int64_t i, int64_t j) { return 2 * element(i, j) + 1; }), 0);
}

// Rows that are written behind, and ahead of, what is read: the bits of a few rows alone. 63 rows fill no
// whole number of blocks.
TEST(StreamingRows, HaveTheBitsOfFewRows) {
  const auto normal = [](const Shape& shape, DType dtype) {
    return Tensor::randn(shape, DType::F32, Device::cpu()).to_dtype(dtype);
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64})
    for (const int64_t n : {16, 64, 160, 1001, 1024, 1600, 4096, 9000, 100000}) {
      const int64_t few = n > 10'000 ? 3 : 63;
      const int64_t times = ceil_div((int64_t{16} << 20), few * n * dtype_bits(dtype) / 8);
      const Tensor some = normal({few, n}, dtype), w = normal({n}, dtype);
      const Tensor many = some.repeat({times, 1});
      const auto expect_repeats = [&](const char* what, const auto& make) {
        EXPECT_TRUE(make(many).to_bytes() == make(some).repeat({times, 1}).to_bytes())
            << what << " " << dtype_name(dtype) << " " << n;
      };
      expect_repeats("softmax", [](const Tensor& x) { return x.softmax(-1); });
      expect_repeats("log_softmax", [](const Tensor& x) { return x.log_softmax(-1); });
      expect_repeats("rms_norm", [&](const Tensor& x) { return x.rms_norm(w, 1e-5); });
      expect_repeats("layer_norm", [&](const Tensor& x) { return x.layer_norm(w, w, 1e-5); });
    }
}

TEST(StreamingRanges, HaveTheBitsOfTheirNumbers) {
  std::vector<int64_t> numbers((size_t{16} << 20) + 21);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 5 + 3 * static_cast<int64_t>(i);
  const Tensor whole = Tensor::from_vec(numbers, Shape{static_cast<int64_t>(numbers.size())});
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::U32, DType::BF16}) {
    const Tensor range = Tensor::arange_step(5, 5 + 3 * static_cast<double>(numbers.size()), 3, dtype);
    EXPECT_TRUE(range.to_bytes() == whole.to_dtype(dtype).to_bytes()) << dtype_name(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, StreamingTest, testing::Values(DType::F32, DType::F16, DType::I16),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace beeswax
