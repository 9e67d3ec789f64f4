// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: against its definition in long double, and bit for bit against the operations
// that it is made of, for angles that are broadcast in every way and x of any strides.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "support/configurations.h"
#include "support/expect_error.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

constexpr RopePairs kPairs[] = {RopePairs::Neighbours, RopePairs::Halves};

std::vector<DType> floats() { return {DType::BF16, DType::F16, DType::F32, DType::F64, DType::F8E4M3}; }
DType compute_of(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }
std::string name_of(RopePairs pairs) { return pairs == RopePairs::Halves ? "halves" : "neighbours"; }

Tensor numbers(const Shape& shape, DType dtype, uint32_t seed, double most = 4) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-most, most);
  std::vector<double> values(static_cast<size_t>(shape.elem_count()));
  for (double& v : values) v = uniform(random);
  return test::tensor_of(values, shape, dtype);
}

// Six operations in the compute dtype and one rounding; what is not rotated moves.
Tensor composed(const Tensor& x, const Tensor& cos, const Tensor& sin, RopePairs pairs) {
  const DType compute = compute_of(x.dtype());
  const int64_t half = cos.dim(-1), rest = x.dim(-1) - 2 * half;
  const Tensor wide = x.narrow(-1, 0, 2 * half).to_dtype(compute);
  const Tensor c = cos.to_dtype(compute), s = sin.to_dtype(compute);
  Tensor out;
  if (pairs == RopePairs::Halves) {
    const Tensor a = wide.narrow(-1, 0, half), b = wide.narrow(-1, half, half);
    out = Tensor::cat({a * c - b * s, a * s + b * c}, -1);
  } else {
    Shape shape = wide.shape();
    shape.set(shape.rank() - 1, half);
    shape.push_back(2);
    const Tensor two = wide.reshape(shape);
    const Tensor a = two.get_on_dim(-1, 0), b = two.get_on_dim(-1, 1);
    out = Tensor::stack({a * c - b * s, a * s + b * c}, shape.rank() - 1).reshape(wide.shape());
  }
  return Tensor::cat({out.to_dtype(x.dtype()), x.narrow(-1, 2 * half, rest)}, -1);
}

// The bits, but for those of a NaN.
void expect_same(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  if (got.to_bytes() == want.to_bytes()) return;
  const std::vector<double> a = got.to_doubles(), b = want.to_doubles();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE((std::isnan(a[i]) && std::isnan(b[i])) || std::memcmp(&a[i], &b[i], sizeof(double)) == 0)
        << what << ", element " << i << ": " << a[i] << " instead of " << b[i];
}

void expect_composed(const Tensor& x, const Tensor& cos, const Tensor& sin, const std::string& what) {
  for (const RopePairs pairs : kPairs)
    expect_same(x.rope(cos, sin, pairs), composed(x, cos, sin, pairs),
                what + " of " + x.describe() + " by " + cos.describe() + ", " + name_of(pairs));
}

TEST(Rope, KnownValues) {
  // (1, 2) by (0.5, 2) and (3, 4) by (-1, 0.25); or (1, 3) and (2, 4).
  for (const DType dtype : floats()) {
    const Tensor x = test::tensor_of(std::vector<double>{1, 2, 3, 4, 7}, {5}, dtype);
    const Tensor cos = test::tensor_of(std::vector<double>{0.5, -1}, {2}, dtype);
    const Tensor sin = test::tensor_of(std::vector<double>{2, 0.25}, {2}, dtype);
    EXPECT_EQ(x.rope(cos, sin, RopePairs::Neighbours).to_doubles(),
              (std::vector<double>{-3.5, 3, -4, -3.25, 7}))
        << dtype_name(dtype);
    EXPECT_EQ(x.rope(cos, sin, RopePairs::Halves).to_doubles(), (std::vector<double>{-5.5, -3, 3.5, -3.5, 7}))
        << dtype_name(dtype);
  }
}

TEST(Rope, MatchesTheDefinition) {
  for (const DType dtype : floats())
    for (const auto& [d, half] : std::vector<std::pair<int64_t, int64_t>>{{2, 1}, {64, 32}, {90, 33}}) {
      const Tensor x = numbers({2, 3, 5, d}, dtype, 1);
      const Tensor cos = numbers({5, half}, dtype, 2, 1), sin = numbers({5, half}, dtype, 3, 1);
      const std::vector<double> in = x.to_doubles(), c = cos.to_doubles(), s = sin.to_doubles();
      const double u = dtype == DType::F64 ? 0x1p-53 : 0x1p-24;
      for (const RopePairs pairs : kPairs) {
        const std::vector<double> got = x.rope(cos, sin, pairs).to_doubles();
        for (size_t row = 0; row < 30; ++row)
          for (size_t i = 0; i < static_cast<size_t>(half); ++i) {
            const bool halves = pairs == RopePairs::Halves;
            const size_t first = row * static_cast<size_t>(d) + (halves ? i : 2 * i);
            const size_t second = first + (halves ? static_cast<size_t>(half) : 1);
            const size_t angle = row % 5 * static_cast<size_t>(half) + i;
            const long double a = in[first], b = in[second], ca = c[angle], sa = s[angle];
            const long double want[2] = {a * ca - b * sa, a * sa + b * ca};
            const long double size[2] = {std::fabs(a * ca) + std::fabs(b * sa),
                                         std::fabs(a * sa) + std::fabs(b * ca)};
            for (const size_t k : {size_t{0}, size_t{1}}) {
              // Two products and a sum, and the rounding of a narrow result.
              const long double room =
                  2 * u * size[k] * (1 + u) + (dtype_bits(dtype) < 32 ? test::ulp(dtype, want[k]) / 2 : 0);
              ASSERT_LE(std::fabs(got[k == 0 ? first : second] - want[k]), room * (1 + 0x1p-10L))
                  << dtype_name(dtype) << " " << name_of(pairs) << " row " << row << " pair " << i;
            }
          }
      }
    }
}

TEST(Rope, HasTheBitsOfItsOperations) {
  for (const DType dtype : floats())
    for (const auto& [d, half] : std::vector<std::pair<int64_t, int64_t>>{{2, 1},
                                                                          {3, 1},
                                                                          {6, 3},
                                                                          {8, 4},
                                                                          {16, 8},
                                                                          {16, 4},
                                                                          {64, 32},
                                                                          {80, 40},
                                                                          {96, 32},
                                                                          {101, 50},
                                                                          {128, 64},
                                                                          {136, 64},
                                                                          {256, 128}}) {
      const Tensor x = numbers({3, 4, d}, dtype, static_cast<uint32_t>(d));
      for (const DType angles : {dtype, compute_of(dtype)})
        expect_composed(x, numbers({3, 1, half}, angles, 2, 1), numbers({3, 1, half}, angles, 3, 1), "rope");
    }
}

// Candle's forms, and others.
TEST(Rope, AnglesBroadcastToAnyAxes) {
  for (const DType dtype : floats()) {
    const Tensor x = numbers({2, 3, 4, 32}, dtype, 5);
    for (const Shape& shape : std::vector<Shape>{{16},
                                                 {4, 16},        // rope of [b, heads, t, d]
                                                 {2, 1, 4, 16},  // the same with tables for each of the batch
                                                 {3, 1, 16},     // rope_thd of [b, t, heads, d]
                                                 {2, 3, 1, 16},
                                                 {1, 1, 1, 16},
                                                 {3, 4, 16},
                                                 {2, 3, 4, 16},
                                                 {2, 1, 1, 12},
                                                 {1, 3, 4, 5}})
      expect_composed(x, numbers(shape, dtype, 6, 1), numbers(shape, dtype, 7, 1), "rope");
  }
}

TEST(Rope, AnyStrides) {
  struct View {
    const char* name;
    std::function<Tensor(const Tensor&)> of;  // [4, 6, 40] to [6, 4, 32]
  };
  const std::vector<View> views = {
      {"heads in front", [](const Tensor& x) { return x.narrow(-1, 0, 32).transpose(0, 1); }},
      {"a part of a joined projection", [](const Tensor& x) { return x.transpose(0, 1).narrow(-1, 8, 32); }},
      {"rows that begin between packs", [](const Tensor& x) { return x.transpose(0, 1).narrow(-1, 3, 32); }},
      {"columns",
       [](const Tensor& x) { return x.narrow(2, 2, 32).permute({1, 0, 2}).copy().t().copy().t(); }},
      {"broadcast rows",
       [](const Tensor& x) {
         return x.narrow(0, 1, 1).transpose(0, 1).narrow(-1, 0, 32).broadcast_as({6, 4, 32});
       }},
      {"every other element",
       [](const Tensor& x) { return test::strided_twin(x.transpose(0, 1).narrow(-1, 0, 32)); }},
  };
  for (const DType dtype : floats()) {
    const Tensor x = numbers({4, 6, 40}, dtype, 8);
    const Tensor cos = numbers({4, 16}, dtype, 9, 1), sin = numbers({4, 16}, dtype, 10, 1);
    for (const View& view : views) {
      expect_composed(view.of(x), cos, sin, view.name);
      // Angles with gaps, of two layouts, by columns, from one table, and from rows that begin between packs.
      const Tensor table = numbers({4, 35}, dtype, 11, 1);
      expect_composed(view.of(x), test::strided_twin(cos), sin, view.name);
      expect_composed(view.of(x), table.narrow(1, 0, 16), sin, view.name);
      expect_composed(view.of(x), table.narrow(1, 0, 16), table.narrow(1, 16, 16), view.name);
      expect_composed(view.of(x), table.narrow(1, 1, 16), table.narrow(1, 17, 16), view.name);
      expect_composed(view.of(x), cos.t().copy().t(), sin.t().copy().t(), view.name);
    }
  }
}

// So many rows that the threads of a GPU share angles among up to four of them.
TEST(Rope, ManyRowsOfSharedAngles) {
  const Shape shared_by_rows{700, 1, 64}, shared_by_heads{700, 64};
  for (const DType dtype : {DType::F32, DType::F16})
    for (const int64_t heads : {8, 6, 5, 2}) {
      const Tensor by_position = numbers({700, heads, 136}, dtype, 12);
      const Tensor by_head = numbers({heads, 700, 136}, dtype, 13);
      expect_composed(by_position, numbers(shared_by_rows, dtype, 14, 1),
                      numbers(shared_by_rows, dtype, 15, 1), "thd");
      expect_composed(by_head, numbers(shared_by_heads, dtype, 14, 1), numbers(shared_by_heads, dtype, 15, 1),
                      "htd");
    }
  const Tensor x = numbers({3, 8, 500, 33}, DType::F16, 16);
  expect_composed(x, numbers({500, 15}, DType::F16, 14, 1), numbers({500, 15}, DType::F16, 15, 1), "odd");
}

TEST(Rope, SpecialNumbers) {
  for (const DType dtype : floats()) {
    const std::vector<double> values = test::float_inputs(dtype, 64 * 48, -100, 100, 17);
    const Tensor x = test::tensor_of(values, {64, 48}, dtype);
    const Tensor cos = x.narrow(1, 0, 20).roll(7, 0), sin = x.narrow(1, 5, 20).roll(3, 1);
    expect_composed(x, cos, sin, "special numbers");
    expect_composed(x, cos * 0, cos * 0 + 1, "quarter turns");
    // What is not rotated keeps all its bits, a NaN's payload too.
    EXPECT_EQ(x.rope(cos, sin, RopePairs::Halves).narrow(1, 40, 8).to_bytes(), x.narrow(1, 40, 8).to_bytes());
  }
}

TEST(Rope, NothingToRotate) {
  for (const RopePairs pairs : kPairs) {
    const Tensor x = numbers({2, 3, 8}, DType::F32, 18);
    const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape, DType::F32); };
    EXPECT_EQ(x.rope(zeros({3, 0}), zeros({3, 0}), pairs).to_bytes(), x.to_bytes());
    EXPECT_EQ(x.narrow(1, 0, 0).rope(zeros({0, 4}), zeros({0, 4}), pairs).shape(), (Shape{2, 0, 8}));
    EXPECT_EQ(x.narrow(1, 0, 0).rope(zeros({1, 4}), zeros({1, 4}), pairs).shape(), (Shape{2, 0, 8}));
    EXPECT_EQ(zeros({2, 0}).rope(zeros({0}), zeros({0}), pairs).shape(), (Shape{2, 0}));
  }
}

TEST(Rope, SaysWhatItNeeds) {
  const auto ones = [](const Shape& shape, DType dtype) { return Tensor::ones(shape, dtype); };
  const Tensor x = ones({2, 5, 8}, DType::F16), table = ones({5, 4}, DType::F16);
  const auto rope = [&](const Tensor& cos, const Tensor& sin) { return x.rope(cos, sin, RopePairs::Halves); };
  EXPECT_ERROR(rope(ones({5, 5}, DType::F16), ones({5, 5}, DType::F16)), ShapeMismatch,
               "[rope] cos [5, 5] f16 cpu and sin [5, 5] f16 cpu must have one shape, at most half as many "
               "elements along the last axis as [2, 5, 8] f16 cpu, and other axes that broadcast to its own");
  EXPECT_ERROR(rope(table, ones({1, 4}, DType::F16)), ShapeMismatch,
               "sin [1, 4] f16 cpu must have one shape");
  EXPECT_ERROR(rope(ones({3, 4}, DType::F16), ones({3, 4}, DType::F16)), ShapeMismatch, "cos [3, 4]");
  EXPECT_ERROR(rope(ones({1, 2, 5, 4}, DType::F16), ones({1, 2, 5, 4}, DType::F16)), ShapeMismatch,
               "cos [1, 2, 5, 4]");
  EXPECT_ERROR(rope(ones({}, DType::F16), ones({}, DType::F16)), ShapeMismatch, "cos [] f16 cpu");
  EXPECT_ERROR(ones({}, DType::F16).rope(table, table, RopePairs::Halves), ShapeMismatch, "as [] f16 cpu");
  // The angles never widen x.
  EXPECT_ERROR(x.narrow(1, 0, 1).rope(table, table, RopePairs::Halves), ShapeMismatch, "as [2, 1, 8]");
  EXPECT_ERROR(
      rope(table, ones({5, 4}, DType::F32)), DTypeMismatch,
      "[rope] cos [5, 4] f16 cpu and sin [5, 4] f32 cpu must both be f16 or f32 for [2, 5, 8] f16 cpu");
  EXPECT_ERROR(rope(ones({5, 4}, DType::BF16), ones({5, 4}, DType::BF16)), DTypeMismatch, "f16 or f32 for");
  EXPECT_ERROR(ones({8}, DType::F32).rope(ones({4}, DType::F64), ones({4}, DType::F64), RopePairs::Halves),
               DTypeMismatch, "must both be f32 for [8] f32 cpu");
  EXPECT_ERROR(ones({8}, DType::I32).rope(ones({4}, DType::I32), ones({4}, DType::I32), RopePairs::Halves),
               UnsupportedDType, "[rope]");
}

TEST(RopeBits, DoNotDependOnLevelOrThreads) {
  if (!test::on_cpu()) GTEST_SKIP() << "levels and threads of the CPU";
  for (const DType dtype : floats())
    for (const RopePairs pairs : kPairs)
      for (const auto& [d, half] : std::vector<std::pair<int64_t, int64_t>>{{128, 64}, {90, 33}}) {
        const Tensor x = numbers({8, 70, d}, dtype, 19);
        const Tensor cos = numbers({70, half}, dtype, 20, 1), sin = numbers({70, half}, dtype, 21, 1);
        test::expect_same_everywhere([&] { return x.rope(cos, sin, pairs); });
      }
}

// Results past the caches are those of a few rows.
TEST(RopeBits, DoNotDependOnTheNumberOfRows) {
  if (!test::on_cpu()) GTEST_SKIP() << "caches of the CPU";
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const auto& [d, half] : std::vector<std::pair<int64_t, int64_t>>{{128, 64}, {192, 64}, {100, 50}}) {
      const int64_t times = (int64_t{40} << 20) / (21 * d * static_cast<int64_t>(dtype_bits(dtype) / 8));
      const Tensor some = numbers({1, 3, 7, d}, dtype, 22);
      const Tensor cos = numbers({7, half}, dtype, 23, 1), sin = numbers({7, half}, dtype, 24, 1);
      for (const RopePairs pairs : kPairs)
        EXPECT_TRUE(some.repeat({times, 1, 1, 1}).rope(cos, sin, pairs).to_bytes() ==
                    some.rope(cos, sin, pairs).repeat({times, 1, 1, 1}).to_bytes())
            << dtype_name(dtype) << " " << d << " " << name_of(pairs);
    }
}

}  // namespace
}  // namespace beeswax
