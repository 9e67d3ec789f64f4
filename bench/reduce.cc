// SPDX-License-Identifier: Apache-2.0
// Reductions beside reading their input; softmax, norms, rotary positions and running sums beside a copy.
#include <algorithm>
#include <string_view>
#include <vector>

#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {
namespace {

constexpr double kReductionTarget = 0.85;
constexpr double kRowsTarget = 0.8;
constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16, DType::F64};
constexpr int64_t kRow = 4096;

// Which axis goes, of which view of the same elements.
struct Where {
  const char* name;
  int axis;  // -1: all of them
  Shape shape;
};
std::vector<Where> places(int64_t count) {
  const Shape matrix{count / kRow, kRow};
  return {{"all", -1, matrix},
          {"last", 1, matrix},
          {"first", 0, matrix},
          {"middle", 1, Shape{count / (256 * 256), 256, 256}}};
}

struct ReduceRow {
  const char* method;
  bool one_pass;     // no second pass over the elements, no function of them
  bool every_dtype;  // the rows that stand for others of their kind
  Tensor (*call)(const Tensor&, const Where&);
  DType (*out)(DType);
};
constexpr bool stands_for_others(std::string_view method) {
  return method == "sum" || method == "max" || method == "argmax";
}
constexpr std::string_view kNoCenter = "NONE";
constexpr ReduceRow kReduce[] = {
#define BW_REDUCE(Name, method, dtypes, center, ...)                                                   \
  {#method, kNoCenter == #center, stands_for_others(#method),                                          \
   [](const Tensor& x, const Where& w) { return w.axis < 0 ? x.method##_all() : x.method({w.axis}); }, \
   [](DType dtype) { return dtype; }},
#define BW_ARG_REDUCE(Name, method, ...)                                                             \
  {#method, true, stands_for_others(#method),                                                        \
   [](const Tensor& x, const Where& w) { return w.axis < 0 ? x.method##_all() : x.method(w.axis); }, \
   [](DType) { return DType::U32; }},
#include "tables/reduce.def"
};

double result_bytes(DType dtype, const Where& where) {
  return where.axis < 0 ? 0 : bytes_of(dtype, where.shape.elem_count() / where.shape[where.axis]);
}

}  // namespace

BW_BENCH_GROUP(reduce, list, sizes) {
  for (const ReduceRow& row : kReduce) {
    for (const DType dtype : kFloats) {
      if (dtype != DType::F32 && !row.every_dtype) continue;
      const std::string name(dtype_name(dtype));
      const int64_t count = sizes.memory_elements(dtype);
      for (const Where& where : places(count)) {
        list.add({.name = join_text("reduce/", row.method, "_", where.name, "/", name),
                  .dtype = name,
                  .shape = where.shape.to_string(),
                  .bytes = bytes_of(dtype, count) + result_bytes(row.out(dtype), where),
                  .ceiling = Ceiling::Read,
                  .target = row.one_pass ? kReductionTarget : 0,
                  .make = [=, call = row.call]() -> Body {
                    return [=, x = shared_input(where.shape, dtype)] { static_cast<void>(call(x, where)); };
                  }});
      }
    }
  }
}

namespace {

// Cases that read x once and write as much; and on a few of its rows, or on a shorter one, which stay in a
// cache.
template <class Call>
void add_rows(CaseList& list, const Sizes& sizes, const char* what, DType dtype, const Shape& shape,
              double target, Call call) {
  const std::string name(dtype_name(dtype));
  const auto body = [=](const Shape& some) -> Body {
    return
        [=, x = shared_input(some, dtype), prepared = call(dtype, some)] { static_cast<void>(prepared(x)); };
  };
  Case one{.name = join_text(what, "/", name),
           .dtype = name,
           .shape = shape.to_string(),
           .bytes = 2 * bytes_of(dtype, shape.elem_count()),
           .ceiling = Ceiling::Copy,
           .target = target,
           .make = [=] { return body(shape); }};
  if (target > 0) {
    const int64_t row = std::min(sizes.cache_elements(dtype), shape[shape.rank() - 1]);
    const Shape cached{sizes.cache_elements(dtype) / row, row};
    one.make_in_cache = [=] { return on_every_thread(body(cached)); };
    one.bytes_in_cache = 2 * bytes_of(dtype, cached.elem_count()) * calls_in_cache();
  }
  list.add(std::move(one));
}

}  // namespace

BW_BENCH_GROUP(softmax, list, sizes) {
  const auto softmax = [](int axis) {
    return [=](DType, const Shape&) { return [=](const Tensor& x) { return x.softmax({axis}); }; };
  };
  const auto log_softmax = [](DType, const Shape&) {
    return [](const Tensor& x) { return x.log_softmax({-1}); };
  };
  for (const DType dtype : kFloats) {
    const int64_t count = sizes.memory_elements(dtype);
    const Shape rows{count / kRow, kRow};
    add_rows(list, sizes, "softmax/last", dtype, rows, kRowsTarget, softmax(-1));
    add_rows(list, sizes, "softmax/log_last", dtype, rows, kRowsTarget, log_softmax);
    add_rows(list, sizes, "softmax/first", dtype, rows, 0, softmax(0));
    add_rows(list, sizes, "softmax/middle", dtype, {count / (256 * 256), 256, 256}, 0, softmax(1));
  }
  // Rows of other lengths: scores of short contexts, a vocabulary, and one beyond the second-level cache.
  const int64_t count = sizes.memory_elements(DType::F32);
  add_rows(list, sizes, "softmax/rows_of_64", DType::F32, {count / 64, 64}, kRowsTarget, softmax(-1));
  add_rows(list, sizes, "softmax/rows_of_131072", DType::F32, {count / 131072, 131072}, kRowsTarget,
           softmax(-1));
  add_rows(list, sizes, "softmax/rows_of_4194304", DType::F32, {count / 4194304, 4194304}, 0, softmax(-1));
}

BW_BENCH_GROUP(norm, list, sizes) {
  const auto weights = [](DType dtype) { return shared_input({kRow}, dtype, 0.5, 2); };
  const auto rms_norm = [=](DType dtype, const Shape&) {
    return [w = weights(dtype)](const Tensor& x) { return x.rms_norm(w); };
  };
  const auto layer_norm = [=](DType dtype, const Shape&) {
    return [w = weights(dtype)](const Tensor& x) { return x.layer_norm(w, w); };
  };
  for (const DType dtype : kFloats) {
    const Shape rows{sizes.memory_elements(dtype) / kRow, kRow};
    add_rows(list, sizes, "norm/rms", dtype, rows, kRowsTarget, rms_norm);
    add_rows(list, sizes, "norm/layer", dtype, rows, kRowsTarget, layer_norm);
  }
}

BW_BENCH_GROUP(rope, list, sizes) {
  constexpr int64_t kHeads = 32, kHead = 128;
  const auto rope = [=](RopePairs pairs) {
    return [=](DType dtype, const Shape& shape) {
      const Shape angles = shape.rank() == 3 ? Shape{shape[0], 1, kHead / 2} : Shape{kHead / 2};
      const Tensor cos = shared_input(angles, dtype, -1, 1), sin = shared_input(angles, dtype, -1, 1);
      return [=](const Tensor& x) { return x.rope(cos, sin, pairs); };
    };
  };
  for (const DType dtype : kFloats) {
    const Shape heads{sizes.memory_elements(dtype) / (kHeads * kHead), kHeads, kHead};
    add_rows(list, sizes, "rope/halves", dtype, heads, kRowsTarget, rope(RopePairs::Halves));
    add_rows(list, sizes, "rope/neighbours", dtype, heads, kRowsTarget, rope(RopePairs::Neighbours));
  }
}

BW_BENCH_GROUP(cumsum, list, sizes) {
  const auto cumsum = [](int axis) {
    return [=](DType, const Shape&) { return [=](const Tensor& x) { return x.cumsum(axis); }; };
  };
  for (const DType dtype : kFloats) {
    const int64_t count = sizes.memory_elements(dtype);
    const Shape rows{count / kRow, kRow};
    add_rows(list, sizes, "cumsum/last", dtype, rows, 0, cumsum(-1));
    add_rows(list, sizes, "cumsum/first", dtype, rows, 0, cumsum(0));
    add_rows(list, sizes, "cumsum/middle", dtype, {count / (256 * 256), 256, 256}, 0, cumsum(1));
  }
}

}  // namespace beeswax::bench
