// SPDX-License-Identifier: Apache-2.0
// What a call costs besides its work: operations on tiny tensors, and views. No ceiling: the time is the
// figure.
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {

BW_BENCH_GROUP(dispatch, list, sizes) {
  const auto add = [&](const char* what, const Shape& shape, auto&& body) {
    list.add({.name = std::string("dispatch/") + what,
              .dtype = "f32",
              .shape = shape.to_string(),
              .make = [=]() -> Body { return [x = random_tensor(shape, DType::F32), body] { body(x); }; }});
  };
  add("neg", {1}, [](const Tensor& x) { static_cast<void>(x.neg()); });
  add("add", {1}, [](const Tensor& x) { static_cast<void>(x + x); });
  add("add_number", {1}, [](const Tensor& x) { static_cast<void>(x + 1.0); });
  add("add_64", {8, 8}, [](const Tensor& x) { static_cast<void>(x + x); });
  add("add_4096", {64, 64}, [](const Tensor& x) { static_cast<void>(x + x); });
  add("add_broadcast", {8, 8}, [](const Tensor& x) { static_cast<void>(x + x.narrow(0, 0, 1)); });
  add("copy", {1}, [](const Tensor& x) { static_cast<void>(x.copy()); });
  add("empty", {1}, [](const Tensor& x) { static_cast<void>(Tensor::empty(x.shape(), x.dtype())); });
  add("zeros", {1}, [](const Tensor& x) { static_cast<void>(Tensor::zeros(x.shape(), x.dtype())); });
  add("view_transpose", {8, 8}, [](const Tensor& x) { static_cast<void>(x.t()); });
  add("view_narrow", {8, 8}, [](const Tensor& x) { static_cast<void>(x.narrow(0, 2, 4)); });
  add("view_reshape", {8, 8}, [](const Tensor& x) { static_cast<void>(x.reshape({4, 16})); });
  add("view_unsqueeze", {8, 8}, [](const Tensor& x) { static_cast<void>(x.unsqueeze(0)); });
  add("value_to_host", {1}, [](const Tensor& x) { static_cast<void>(x.to_scalar<float>()); });
}

}  // namespace beeswax::bench
