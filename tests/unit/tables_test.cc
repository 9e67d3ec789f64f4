// SPDX-License-Identifier: Apache-2.0
// Facts of the tables that files, other programs and the meaning of operations depend on, written down a
// second time: rows may be added without a line here, but these may not change. tools/mutate_rows.py expects
// a red test for each column of each row, and builds this file without the rest of the library.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <type_traits>

#include "beeswax/dtype.h"
#include "beeswax/qtensor_type.h"

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

// Which operations integers have, and which refuse a divisor of 0.
struct OperationFacts {
  const char* name;
  const char* dtypes;
  const char* guard;
};
void PrintTo(const OperationFacts& row, std::ostream* out) { *out << row.name; }

const std::map<std::string, OperationFacts>& operations() {
  static const std::map<std::string, OperationFacts> table = {
#define BW_UNARY(Name, method, dtypes, ...) {#Name, {#Name, #dtypes, "None"}},
#define BW_UNARY_PARAM(Name, method, param, dtypes, ...) {#Name, {#Name, #dtypes, "None"}},
#include "tables/unary.def"
#define BW_BINARY(Name, method, dtypes, expr, guard, ...) {#Name, {#Name, #dtypes, #guard}},
#include "tables/binary.def"
#define BW_REDUCE(Name, method, dtypes, ...) {#Name, {#Name, #dtypes, "None"}},
#include "tables/reduce.def"
  };
  return table;
}

class OperationRow : public testing::TestWithParam<OperationFacts> {};
TEST_P(OperationRow, DTypes) { EXPECT_STREQ(operations().at(GetParam().name).dtypes, GetParam().dtypes); }
TEST_P(OperationRow, Guard) { EXPECT_STREQ(operations().at(GetParam().name).guard, GetParam().guard); }

constexpr OperationFacts kOperations[] = {
    {"Neg", "Number", "None"},      {"Abs", "Number", "None"},     {"Sign", "Number", "None"},
    {"Sqr", "Number", "None"},      {"Relu", "Number", "None"},    {"Ceil", "Number", "None"},
    {"Floor", "Number", "None"},    {"Round", "Number", "None"},   {"Recip", "Float", "None"},
    {"Sqrt", "Float", "None"},      {"Exp", "Float", "None"},      {"Log", "Float", "None"},
    {"Sin", "Float", "None"},       {"Cos", "Float", "None"},      {"Tanh", "Float", "None"},
    {"Erf", "Float", "None"},       {"Sigmoid", "Float", "None"},  {"Silu", "Float", "None"},
    {"Gelu", "Float", "None"},      {"GeluErf", "Float", "None"},  {"NormalCdf", "Float", "None"},
    {"Elu", "Float", "None"},       {"Powf", "Float", "None"},     {"Add", "Number", "None"},
    {"Sub", "Number", "None"},      {"Mul", "Number", "None"},     {"Div", "Number", "NonZero"},
    {"Maximum", "Number", "None"},  {"Minimum", "Number", "None"}, {"Pow", "Float", "None"},
    {"Sum", "Number", "None"},      {"Mean", "Float", "None"},     {"Max", "Number", "None"},
    {"Min", "Number", "None"},      {"Norm", "Float", "None"},     {"Var", "Float", "None"},
    {"LogSumExp", "Float", "None"},
};
INSTANTIATE_TEST_SUITE_P(Rows, OperationRow, testing::ValuesIn(kOperations), name_of<OperationFacts>);

}  // namespace
}  // namespace beeswax
