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

// A case on tensors of `count` elements and one on tensors in a cache, from make(count) and the bytes of an
// element of all its tensors.
template <class Make>
void add_streaming(CaseList& list, const std::string& name, DType dtype, Ceiling ceiling, int64_t count,
                   int64_t cache_count, double bytes_each, const Make& make) {
  list.add({.name = name,
            .dtype = std::string(dtype_name(dtype)),
            .shape = Shape{count}.to_string(),
            .bytes = bytes_each * static_cast<double>(count),
            .ceiling = ceiling,
            .target = kStreaming,
            .make = [=]() -> Body { return make(count); },
            .make_in_cache = [=]() -> Body { return on_every_thread(make(cache_count)); },
            .bytes_in_cache = bytes_each * static_cast<double>(cache_count) * calls_in_cache()});
}

template <class Make>
void add_cached(CaseList& list, const std::string& name, DType dtype, int64_t count, double bytes_each,
                const Make& make) {
  list.add({.name = name,
            .dtype = std::string(dtype_name(dtype)),
            .shape = Shape{count}.to_string(),
            .bytes = bytes_each * static_cast<double>(count) * calls_in_cache(),
            .make = [=]() -> Body { return on_every_thread(make(count)); }});
}

auto unary_maker(const UnaryRow& row, DType dtype) {
  return [=](int64_t count) -> Body {
    return
        [x = shared_input({count}, dtype, row.lo, row.hi), call = row.call] { static_cast<void>(call(x)); };
  };
}

auto binary_maker(const BinaryRow& row, DType dtype) {
  return [=](int64_t count) -> Body {
    // Divisors of integers are not zero: the second input starts at 1.
    const bool whole = dtype_is_int(dtype);
    return [x = shared_input({count}, dtype, whole ? 0 : row.lo, row.hi),
            y = shared_input({count}, dtype, whole ? 1 : row.lo, row.hi + 1),
            call = row.call] { static_cast<void>(call(x, y)); };
  };
}

constexpr DType kUnaryDTypes[] = {DType::F32, DType::F16, DType::BF16, DType::F64};
constexpr DType kBinaryDTypes[] = {DType::F32, DType::F16, DType::F64, DType::I32};
constexpr DType kCompareDTypes[] = {DType::F32, DType::F16};
bool has(const BinaryRow& row, DType dtype) { return row.integers || dtype_is_float(dtype); }
std::string case_name(const char* group, const char* method, DType dtype) {
  return join_text(group, method, "/", dtype_name(dtype));
}

// Reading and writing cost differently, so a cast is held to what memory does with its own mix.
Ceiling mix(int read_bits, int written_bits) {
  const int up = written_bits / read_bits;
  const int down = read_bits / written_bits;
  if (up >= 2) return up >= 4 ? Ceiling::Widen4 : Ceiling::Widen2;
  return down >= 8   ? Ceiling::Narrow8
         : down >= 4 ? Ceiling::Narrow4
         : down >= 2 ? Ceiling::Narrow2
                     : Ceiling::Copy;
}

}  // namespace

BW_BENCH_GROUP(unary, list, sizes) {
  for (const DType dtype : kUnaryDTypes)
    for (const UnaryRow& row : kUnary)
      add_streaming(list, case_name("unary/", row.method, dtype), dtype, Ceiling::Copy,
                    sizes.memory_elements(dtype), sizes.cache_elements(dtype), 2 * bytes_of(dtype, 1),
                    unary_maker(row, dtype));
}

BW_BENCH_GROUP(binary, list, sizes) {
  for (const DType dtype : kBinaryDTypes)
    for (const BinaryRow& row : kBinary)
      if (has(row, dtype))
        add_streaming(list, case_name("binary/", row.method, dtype), dtype, Ceiling::Triad,
                      sizes.memory_elements(dtype), sizes.cache_elements(dtype), 3 * bytes_of(dtype, 1),
                      binary_maker(row, dtype));
}

BW_BENCH_GROUP(compare, list, sizes) {
  for (const DType dtype : kCompareDTypes)
    for (const BinaryRow& row : kCompare)
      add_streaming(list, case_name("compare/", row.method, dtype), dtype, mix(2 * dtype_bits(dtype), 8),
                    sizes.memory_elements(dtype), sizes.cache_elements(dtype), 2 * bytes_of(dtype, 1) + 1,
                    binary_maker(row, dtype));
}

BW_BENCH_GROUP(cache, list, sizes) {
  for (const DType dtype : kUnaryDTypes)
    for (const UnaryRow& row : kUnary)
      add_cached(list, case_name("cache/unary/", row.method, dtype), dtype, sizes.cache_elements(dtype),
                 2 * bytes_of(dtype, 1), unary_maker(row, dtype));
  for (const DType dtype : kBinaryDTypes)
    for (const BinaryRow& row : kBinary)
      if (has(row, dtype))
        add_cached(list, case_name("cache/binary/", row.method, dtype), dtype, sizes.cache_elements(dtype),
                   3 * bytes_of(dtype, 1), binary_maker(row, dtype));
  for (const DType dtype : kCompareDTypes)
    for (const BinaryRow& row : kCompare)
      add_cached(list, case_name("cache/compare/", row.method, dtype), dtype, sizes.cache_elements(dtype),
                 2 * bytes_of(dtype, 1) + 1, binary_maker(row, dtype));
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
    const int64_t cached = std::min(sizes.cache_elements(from), sizes.cache_elements(to));
    const std::string name = join_text("cast/", dtype_name(from), "_to_", dtype_name(to));
    add_streaming(list, name, from, mix(dtype_bits(from), dtype_bits(to)), count, cached,
                  bytes_of(from, 1) + bytes_of(to, 1), [source = from, result = to](int64_t n) -> Body {
                    return [x = shared_input({n}, source, 0, 100), result] {
                      static_cast<void>(x.to_dtype(result));
                    };
                  });
  }
}

BW_BENCH_GROUP(affine, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32})
    add_streaming(list, case_name("", "affine", dtype), dtype, Ceiling::Copy, sizes.memory_elements(dtype),
                  sizes.cache_elements(dtype), 2 * bytes_of(dtype, 1), [=](int64_t n) -> Body {
                    return [x = shared_input({n}, dtype, -100, 100)] { static_cast<void>(x.affine(3, 2)); };
                  });
}

BW_BENCH_GROUP(where, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16})
    add_streaming(list, case_name("", "where", dtype), dtype, Ceiling::Triad, sizes.memory_elements(dtype),
                  sizes.cache_elements(dtype), 3 * bytes_of(dtype, 1) + 1, [=](int64_t n) -> Body {
                    return [condition = shared_input({n}, DType::U8, 0, 2), x = shared_input({n}, dtype),
                            y = shared_input({n}, dtype, -2, 2)] {
                      static_cast<void>(condition.where_cond(x, y));
                    };
                  });
}

}  // namespace beeswax::bench
