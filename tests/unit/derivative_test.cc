// SPDX-License-Identifier: Apache-2.0
// The derivative of every row of unary.def and binary.def against the slope of the row's oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "core/math/math.h"
#include "support/unary_parameters.h"

namespace beeswax {
namespace {

// A row as a function of v, the variable it is differentiated by; w is the other operand or the parameter.
struct Slope {
  const char* name;
  double other;  // the parameter of a unary row; 0 for binary rows, whose other operand is drawn
  double lo, hi;
  bool binary;
  bool exists;
  double (*derivative)(double v, double w);
  long double (*oracle)(long double v, long double w);
};
void PrintTo(const Slope& row, std::ostream* out) { *out << row.name; }

struct None {};
double number(None) { return 0; }
double number(double x) { return x; }
constexpr bool given(None) { return false; }
constexpr bool given(double) { return true; }

// NOLINTBEGIN(bugprone-macro-parentheses): the rows are expressions over the names bound here
// Whether the column is an expression, over names that stand for any numbers.
#define BW_GIVEN(column)                                 \
  [] {                                                   \
    using T = double;                                    \
    [[maybe_unused]] const T x = 1, y = 1, p = 1, r = 1; \
    [[maybe_unused]] constexpr None NONE;                \
    return given(column);                                \
  }()
// v and w are the operands named first and second; result is what the row calls its own value.
#define BW_SLOPE(label, other, lo, hi, binary, first, second, result, oracle, column)               \
  {label,                                                                                           \
   other,                                                                                           \
   lo,                                                                                              \
   hi,                                                                                              \
   binary,                                                                                          \
   BW_GIVEN(column),                                                                                \
   [](double v_, double w_) -> double {                                                             \
     using T = double;                                                                              \
     const T value_ =                                                                               \
         static_cast<T>([](long double first, [[maybe_unused]] long double second) -> long double { \
           return oracle;                                                                           \
         }(v_, w_));                                                                                \
     [[maybe_unused]] const T first = v_, second = w_, result = value_;                             \
     [[maybe_unused]] constexpr None NONE;                                                          \
     return number(column);                                                                         \
   },                                                                                               \
   [](long double first, [[maybe_unused]] long double second) -> long double { return oracle; }},
const Slope kSlopes[] = {
#define BW_UNARY(Name, method, dtypes, expr, half, ulp32, ulp64, lo, hi, oracle, derivative, ...) \
  BW_SLOPE(#Name, 0, lo, hi, false, x, p, y, oracle, (derivative))
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ulp32, ulp64, lo, hi, oracle, derivative, \
                       ...)                                                                               \
  BW_SLOPE(#Name, test::unary_parameters(#param)[0], lo, hi, false, x, p, y, oracle, (derivative))
#include "tables/unary.def"
#define BW_BINARY(Name, method, dtypes, expr, guard, ulp32, ulp64, lo, hi, oracle, dx, dy, ...) \
  BW_SLOPE(#Name "_dx", 0, lo, hi, true, x, y, r, oracle, (dx))                                 \
  BW_SLOPE(#Name "_dy", 0, lo, hi, true, y, x, r, oracle, (dy))
#include "tables/binary.def"
};
// NOLINTEND(bugprone-macro-parentheses)

class Derivative : public testing::TestWithParam<Slope> {};

TEST_P(Derivative, IsTheSlope) {
  const Slope& row = GetParam();
  if (!row.exists) return;  // NONE: the table promises nothing
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(std::max(row.lo, -4.0), std::min(row.hi, 4.0));
  for (int i = 0; i < 200; ++i) {
    const double v = uniform(random);
    const double w = row.binary ? uniform(random) : row.other;
    // Kinks and steps, and places where a finite difference says little.
    if (std::fabs(v) < 0.05 || std::fabs(std::remainder(v, 0.5)) < 0.01) continue;
    if (row.binary && (std::fabs(w) < 0.05 || std::fabs(v - w) < 0.01)) continue;
    const long double h = 1e-6L;
    const auto slope = static_cast<double>((row.oracle(v + h, w) - row.oracle(v - h, w)) / (2 * h));
    const double scale = row.binary ? std::min(std::fabs(v), std::fabs(w)) : std::fabs(v);
    EXPECT_NEAR(row.derivative(v, w), slope, 1e-7 * (1 + std::fabs(slope) / (scale * scale)))
        << row.name << " at " << v << (row.binary ? " and " + std::to_string(w) : "");
  }
}

// Where both sides are equal, maximum and minimum have no slope; each side gets half.
TEST_P(Derivative, IsSharedByEqualSides) {
  const Slope& row = GetParam();
  const std::string name = row.name;
  if (!name.starts_with("Maximum") && !name.starts_with("Minimum")) return;
  for (const double v : {-3.0, 0.0, 1.5}) EXPECT_EQ(row.derivative(v, v), 0.5) << v;
}

INSTANTIATE_TEST_SUITE_P(Rows, Derivative, testing::ValuesIn(kSlopes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace beeswax
