// SPDX-License-Identifier: Apache-2.0
// Copies between layouts and fills, for every element size and every way in which rows begin and end between
// the units that a device moves, against index arithmetic. The elements around what is written must stay.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/configurations.h"
#include "support/devices.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::raw;
using test::Raw;

constexpr int64_t kRows = 5, kColumns = 96;
constexpr int64_t kStarts[] = {0, 1, 2, 3, 4, 6, 8, 12, 15, 16};
constexpr int64_t kWidths[] = {1, 2, 3, 4, 7, 8, 12, 16, 17, 18, 31, 32, 33, 34, 48, 64, 66, 80};

uint64_t at(const Raw& values, int64_t row, int64_t column) {
  return values[static_cast<size_t>(row * kColumns + column)];
}

// fn(values, a tensor of them, start, width) for windows of columns.
template <class F>
void for_windows(DType dtype, F&& fn) {
  test::Random random(7);
  const Raw values = test::random_raw(random, kRows * kColumns, dtype);
  const Tensor x = test::from_raw(values, {kRows, kColumns}, dtype);
  for (const int64_t start : kStarts)
    for (const int64_t width : kWidths)
      if (start + width <= kColumns) fn(values, x, start, width);
}

TEST(Copies, FromRowsThatBeginAndEndAnywhere) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    for_windows(dtype, [&](const Raw& values, const Tensor& x, int64_t start, int64_t width) {
      Raw expected;
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t c = 0; c < width; ++c) expected.push_back(at(values, r, start + c));
      ASSERT_EQ(raw(x.narrow(1, start, width).contiguous()), expected) << dtype_name(dtype) << start << width;
    });
  }
}

TEST(Copies, ToRowsThatBeginAndEndAnywhere) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    for_windows(dtype, [&](const Raw& values, const Tensor& x, int64_t start, int64_t width) {
      Raw expected = values;
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t c = 0; c < width; ++c)
          expected[static_cast<size_t>(r * kColumns + start + c)] = at(values, r, c);
      Tensor to = x.copy();
      to.slice_set(x.narrow(1, 0, width).contiguous(), 1, start);
      ASSERT_EQ(raw(to), expected) << dtype_name(dtype) << start << " " << width;
    });
  }
}

TEST(Copies, OfWindowsStepsAndRepeats) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    for_windows(dtype, [&](const Raw& values, const Tensor& x, int64_t start, int64_t width) {
      if (width < 4) return;
      const Tensor part = x.narrow(1, start, width);
      Raw windows, every, repeats;
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t w = 0; w + 3 <= width; ++w)
          for (int64_t c = 0; c < 3; ++c) windows.push_back(at(values, r, start + w + c));
        for (int64_t c = 0; c + 1 <= width; c += 2) every.push_back(at(values, r, start + c));
        for (int64_t c = 0; c < width; ++c) repeats.insert(repeats.end(), 8, at(values, r, start + c));
      }
      ASSERT_EQ(raw(part.unfold(1, 3, 1).contiguous()), windows);
      for (const int64_t rows : {kRows, kRows - 1}) {  // axes with and without halves
        Raw turned;
        for (int64_t w = 0; w < 3; ++w)
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c + 3 <= width; ++c) turned.push_back(at(values, r, start + c + w));
        ASSERT_EQ(raw(part.narrow(0, 0, rows).unfold(1, 3, 1).permute({2, 0, 1}).contiguous()), turned);
      }
      ASSERT_EQ(raw(part.unfold(1, 1, 2).contiguous()), every);
      ASSERT_EQ(raw(part.unsqueeze(2).broadcast_as({kRows, width, 8}).contiguous()), repeats);
    });
  }
}

TEST(Copies, FillsOfRowsThatBeginAndEndAnywhere) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    const uint64_t three = raw(Tensor::full({1}, 3, DType::F64).to_dtype(dtype))[0];
    for_windows(dtype, [&](const Raw& values, const Tensor& x, int64_t start, int64_t width) {
      Raw expected = values;
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t c = 0; c < width; ++c) expected[static_cast<size_t>(r * kColumns + start + c)] = three;
      Tensor to = x.copy();
      to.narrow(1, start, width).const_set(3);
      ASSERT_EQ(raw(to), expected) << dtype_name(dtype) << start << " " << width;
    });
    for (const int64_t count : {1, 2, 3, 7, 8, 9, 15, 16, 17, 1000, 1023, 4096})
      ASSERT_EQ(raw(Tensor::full({count}, 3, dtype)), Raw(static_cast<size_t>(count), three));
  }
}

}  // namespace
}  // namespace beeswax
