// SPDX-License-Identifier: Apache-2.0
// The transposing copy loops, for every element size and instruction-set level, against index arithmetic.
// CPU only: it calls the CPU's loops themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/transpose.h"
#include "beeswax/tensor.h"

namespace beeswax {
namespace {

class TransposeLoop : public ::testing::TestWithParam<cpu::Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > cpu::best_isa())
      GTEST_SKIP() << "this machine does not run " << cpu::isa_name(GetParam());
    cpu::set_isa(GetParam());
  }
  void TearDown() override { cpu::set_isa(cpu::best_isa()); }
};

// Guards lie between the rows of the output and around it; they must stay.
template <class T>
void check(size_t size_class, int64_t rows, int64_t cols, int64_t shift, bool past_caches) {
  constexpr T kGuard = static_cast<T>(0xa5);
  const int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t from_col = rows + 3;
  const int64_t out_row = (cols + line) / line * line;
  std::vector<T> from(static_cast<size_t>(from_col * cols));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 2654435761u + 17);
  std::vector<T> memory(static_cast<size_t>(out_row * (rows + 2) + 2 * line), kGuard);
  T* aligned = memory.data();
  while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
  T* out = aligned + shift;
  cpu::transpose_kernels().transpose[size_class](out, out_row, from.data(), from_col, rows, cols,
                                                 past_caches);
  cpu::copy_kernels().fence();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c)
      ASSERT_EQ(out[r * out_row + c], from[static_cast<size_t>(c * from_col + r)])
          << rows << " " << cols << " at " << r << " " << c;
    for (int64_t c = cols; c < out_row; ++c) ASSERT_EQ(out[r * out_row + c], kGuard);
  }
  EXPECT_TRUE(std::all_of(memory.data(), out, [](T x) { return x == kGuard; }));
  EXPECT_TRUE(
      std::all_of(out + rows * out_row, memory.data() + memory.size(), [](T x) { return x == kGuard; }));
}

TEST_P(TransposeLoop, MovesEveryElement) {
  for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {8, 8}, {16, 16}, {64, 64}, {65, 63}, {15, 130}, {200, 40}, {513, 70}, {1100, 150}}) {
    for (const bool past_caches : {false, true}) {
      for (const int64_t shift : {0, 1}) {
        check<uint8_t>(0, rows, cols, shift, past_caches);
        check<uint16_t>(1, rows, cols, shift, past_caches);
        check<uint32_t>(2, rows, cols, shift, past_caches);
        check<uint64_t>(3, rows, cols, shift, past_caches);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, TransposeLoop, ::testing::Values(cpu::Isa::base, cpu::Isa::v3, cpu::Isa::v4),
                         [](const auto& info) { return std::string(cpu::isa_name(info.param)); });

// Planes, odd sizes and more elements than one task takes.
TEST(TransposedCopy, ManyTasks) {
  const int64_t planes = 3, rows = 700, cols = 531;
  std::vector<int32_t> numbers(static_cast<size_t>(planes * rows * cols));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor x = Tensor::from_vec(numbers, {planes, rows, cols});
  const std::vector<int32_t> got = x.transpose(1, 2).contiguous().to_vec<int32_t>();
  size_t at = 0;
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t c = 0; c < cols; ++c)
      for (int64_t r = 0; r < rows; ++r, ++at) ASSERT_EQ(got[at], (p * rows + r) * cols + c);
}

// Results beyond the caches, in short runs, long runs and runs with gaps.
TEST(LargeCopy, ViewsAndParts) {
  const int64_t a = 800, b = 100, c = 120;
  std::vector<int32_t> numbers(static_cast<size_t>(a * b * c));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor x = Tensor::from_vec(numbers, {a, b, c});
  const auto expect = [](const std::vector<int32_t>& got, const Shape& shape, auto&& value) {
    ASSERT_EQ(static_cast<int64_t>(got.size()), shape.elem_count());
    size_t at = 0;
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j)
        for (int64_t k = 0; k < shape[2]; ++k, ++at)
          ASSERT_EQ(got[at], value(i, j, k)) << i << " " << j << " " << k;
  };
  const auto number = [=](int64_t i, int64_t j, int64_t k) {
    return static_cast<int32_t>((i * b + j) * c + k);
  };
  const auto copied = [](const Tensor& view) { return view.contiguous().to_vec<int32_t>(); };
  expect(copied(x.narrow(2, 3, 101)), {a, b, 101},
         [&](int64_t i, int64_t j, int64_t k) { return number(i, j, k + 3); });
  expect(copied(x.narrow(1, 7, 90)), {a, 90, c},
         [&](int64_t i, int64_t j, int64_t k) { return number(i, j + 7, k); });
  expect(copied(x.transpose(0, 1)), {b, a, c},
         [&](int64_t i, int64_t j, int64_t k) { return number(j, i, k); });
  for (const int64_t step : {2, 3, 4}) {
    const Tensor part = x.reshape({a * b * c / step, step}).narrow(1, 1, 1).reshape({a, b, c / step});
    expect(copied(part), {a, b, c / step},
           [&](int64_t i, int64_t j, int64_t k) { return number(i, j, step * k + 1); });
  }
  const Tensor row = x.narrow(0, 0, 1);
  expect(copied(row.broadcast_as({300, b, c})), {300, b, c},
         [&](int64_t, int64_t j, int64_t k) { return number(0, j, k); });
  const Tensor wide = x.reshape({a * b / 4, 4, c}).reshape({a * b / 4, 4 * c});
  expect(Tensor::cat({wide, wide}, 1).to_vec<int32_t>(), {a * b / 4, 2, 4 * c},
         [&](int64_t i, int64_t, int64_t k) { return static_cast<int32_t>(i * 4 * c + k); });
}

}  // namespace
}  // namespace beeswax
