// SPDX-License-Identifier: Apache-2.0
// Cases that move elements without looking at them: copies, transposes, constants.
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {

BW_BENCH_GROUP(copy, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::U8, DType::F64}) {
    const int64_t count = sizes.memory_elements(dtype);
    const std::string name(dtype_name(dtype));
    list.add({.name = "copy/dense/" + name,
              .dtype = name,
              .shape = Shape{count}.to_string(),
              .bytes = 2 * bytes_of(dtype, count),
              .ceiling = Ceiling::Copy,
              .target = 0.85,
              .make = [=]() -> Body {
                return [x = shared_input({count}, dtype)] { static_cast<void>(x.copy()); };
              }});
  }
  const auto transposed = [&](DType dtype, const Shape& shape, int a, int b, const char* what) {
    const std::string name(dtype_name(dtype));
    list.add({.name = std::string("copy/") + what + "/" + name,
              .dtype = name,
              .shape = shape.to_string(),
              .bytes = 2 * bytes_of(dtype, shape.elem_count()),
              .ceiling = Ceiling::Copy,
              .make = [=]() -> Body {
                return
                    [x = shared_input(shape, dtype).transpose(a, b)] { static_cast<void>(x.contiguous()); };
              }});
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::U8, DType::F64})
    transposed(dtype, {4096, 4096}, 0, 1, "transposed");
  transposed(DType::F32, {4095, 4097}, 0, 1, "transposed_odd");
  transposed(DType::F32, {8, 2048, 16, 64}, 1, 2, "heads");
  transposed(DType::F32, {4096, 1024, 3}, 1, 2, "channels_first");

  const int64_t rows = 4096;
  list.add({.name = "copy/every_second/f32",
            .dtype = "f32",
            .shape = "[4096, 2048] of [4096, 4096]",
            .bytes = 2.0 * 4 * 4096 * 2048,
            .ceiling = Ceiling::Copy,
            .make = [=]() -> Body {
              const Tensor x = shared_input({rows, 2048, 2}, DType::F32).narrow(2, 0, 1);
              return [x] { static_cast<void>(x.contiguous()); };
            }});
  list.add({.name = "copy/columns/f32",
            .dtype = "f32",
            .shape = "[4096, 3072] of [4096, 4096]",
            .bytes = 2.0 * 4 * 4096 * 3072,
            .ceiling = Ceiling::Copy,
            .make = [=]() -> Body {
              const Tensor x = shared_input({rows, 4096}, DType::F32).narrow(1, 512, 3072);
              return [x] { static_cast<void>(x.contiguous()); };
            }});
  list.add({.name = "copy/broadcast/f32",
            .dtype = "f32",
            .shape = "[8192, 4096] of [4096]",
            .bytes = 4.0 * 8192 * 4096,
            .ceiling = Ceiling::Write,
            .make = [=]() -> Body {
              const Tensor x = shared_input({4096}, DType::F32).broadcast_as({8192, 4096});
              return [x] { static_cast<void>(x.contiguous()); };
            }});
}

BW_BENCH_GROUP(fill, list, sizes) {
  const auto add = [&](const char* what, DType dtype, auto&& make_one) {
    const int64_t count = sizes.memory_elements(dtype);
    const std::string name(dtype_name(dtype));
    list.add({.name = std::string("fill/") + what + "/" + name,
              .dtype = name,
              .shape = Shape{count}.to_string(),
              .bytes = bytes_of(dtype, count),
              .ceiling = Ceiling::Write,
              .target = 0.85,
              .make = [=]() -> Body { return [=] { make_one(count, dtype); }; }});
  };
  const auto full = [](int64_t count, DType dtype) { static_cast<void>(Tensor::full({count}, 3, dtype)); };
  for (const DType dtype : {DType::F32, DType::F16, DType::U8, DType::I64}) add("full", dtype, full);
  for (const DType dtype : {DType::F32, DType::I64})
    add("arange", dtype,
        [](int64_t count, DType type) { static_cast<void>(Tensor::arange(0, count, type)); });
}

BW_BENCH_GROUP(random, list, sizes) {
  const auto add = [&](const char* what, DType dtype, auto&& draw) {
    const int64_t count = sizes.memory_elements(dtype);
    const std::string name(dtype_name(dtype));
    list.add({.name = std::string("random/") + what + "/" + name,
              .dtype = name,
              .shape = Shape{count}.to_string(),
              .bytes = bytes_of(dtype, count),
              .ceiling = Ceiling::Write,
              .make = [=]() -> Body { return [=] { draw(count, dtype); }; }});
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::F64}) {
    add("uniform", dtype, [](int64_t count, DType type) { static_cast<void>(Tensor::rand({count}, type)); });
    add("normal", dtype, [](int64_t count, DType type) { static_cast<void>(Tensor::randn({count}, type)); });
  }
}

}  // namespace beeswax::bench
