// SPDX-License-Identifier: Apache-2.0
// Binary operations, comparisons, casts, affine, where and round_to: the same bits for any number of threads,
// at every instruction-set level, and whatever the strides. A NaN that is computed equals any NaN. CPU only:
// it sets the CPU's level and threads.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/devices.h"
#include "support/isa_levels.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

constexpr int64_t kRows = 170, kColumns = 241;  // more than one task, and no multiple of any register

struct Operation {
  std::string name;
  std::function<Tensor(const Tensor&, const Tensor&)> run;
};

std::vector<Operation> operations(DType dtype) {
  std::vector<Operation> out;
  const bool ints = dtype_is_int(dtype);
#define BW_BINARY(Name, method, dtypes, expr, guard, ...)                           \
  if (!ints || (std::string(#dtypes) == "Number" && std::string(#guard) == "None")) \
    out.push_back({#Name, [](const Tensor& x, const Tensor& y) { return x.method(y); }});
#define BW_COMPARE(Name, method, ...) \
  out.push_back({#Name, [](const Tensor& x, const Tensor& y) { return x.method(y); }});
#include "tables/binary.def"
  if (ints) {
    // No divisor of zero.
    out.push_back(
        {"Div", [](const Tensor& x, const Tensor& y) { return x / y.where_cond(y, y.ones_like()); }});
    out.push_back({"where_cond", [](const Tensor& x, const Tensor& y) { return x.where_cond(x, y); }});
  } else {
    out.push_back({"quarter", [](const Tensor& x, const Tensor&) { return x.affine(0.25, 1.0 / 3); }});
    out.push_back({"over 3", [](const Tensor& x, const Tensor&) { return x / 3; }});
    out.push_back({"3 over", [](const Tensor& x, const Tensor&) { return 3 / x; }});
  }
  out.push_back({"affine", [](const Tensor& x, const Tensor&) { return x.affine(3, 1); }});
  out.push_back({"round_to", [](const Tensor& x, const Tensor&) { return x.round_to(-1); }});
  for (const DType to : test::arithmetic_dtypes())
    out.push_back({"to " + std::string(dtype_name(to)),
                   [to](const Tensor& x, const Tensor&) { return x.to_dtype(to); }});
  return out;
}

// The bits, with one NaN for all.
std::vector<std::byte> bits_of(const Tensor& x) {
  if (dtype_is_int(x.dtype())) return x.to_bytes();
  std::vector<double> values = x.to_doubles();
  for (double& value : values)
    if (std::isnan(value)) value = NAN;
  const auto bytes = std::as_bytes(std::span<const double>(values));
  return {bytes.begin(), bytes.end()};
}

Tensor inputs(DType dtype, uint32_t seed) {
  const Shape shape = {kRows, kColumns};
  const auto count = static_cast<size_t>(shape.elem_count());
  if (dtype_is_int(dtype)) return test::tensor_of(test::int_inputs(dtype, count, 0, 100, seed), shape, dtype);
  return test::tensor_of(test::float_inputs(dtype, count, -20, 20, seed), shape, dtype);
}

class LevelBits : public testing::TestWithParam<DType> {};

TEST_P(LevelBits, DoNotDependOnLevelThreadsOrStrides) {
  const int threads = ThreadPool::global().threads();
  const Tensor x = inputs(GetParam(), 1), y = inputs(GetParam(), 2).roll(7, 1);
  const Tensor x_strided = x.t().copy().t(), y_strided = test::strided_twin(y);
  for (const Operation& operation : operations(GetParam())) {
    std::vector<std::byte> first;
    at_every_level([&](cpu::Isa level) {
      ThreadPool::global().set_threads(1 + static_cast<int>(level));
      const std::vector<std::byte> got = bits_of(operation.run(x, y));
      if (first.empty()) first = got;
      EXPECT_TRUE(got == first) << operation.name << " at level " << cpu::isa_name(level);
      EXPECT_TRUE(bits_of(operation.run(x_strided, y_strided)) == first)
          << operation.name << " of views at level " << cpu::isa_name(level);
    });
  }
  ThreadPool::global().set_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, LevelBits, testing::ValuesIn(test::arithmetic_dtypes()),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace beeswax
