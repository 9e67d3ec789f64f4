// SPDX-License-Identifier: Apache-2.0
// Elementwise operations. A row of unary.def or binary.def is a case for each dtype that matters most, over
// the inputs the row names, and one more on tensors that stay in a cache.
#include <algorithm>
#include <string_view>

#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {
namespace {

constexpr double kStreaming = 0.85;

// Functions that are a polynomial or more (their bound is above one rounding) are asked to stream in f32;
// other dtypes have up to four times the arithmetic for each byte.
double target_for(double ulp32, DType dtype) { return ulp32 < 1 || dtype == DType::F32 ? kStreaming : 0; }

using Unary = Tensor (*)(const Tensor&);
struct UnaryRow {
  const char* method;
  double ulp32, lo, hi;
  Unary call;
};
constexpr UnaryRow kUnary[] = {
#define BW_UNARY(Name, method, dtypes, expr, half, ulp32, ulp64, lo, hi, ...) \
  {#method, ulp32, lo, hi, [](const Tensor& x) { return x.method(); }},
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ulp32, ulp64, lo, hi, ...) \
  {#method, ulp32, lo, hi, [](const Tensor& x) { return x.method(1.7); }},
#include "tables/unary.def"
};

using Binary = Tensor (*)(const Tensor&, const Tensor&);
struct BinaryRow {
  const char* method;
  bool integers;
  double ulp32, lo, hi;
  Binary call;
};
constexpr std::string_view kNumber = "Number";
constexpr BinaryRow kBinary[] = {
#define BW_BINARY(Name, method, dtypes, expr, guard, ulp32, ulp64, lo, hi, ...) \
  {#method, kNumber == #dtypes, ulp32, lo, hi, [](const Tensor& x, const Tensor& y) { return x.method(y); }},
#include "tables/binary.def"
};
constexpr BinaryRow kCompare[] = {
#define BW_COMPARE(Name, method, ...) \
  {#method, true, 0, -100, 100, [](const Tensor& x, const Tensor& y) { return x.method(y); }},
#include "tables/binary.def"
};

void add_unary(CaseList& list, const UnaryRow& row, DType dtype, const std::string& prefix, int64_t count,
               bool in_memory) {
  const std::string name(dtype_name(dtype));
  list.add({.name = prefix + row.method + "/" + name,
            .dtype = name,
            .shape = Shape{count}.to_string(),
            .bytes = 2 * bytes_of(dtype, count),
            .ceiling = in_memory ? Ceiling::Copy : Ceiling::None,
            .target = in_memory ? target_for(row.ulp32, dtype) : 0,
            .make = [=]() -> Body {
              return [x = shared_input({count}, dtype, row.lo, row.hi), call = row.call] {
                static_cast<void>(call(x));
              };
            }});
}

void add_binary(CaseList& list, const BinaryRow& row, DType dtype, DType out, const std::string& prefix,
                int64_t count, bool in_memory) {
  const std::string name(dtype_name(dtype));
  list.add({.name = prefix + row.method + "/" + name,
            .dtype = name,
            .shape = Shape{count}.to_string(),
            .bytes = 2 * bytes_of(dtype, count) + bytes_of(out, count),
            .ceiling = in_memory ? Ceiling::Triad : Ceiling::None,
            .target = in_memory ? target_for(row.ulp32, dtype) : 0,
            .make = [=]() -> Body {
              // Divisors of integers are not zero: the second input starts at 1.
              const bool whole = dtype_is_int(dtype);
              return [x = shared_input({count}, dtype, whole ? 0 : row.lo, row.hi),
                      y = shared_input({count}, dtype, whole ? 1 : row.lo, row.hi + 1),
                      call = row.call] { static_cast<void>(call(x, y)); };
            }});
}

// Writing costs more than reading, so a widening cast is held to what memory does with its own mix.
Ceiling widened(DType from, DType to) {
  const int times = dtype_bits(to) / dtype_bits(from);
  return times >= 4 ? Ceiling::Widen4 : times >= 2 ? Ceiling::Widen2 : Ceiling::Copy;
}

}  // namespace

BW_BENCH_GROUP(unary, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64})
    for (const UnaryRow& row : kUnary)
      add_unary(list, row, dtype, "unary/", sizes.memory_elements(dtype), true);
}

BW_BENCH_GROUP(binary, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::F64, DType::I32})
    for (const BinaryRow& row : kBinary)
      if (row.integers || dtype_is_float(dtype))
        add_binary(list, row, dtype, dtype, "binary/", sizes.memory_elements(dtype), true);
}

BW_BENCH_GROUP(compare, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16})
    for (const BinaryRow& row : kCompare)
      add_binary(list, row, dtype, DType::U8, "compare/", sizes.memory_elements(dtype), true);
}

BW_BENCH_GROUP(cache, list, sizes) {
  const DType dtype = DType::F32;
  const int64_t count = sizes.cache_elements(dtype);
  for (const UnaryRow& row : kUnary) add_unary(list, row, dtype, "cache/unary/", count, false);
  for (const BinaryRow& row : kBinary) add_binary(list, row, dtype, dtype, "cache/binary/", count, false);
  for (const BinaryRow& row : kCompare)
    add_binary(list, row, dtype, DType::U8, "cache/compare/", count, false);
}

BW_BENCH_GROUP(broadcast, list, sizes) {
  const int64_t cols = 4096;
  const int64_t rows = sizes.memory_elements(DType::F32) / cols;
  const double bytes = 2 * bytes_of(DType::F32, rows * cols);
  const auto add = [&](const char* what, const std::string& shape, auto&& make) {
    list.add({.name = std::string("broadcast/") + what + "/f32",
              .dtype = "f32",
              .shape = shape,
              .bytes = bytes,
              .ceiling = Ceiling::Copy,
              .target = kStreaming,
              .make = make});
  };
  const std::string full = Shape{rows, cols}.to_string();
  add("mul_number", full,
      [=]() -> Body { return [x = shared_input({rows, cols}, DType::F32)] { static_cast<void>(x * 3.0); }; });
  add("number_sub", full,
      [=]() -> Body { return [x = shared_input({rows, cols}, DType::F32)] { static_cast<void>(3.0 - x); }; });
  const auto add_two = [&](const char* what, const Shape& other) {
    add(what, full + " + " + other.to_string(), [=]() -> Body {
      return [x = shared_input({rows, cols}, DType::F32), y = shared_input(other, DType::F32)] {
        static_cast<void>(x + y);
      };
    });
  };
  add_two("add_row", {cols});
  add_two("add_column", {rows, 1});
  add_two("add_one", {1, 1});
  add("add_outer", Shape{rows, 1}.to_string() + " + " + Shape{cols}.to_string(), [=]() -> Body {
    return [x = shared_input({rows, 1}, DType::F32), y = shared_input({cols}, DType::F32)] {
      static_cast<void>(x + y);
    };
  });
}

BW_BENCH_GROUP(cast, list, sizes) {
  using enum DType;
  constexpr std::pair<DType, DType> kPairs[] = {
      {F32, F16}, {F16, F32},    {F32, BF16},   {BF16, F32}, {F16, BF16}, {F32, F64}, {F64, F32},
      {F64, F16}, {F32, F8E4M3}, {F8E4M3, F32}, {F32, I32},  {I32, F32},  {F32, U8},  {U8, F32},
      {I64, F32}, {F32, I64},    {I64, I32},    {U32, I64},  {I16, F16},
  };
  for (const auto& [from, to] : kPairs) {
    const int64_t count = std::min(sizes.memory_elements(from), sizes.memory_elements(to));
    const std::string name = join_text(dtype_name(from), "_to_", dtype_name(to));
    list.add({.name = "cast/" + name,
              .dtype = std::string(dtype_name(from)),
              .shape = Shape{count}.to_string(),
              .bytes = bytes_of(from, count) + bytes_of(to, count),
              .ceiling = widened(from, to),
              .target = kStreaming,
              .make = [=, source = from, result = to]() -> Body {
                return [x = shared_input({count}, source, 0, 100), result] {
                  static_cast<void>(x.to_dtype(result));
                };
              }});
  }
}

BW_BENCH_GROUP(affine, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32}) {
    const int64_t count = sizes.memory_elements(dtype);
    const std::string name(dtype_name(dtype));
    list.add({.name = "affine/" + name,
              .dtype = name,
              .shape = Shape{count}.to_string(),
              .bytes = 2 * bytes_of(dtype, count),
              .ceiling = Ceiling::Copy,
              .target = kStreaming,
              .make = [=]() -> Body {
                return [x = shared_input({count}, dtype, -100, 100)] { static_cast<void>(x.affine(3, 2)); };
              }});
  }
}

BW_BENCH_GROUP(where, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16}) {
    const int64_t count = sizes.memory_elements(dtype);
    const std::string name(dtype_name(dtype));
    list.add({.name = "where/" + name,
              .dtype = name,
              .shape = Shape{count}.to_string(),
              .bytes = 3 * bytes_of(dtype, count) + bytes_of(DType::U8, count),
              .ceiling = Ceiling::Triad,
              .target = kStreaming,
              .make = [=]() -> Body {
                return [condition = shared_input({count}, DType::U8, 0, 2), x = shared_input({count}, dtype),
                        y = shared_input({count}, dtype, -2, 2)] {
                  static_cast<void>(condition.where_cond(x, y));
                };
              }});
  }
}

}  // namespace beeswax::bench
