// SPDX-License-Identifier: Apache-2.0
// The second expressions of tables/unary.def, for results of 16 and 8 bits, over every value of f16 and bf16:
// their relative error before the rounding, which the table promises to be at most 2^-14, and the error of
// the rounded result. tools/math_bounds.py --short makes a table of docs/math-bounds.md of what is printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/math/math.h"
#include "support/numbers.h"
#include "support/unary_parameters.h"

namespace beeswax {
namespace {

struct Same {};
bool is_half(Same /*none*/) { return false; }
bool is_half(float /*value*/) { return true; }
float value_of(Same /*none*/) { return 0; }
float value_of(float value) { return value; }

constexpr double kNone[] = {0};
constexpr double kMostBeforeRounding = 0x1p-14;  // as unary.def promises, of the result

struct Row {
  const char* method;
  std::span<const double> parameters;
  bool has_half;
  float (*value)(float x, float p);
  long double (*oracle)(long double x, long double p);
};

// NOLINTBEGIN(bugprone-macro-parentheses): the rows are expressions over x and p
const Row kRows[] = {
#define BW_ROW(method, parameters, half, exact)                      \
  {#method, parameters,                                              \
   [] {                                                              \
     using T [[maybe_unused]] = float;                               \
     [[maybe_unused]] const float x = 1.0f, p = 1.0f;                \
     [[maybe_unused]] constexpr Same SAME;                           \
     return is_half(half);                                           \
   }(),                                                              \
   []([[maybe_unused]] float x, [[maybe_unused]] float p) -> float { \
     using T [[maybe_unused]] = float;                               \
     [[maybe_unused]] constexpr Same SAME;                           \
     return value_of(half);                                          \
   },                                                                \
   [](long double x, [[maybe_unused]] long double p) -> long double { return exact; }},
#define BW_UNARY(Name, method, dtypes, expr, half, ulp32, ulp64, lo, hi, exact, ...) \
  BW_ROW(method, kNone, half, exact)
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ulp32, ulp64, lo, hi, exact, ...) \
  BW_ROW(method, test::unary_parameters(#param), half, exact)
#include "tables/unary.def"
};
// NOLINTEND(bugprone-macro-parentheses)

struct Worst {
  double error = 0;
  float x = 0;
  void see(double e, float at) {
    if (e > error) *this = {e, at};
  }
};

// Errors before the rounding, in units of 2^-14 of the result, and after it, in units in the last place.
struct Errors {
  Worst before, after;
};

template <class T>
Errors errors_of(const Row& row) {
  constexpr DType kDType = kDTypeOf<T>;
  const test::FloatTraits traits = test::float_traits(kDType);
  const long double least = std::ldexp(1.0L, traits.min_exponent);
  Errors out;
  for (const double parameter : row.parameters) {
    const auto p = static_cast<float>(parameter);
    for (uint32_t pattern = 0; pattern < 1u << 16; ++pattern) {
      T input;
      input.bits = static_cast<uint16_t>(pattern);
      const auto x = static_cast<float>(input);
      if (std::isnan(x)) continue;
      const float got = row.value(x, p);
      const long double exact = row.oracle(x, p);
      out.after.see(test::ulp_error(kDType, static_cast<float>(T(got)), exact), x);
      // Below the normal numbers only the last place counts, beyond the largest nothing does.
      const long double size = std::fabs(exact);
      if (size >= least && size <= static_cast<long double>(traits.largest))
        out.before.see(static_cast<double>(std::fabs(got - exact) / size) / kMostBeforeRounding, x);
    }
  }
  return out;
}

std::vector<Row> rows_with_an_expression_for_halves() {
  std::vector<Row> out(std::begin(kRows), std::end(kRows));
  std::erase_if(out, [](const Row& row) { return !row.has_half; });
  return out;
}

// A last place is at least 2^-precision of a number, so the bound before the rounding is at most 1/8 of one
// for f16 and 1/64 for bf16, which the half of the rounding adds to.
template <class T>
double most_after_rounding() {
  return 0.5 + std::ldexp(kMostBeforeRounding, test::float_traits(kDTypeOf<T>).precision);
}

class ShortFunctions : public testing::TestWithParam<Row> {};

TEST_P(ShortFunctions, AreWithinTheBoundForEveryInput) {
  const Row& row = GetParam();
  std::string line = row.method;
  const std::pair<Errors, double> both[] = {{errors_of<f16>(row), most_after_rounding<f16>()},
                                            {errors_of<bf16>(row), most_after_rounding<bf16>()}};
  for (const auto& [errors, most_after] : both) {
    EXPECT_LE(errors.before.error, 1) << "at " << errors.before.x;
    EXPECT_LE(errors.after.error, most_after) << "at " << errors.after.x;
    char text[120];
    std::snprintf(text, sizeof(text), " | %.3f | %.9g | %.3f", errors.before.error,
                  static_cast<double>(errors.before.x), errors.after.error);
    line += text;
  }
  std::printf("worst: %s\n", line.c_str());
}

INSTANTIATE_TEST_SUITE_P(Rows, ShortFunctions, testing::ValuesIn(rows_with_an_expression_for_halves()),
                         [](const testing::TestParamInfo<Row>& info) {
                           return std::string(info.param.method);
                         });

}  // namespace
}  // namespace beeswax
