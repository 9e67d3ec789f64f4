// SPDX-License-Identifier: Apache-2.0
// Reductions: shapes, the rules for empty inputs, and the calls.
#include <cmath>
#include <optional>

#include "ops/common.h"

namespace beeswax {
namespace {

using ops::Accept;

// What reducing the axes of `mask` leaves: `kept` for the backend, `shown` with sizes of 1 where asked for.
struct Reduced {
  Shape kept, shown;
  int64_t count = 1;  // elements that make one result
  Reduced(const Shape& shape, uint32_t mask, bool keepdim) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const bool reduced = (mask >> axis & 1) != 0;
      if (reduced) count *= shape[axis];
      if (!reduced) kept.push_back(shape[axis]);
      if (!reduced || keepdim) shown.push_back(reduced ? 1 : shape[axis]);
    }
  }
};

// The axes named, or all of them.
uint32_t mask_of(const Axes* axes, const Tensor& x, std::string_view name) {
  return axes != nullptr ? axes->mask(x.shape(), name) : (uint32_t{1} << x.rank()) - 1;
}

// The value over no elements, from the table's column; none means an error.
constexpr std::nullopt_t ERROR = std::nullopt;
const std::optional<double> kOverNothing[] = {
#define BW_REDUCE(Name, method, dtypes, center, map, combine, final, empty, ...) std::optional<double>(empty),
#include "tables/reduce.def"
};

[[noreturn]] void fail_empty(std::string_view name, const Tensor& x) {
  fail(ErrorKind::EmptyTensor, name, "the reduced axes of ", x.describe(),
       " hold no elements; at least one is needed");
}

Tensor reduce(ReduceOp op, std::string_view name, Accept accept, const Tensor& x, const Axes* axes,
              bool keepdim) try {
  const uint32_t mask = mask_of(axes, x, name);
  ops::check_dtype(name, x, accept);
  const Reduced to(x.shape(), mask, keepdim);
  if (to.count == 0 && to.kept.elem_count() > 0) {
    const std::optional<double> value = kOverNothing[static_cast<size_t>(op)];
    if (!value) fail_empty(name, x);
    return dtype_is_int(x.dtype())
               ? Tensor::full(to.shown, static_cast<int64_t>(*value), x.dtype(), x.device())
               : Tensor::full(to.shown, *value, x.dtype(), x.device());
  }
  const Tensor out = ops::empty_on(x, to.kept, x.dtype());
  if (out.elem_count() > 0) ops::backend_of(x).reduce(op, ops::operand(x), mask, ops::target(out));
  return keepdim ? out.with_layout(Layout(to.shown)) : out;
} catch (...) {
  ops::rethrow_as(name, {x});
}

Tensor arg_reduce(ArgReduceOp op, std::string_view name, const Tensor& x, const Axes* axes,
                  bool keepdim) try {
  const uint32_t mask = mask_of(axes, x, name);
  ops::check_dtype(name, x, Accept::Number);
  const Reduced to(x.shape(), mask, keepdim);
  if (to.count == 0 && to.kept.elem_count() > 0) fail_empty(name, x);
  if (to.count > int64_t{UINT32_MAX})
    fail(ErrorKind::TooLarge, name, to.count, " elements of ", x.describe(),
         " make one result; indices are u32, so at most ", UINT32_MAX);
  const Tensor out = ops::empty_on(x, to.kept, DType::U32);
  if (out.elem_count() > 0) ops::backend_of(x).arg_reduce(op, ops::operand(x), mask, ops::target(out));
  return keepdim ? out.with_layout(Layout(to.shown)) : out;
} catch (...) {
  ops::rethrow_as(name, {x});
}

}  // namespace

#define BW_REDUCE(Name, method, dtypes, ...)                                       \
  Tensor Tensor::method(const Axes& axes, bool keepdim) const {                    \
    return reduce(ReduceOp::Name, #method, Accept::dtypes, *this, &axes, keepdim); \
  }                                                                                \
  Tensor Tensor::method##_all() const {                                            \
    return reduce(ReduceOp::Name, #method, Accept::dtypes, *this, nullptr, false); \
  }
#define BW_ARG_REDUCE(Name, method, ...)                                  \
  Tensor Tensor::method(const Axes& axes, bool keepdim) const {           \
    return arg_reduce(ArgReduceOp::Name, #method, *this, &axes, keepdim); \
  }                                                                       \
  Tensor Tensor::method##_all() const {                                   \
    return arg_reduce(ArgReduceOp::Name, #method, *this, nullptr, false); \
  }
#include "tables/reduce.def"

}  // namespace beeswax
