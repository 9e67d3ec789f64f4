// SPDX-License-Identifier: Apache-2.0
// Transposed copies through Tensor, of every element size, over sizes that fill tiles and that do not,
// against index arithmetic; and large operands of arithmetic that lie across their result.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax {
namespace {

template <class T>
T number(int64_t plane, int64_t row, int64_t column) {
  return static_cast<T>((plane * 7919 + row * 263 + column) * 2654435761 + 17);
}

// [planes, rows, columns] from the middle of a wider tensor, with its last two axes exchanged.
template <class T>
void check(int64_t planes, int64_t rows, int64_t columns, int64_t margin) {
  const int64_t wide = columns + 2 * margin;
  std::vector<T> numbers;
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < wide; ++c) numbers.push_back(number<T>(p, r, c));
  const Tensor x = Tensor::from_vec(numbers, {planes, rows, wide}).narrow(2, margin, columns);
  const std::vector<T> got = x.transpose(1, 2).contiguous().template to_vec<T>();
  size_t at = 0;
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r, ++at)
        ASSERT_EQ(got[at], number<T>(p, r, c + margin))
            << sizeof(T) << " bytes, " << planes << " of " << rows << " by " << columns << " at " << p << " "
            << r << " " << c;
}

template <class T>
void check_sizes() {
  for (const int64_t rows : {1, 7, 8, 31, 32, 33, 63, 64, 65, 130})
    for (const int64_t columns : {1, 8, 32, 33, 63, 64, 65, 127, 129})
      check<T>(rows % 2 + 1, rows, columns, columns % 3);
  // Whole packs of narrow elements, and what lacks a byte or an element of that.
  for (const int64_t rows : {68, 96, 128, 130, 260})
    for (const int64_t columns : {34, 72, 128, 132, 133})
      for (const int64_t margin : {0, 1, 2, 4}) check<T>(2, rows, columns, margin);
}

// Planes enough for the large tiles of a device, whose last rows and columns of squares lack some.
TEST(TransposedCopy, LargeTiles) {
  check<uint8_t>(140, 264, 136, 8);
  check<uint8_t>(140, 136, 72, 8);
  check<int16_t>(140, 132, 140, 4);
  check<int16_t>(140, 68, 196, 8);
}

TEST(TransposedCopy, OneByte) { check_sizes<uint8_t>(); }
TEST(TransposedCopy, TwoBytes) { check_sizes<int16_t>(); }
TEST(TransposedCopy, FourBytes) { check_sizes<int32_t>(); }
TEST(TransposedCopy, EightBytes) { check_sizes<int64_t>(); }

TEST(TransposedCopy, OperandsOfArithmetic) {
  const int64_t rows = 1300, columns = 1211;
  std::vector<int32_t> numbers(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = number<int32_t>(0, 0, static_cast<int64_t>(i));
  const Tensor x = Tensor::from_vec(numbers, {rows, columns});
  const Tensor across = Tensor::from_vec(numbers, {columns, rows}).t();
  const auto right = (x - across).to_vec<int32_t>(), left = (across - x).to_vec<int32_t>();
  const auto both = (across - across).to_vec<int32_t>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const auto at = static_cast<size_t>(r * columns + c);
      const uint32_t want = static_cast<uint32_t>(numbers[at]) -
                            static_cast<uint32_t>(numbers[static_cast<size_t>(c * rows + r)]);
      ASSERT_EQ(static_cast<uint32_t>(right[at]), want) << r << " " << c;
      ASSERT_EQ(static_cast<uint32_t>(left[at]), 0 - want) << r << " " << c;
      ASSERT_EQ(both[at], 0) << r << " " << c;
    }
}

}  // namespace
}  // namespace beeswax
