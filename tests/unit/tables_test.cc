// SPDX-License-Identifier: Apache-2.0
// Facts of the tables that files, other programs and the meaning of operations depend on: of formats and
// dtypes written down a second time, of operations found in another column of their row. tools/mutate_rows.py
// expects a red test for each column of each row, and builds this file without the rest of the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>

#include "beeswax/dtype.h"
#include "beeswax/qtensor_type.h"
#include "support/oracle.h"

namespace beeswax {
namespace {

template <class Row>
std::string name_of(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.name);
}

// As GGUF files hold the formats, and as their integer dot products are defined.
struct QuantFacts {
  const char* name;
  QuantType type;
  uint32_t ggml_id;
  int elements, bytes;
  QuantType dot_partner;
  bool imatrix;
};
void PrintTo(const QuantFacts& row, std::ostream* out) { *out << row.name; }

class QuantRow : public testing::TestWithParam<QuantFacts> {
 protected:
  const QuantTraits& table() const { return quant_traits(GetParam().type); }
};
TEST_P(QuantRow, GgmlId) { EXPECT_EQ(table().ggml_id, GetParam().ggml_id); }
TEST_P(QuantRow, Elements) { EXPECT_EQ(table().block_elements, GetParam().elements); }
TEST_P(QuantRow, Bytes) { EXPECT_EQ(table().block_bytes, GetParam().bytes); }
TEST_P(QuantRow, DotPartner) { EXPECT_EQ(table().dot_partner, GetParam().dot_partner); }
TEST_P(QuantRow, Imatrix) { EXPECT_EQ(table().imatrix, GetParam().imatrix); }

using Q = QuantType;
constexpr QuantFacts kQuants[] = {
    {"Q4_0", Q::Q4_0, 2, 32, 18, Q::Q8_0, true},    {"Q4_1", Q::Q4_1, 3, 32, 20, Q::Q8_1, true},
    {"Q5_0", Q::Q5_0, 6, 32, 22, Q::Q8_0, true},    {"Q5_1", Q::Q5_1, 7, 32, 24, Q::Q8_1, true},
    {"Q8_0", Q::Q8_0, 8, 32, 34, Q::Q8_0, false},   {"Q8_1", Q::Q8_1, 9, 32, 36, Q::Q8_1, false},
    {"Q2_K", Q::Q2_K, 10, 256, 84, Q::Q8_K, true},  {"Q3_K", Q::Q3_K, 11, 256, 110, Q::Q8_K, true},
    {"Q4_K", Q::Q4_K, 12, 256, 144, Q::Q8_K, true}, {"Q5_K", Q::Q5_K, 13, 256, 176, Q::Q8_K, true},
    {"Q6_K", Q::Q6_K, 14, 256, 210, Q::Q8_K, true}, {"Q8_K", Q::Q8_K, 15, 256, 292, Q::Q8_K, false},
};
INSTANTIATE_TEST_SUITE_P(Rows, QuantRow, testing::ValuesIn(kQuants), name_of<QuantFacts>);

// What operations compute in: float for narrow floats, else the type itself.
enum class Computes { Float, Double, Self, Nothing };

#define BW_DTYPE(Name, name, ctype, compute, ...)                                           \
  constexpr Computes computes_##Name = std::is_same_v<compute, float>    ? Computes::Float  \
                                       : std::is_same_v<compute, double> ? Computes::Double \
                                       : std::is_same_v<compute, ctype>  ? Computes::Self   \
                                                                         : Computes::Nothing;
#include "tables/dtypes.def"

struct DTypeFacts {
  const char* name;
  DType type;
  int bits;
  bool is_float, is_int;
  Computes table_computes, computes;
};
void PrintTo(const DTypeFacts& row, std::ostream* out) { *out << row.name; }

class DTypeRow : public testing::TestWithParam<DTypeFacts> {};
TEST_P(DTypeRow, Bits) { EXPECT_EQ(dtype_bits(GetParam().type), GetParam().bits); }
TEST_P(DTypeRow, Kind) {
  EXPECT_EQ(dtype_is_float(GetParam().type), GetParam().is_float);
  EXPECT_EQ(dtype_is_int(GetParam().type), GetParam().is_int);
}
TEST_P(DTypeRow, Compute) { EXPECT_EQ(GetParam().table_computes, GetParam().computes); }

constexpr DTypeFacts kDTypes[] = {
    {"U8", DType::U8, 8, false, true, computes_U8, Computes::Self},
    {"U32", DType::U32, 32, false, true, computes_U32, Computes::Self},
    {"I16", DType::I16, 16, false, true, computes_I16, Computes::Self},
    {"I32", DType::I32, 32, false, true, computes_I32, Computes::Self},
    {"I64", DType::I64, 64, false, true, computes_I64, Computes::Self},
    {"BF16", DType::BF16, 16, true, false, computes_BF16, Computes::Float},
    {"F16", DType::F16, 16, true, false, computes_F16, Computes::Float},
    {"F32", DType::F32, 32, true, false, computes_F32, Computes::Float},
    {"F64", DType::F64, 64, true, false, computes_F64, Computes::Double},
    {"F8E4M3", DType::F8E4M3, 8, true, false, computes_F8E4M3, Computes::Float},
    {"F8E8M0", DType::F8E8M0, 8, false, false, Computes::Nothing, Computes::Nothing},
    {"F6E2M3", DType::F6E2M3, 6, false, false, Computes::Nothing, Computes::Nothing},
    {"F6E3M2", DType::F6E3M2, 6, false, false, Computes::Nothing, Computes::Nothing},
    {"F4", DType::F4, 4, false, false, Computes::Nothing, Computes::Nothing},
};
INSTANTIATE_TEST_SUITE_P(Rows, DTypeRow, testing::ValuesIn(kDTypes), name_of<DTypeFacts>);

// Which operations integers have, and which refuse a divisor of 0. No list says it: it follows from what a
// row's oracle makes of whole numbers, so that a new row needs no line here. An operation has integers if
// whole numbers always give whole ones, or if it divides, which integers do by truncation; and it divides if
// a second operand of 0 gives no finite value. A row for which that is wrong on purpose needs a line here
// that says why.
constexpr long double kWholes[] = {-3, -2, -1, 0, 1, 2, 3};

bool is_whole(long double x) { return std::isfinite(x) && std::trunc(x) == x; }

using UnaryOracle = long double (*)(long double x, long double p);
bool keeps_whole(UnaryOracle value) {
  return std::ranges::all_of(kWholes, [&](long double x) { return is_whole(value(x, 0.5L)); });
}
using BinaryOracle = long double (*)(long double x, long double y);
bool divides(BinaryOracle value) { return !std::isfinite(value(1, 0)); }
bool keeps_whole(BinaryOracle value, bool guarded) {
  return std::ranges::all_of(kWholes, [&](long double x) {
    return std::ranges::all_of(kWholes,
                               [&](long double y) { return (guarded && y == 0) || is_whole(value(x, y)); });
  });
}
using ReduceOracle = long double (*)(std::span<const long double> v);
bool keeps_whole(ReduceOracle value) {
  const std::span<const long double> all(std::begin(kWholes), std::end(kWholes));
  return is_whole(value(all)) && is_whole(value(all.first(2)));
}

struct OperationFacts {
  const char* name;
  const char* dtypes;  // as the table has it
  const char* guard;
  bool whole, divides;  // as the oracle has it

  static OperationFacts of(const char* name, const char* dtypes, UnaryOracle value) {
    return {name, dtypes, "None", keeps_whole(value), false};
  }
  static OperationFacts of(const char* name, const char* dtypes, const char* guard, BinaryOracle value) {
    const bool by = beeswax::divides(value);
    return {name, dtypes, guard, keeps_whole(value, by), by};
  }
  static OperationFacts of(const char* name, const char* dtypes, ReduceOracle value) {
    return {name, dtypes, "None", keeps_whole(value), false};
  }
};
void PrintTo(const OperationFacts& row, std::ostream* out) { *out << row.name; }

const OperationFacts kOperations[] = {
#define BW_UNARY(Name, method, dtypes, expr, half, ulp32, ulp64, lo, hi, value, ...) \
  OperationFacts::of(#Name, #dtypes,                                                 \
                     [](long double x, [[maybe_unused]] long double p) -> long double { return value; }),
#define BW_UNARY_PARAM(Name, method, param, ...) BW_UNARY(Name, method, __VA_ARGS__)
#include "tables/unary.def"
#define BW_BINARY(Name, method, dtypes, expr, guard, ulp32, ulp64, lo, hi, value, ...) \
  OperationFacts::of(#Name, #dtypes, #guard,                                           \
                     [](long double x, long double y) -> long double { return value; }),
#include "tables/binary.def"
#define BW_REDUCE(Name, method, dtypes, center, map, combine, final, empty, bound, value, ...) \
  OperationFacts::of(#Name, #dtypes, [](std::span<const long double> v) -> long double { return value; }),
#include "tables/reduce.def"
};

class OperationRow : public testing::TestWithParam<OperationFacts> {};
TEST_P(OperationRow, DTypes) {
  const OperationFacts& row = GetParam();
  EXPECT_STREQ(row.dtypes, row.whole || row.divides ? "Number" : "Float");
}
TEST_P(OperationRow, Guard) { EXPECT_STREQ(GetParam().guard, GetParam().divides ? "NonZero" : "None"); }
INSTANTIATE_TEST_SUITE_P(Rows, OperationRow, testing::ValuesIn(kOperations), name_of<OperationFacts>);

}  // namespace
}  // namespace beeswax
