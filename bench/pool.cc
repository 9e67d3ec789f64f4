// SPDX-License-Identifier: Apache-2.0
// Pooling and resizing, beside a copy.
#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {

BW_BENCH_GROUP(pool, list, sizes) {
  const auto add = [&](const char* what, const Shape& in, const Shape& out, auto&& call) {
    list.add({.name = join_text("pool/", what, "/f32"),
              .dtype = "f32",
              .shape = in.to_string() + " -> " + out.to_string(),
              .bytes = bytes_of(DType::F32, in.elem_count()) + bytes_of(DType::F32, out.elem_count()),
              .ceiling = Ceiling::Copy,
              .make = [=]() -> Body { return [x = shared_input(in, DType::F32), call] { call(x); }; }});
  };
  const int64_t planes = sizes.memory_elements(DType::F32) / (256 * 256);
  const Shape large{1, planes, 256, 256};
  const Shape half{1, planes, 128, 128};
  add("max_2x2", large, half, [](const Tensor& x) { static_cast<void>(x.max_pool2d({2, 2})); });
  add("avg_2x2", large, half, [](const Tensor& x) { static_cast<void>(x.avg_pool2d({2, 2})); });
  add("max_3x3_stride_2", large, {1, planes, 127, 127},
      [](const Tensor& x) { static_cast<void>(x.max_pool2d({3, 3}, std::pair<int64_t, int64_t>{2, 2})); });
  add("nearest_2x", half, large, [](const Tensor& x) { static_cast<void>(x.upsample_nearest2d(256, 256)); });
  add("bilinear_2x", half, large,
      [](const Tensor& x) { static_cast<void>(x.upsample_bilinear2d(256, 256, false)); });
}

}  // namespace beeswax::bench
