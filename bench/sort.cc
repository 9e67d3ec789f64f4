// SPDX-License-Identifier: Apache-2.0
// Sorting. There is no ceiling that means anything; peers/sort_numpy.py compares with NumPy in turn.
#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {

BW_BENCH_GROUP(sort, list, sizes) {
  const auto add = [&](const char* what, DType dtype, const Shape& shape, bool values, auto&& call) {
    const std::string name(dtype_name(dtype));
    const int64_t count = shape.elem_count();
    list.add({.name = join_text("sort/", what, "/", name),
              .dtype = name,
              .shape = shape.to_string(),
              .bytes = (values ? 2 : 1) * bytes_of(dtype, count) + bytes_of(DType::U32, count),
              .make = [=]() -> Body {
                const bool byte = dtype == DType::U8;
                return [x = random_tensor(shape, dtype, byte ? 0 : -30000, byte ? 256 : 30000), call] {
                  call(x);
                };
              }});
  };
  const auto sort = [](const Tensor& x) { static_cast<void>(x.sort_last_dim()); };
  const auto arg_sort = [](const Tensor& x) { static_cast<void>(x.arg_sort_last_dim()); };
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::I64, DType::I32, DType::U8}) {
    add("values_1e6", dtype, {1000000}, true, sort);
    add("ids_1e6", dtype, {1000000}, false, arg_sort);
    add("values_rows", dtype, {1024, 1024}, true, sort);
    add("ids_rows", dtype, {1024, 1024}, false, arg_sort);
  }
  add("values_short_rows", DType::F32, {32768, 32}, true, sort);
  add("values_axis_0", DType::F32, {1024, 1024}, true, [](const Tensor& x) { static_cast<void>(x.sort(0)); });
  add("top_40", DType::F32, {8, 131072}, true, [](const Tensor& x) { static_cast<void>(x.topk(40)); });
}

}  // namespace beeswax::bench
