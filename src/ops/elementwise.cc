// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: one definition per table row, and the few that take more than a row says.
#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

#include "core/broadcast.h"
#include "ops/common.h"

namespace beeswax {
namespace {

using ops::Accept;

Tensor unary(UnaryOp op, std::string_view name, Accept accept, const Tensor& x, double param) try {
  ops::check_dtype(name, x, accept);
  Tensor out = ops::empty_on(x, x.shape(), x.dtype());
  if (out.elem_count() > 0) ops::backend_of(x).unary(op, ops::operand(x), param, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as(name, {x});
}

// Shapes, dtypes and devices of a pair, checked; the layouts broadcast to the common shape.
struct Pair {
  Layout a, b;
  Tensor out;
  Pair(std::string_view name, Accept accept, const Tensor& x, const Tensor& y, DType dtype) {
    ops::check_same_dtype(name, x, y);
    ops::check_dtype(name, x, accept);
    ops::check_same_device(name, x, y);
    if (x.shape() == y.shape()) {  // the usual case, without the work of the others
      a = x.layout();
      b = y.layout();
      out = ops::empty_on(x, x.shape(), dtype);
      return;
    }
    const Shape shape =
        broadcast_shapes(x.shape(), y.shape(), name, dtype_name(x.dtype()), dtype_name(y.dtype()));
    a = x.layout().broadcast_as(shape, name);
    b = y.layout().broadcast_as(shape, name);
    out = ops::empty_on(x, shape, dtype);
  }
};

Tensor binary(BinaryOp op, std::string_view name, Accept accept, const Tensor& x, const Tensor& y) try {
  const Pair pair(name, accept, x, y, x.dtype());
  if (pair.out.elem_count() > 0)
    ops::backend_of(x).binary(op, ops::argument(x, pair.a), ops::argument(y, pair.b), ops::target(pair.out));
  return pair.out;
} catch (...) {
  ops::rethrow_as(name, {x, {"other", y}});
}

Tensor binary(BinaryOp op, std::string_view name, Accept accept, const Tensor& x, const Scalar& y,
              bool y_first) try {
  ops::check_dtype(name, x, accept);
  const Argument number = ops::argument(y.to(x.dtype(), name), x.dtype());
  const Argument tensor = ops::argument(x, x.layout());
  Tensor out = ops::empty_on(x, x.shape(), x.dtype());
  if (out.elem_count() > 0)
    ops::backend_of(x).binary(op, y_first ? number : tensor, y_first ? tensor : number, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as(name, {x});
}

Tensor gated(UnaryOp op, std::string_view name, const Tensor& x, const Tensor& factor) try {
  const Pair pair(name, Accept::Float, x, factor, x.dtype());
  if (pair.out.elem_count() == 0 ||
      ops::backend_of(x).gated(op, ops::operand(x, pair.a), ops::operand(factor, pair.b),
                               ops::target(pair.out)))
    return pair.out;
  return unary(op, name, Accept::Float, x, 0) * factor;
} catch (...) {
  ops::rethrow_as(name, {x, {"factor", factor}});
}

Tensor compare(CompareOp op, std::string_view name, const Tensor& x, const Tensor& y) try {
  const Pair pair(name, Accept::Number, x, y, DType::U8);
  if (pair.out.elem_count() > 0)
    ops::backend_of(x).compare(op, ops::argument(x, pair.a), ops::argument(y, pair.b), ops::target(pair.out));
  return pair.out;
} catch (...) {
  ops::rethrow_as(name, {x, {"other", y}});
}

Tensor compare(CompareOp op, std::string_view name, const Tensor& x, const Scalar& y) try {
  ops::check_dtype(name, x, Accept::Number);
  Tensor out = ops::empty_on(x, x.shape(), DType::U8);
  if (out.elem_count() > 0)
    ops::backend_of(x).compare(op, ops::argument(x, x.layout()),
                               ops::argument(y.to(x.dtype(), name), x.dtype()), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as(name, {x});
}

}  // namespace

#define BW_UNARY(Name, method, dtypes, ...) \
  Tensor Tensor::method() const { return unary(UnaryOp::Name, #method, Accept::dtypes, *this, 0); }
#define BW_UNARY_PARAM(Name, method, param, dtypes, ...)                \
  Tensor Tensor::method(double param) const {                           \
    return unary(UnaryOp::Name, #method, Accept::dtypes, *this, param); \
  }
#include "tables/unary.def"

#define BW_BINARY(Name, method, dtypes, ...)                                     \
  Tensor Tensor::method(const Tensor& other) const {                             \
    return binary(BinaryOp::Name, #method, Accept::dtypes, *this, other);        \
  }                                                                              \
  Tensor Tensor::method(const Scalar& other) const {                             \
    return binary(BinaryOp::Name, #method, Accept::dtypes, *this, other, false); \
  }
#define BW_COMPARE(Name, method, ...)                       \
  Tensor Tensor::method(const Tensor& other) const {        \
    return compare(CompareOp::Name, #method, *this, other); \
  }                                                         \
  Tensor Tensor::method(const Scalar& other) const { return compare(CompareOp::Name, #method, *this, other); }
#include "tables/binary.def"

Tensor Tensor::cmp(const Tensor& other, CompareOp op) const { return compare(op, "cmp", *this, other); }
Tensor Tensor::cmp(const Scalar& other, CompareOp op) const { return compare(op, "cmp", *this, other); }

Tensor Tensor::swiglu(const Tensor& factor) const { return gated(UnaryOp::Silu, "swiglu", *this, factor); }
Tensor Tensor::geglu(const Tensor& factor) const { return gated(UnaryOp::Gelu, "geglu", *this, factor); }

#define BW_OPERATOR(symbol, Name, method)                               \
  Tensor operator symbol(const Scalar& a, const Tensor& b) {            \
    return binary(BinaryOp::Name, #method, Accept::Number, b, a, true); \
  }
BW_OPERATOR(+, Add, add)
BW_OPERATOR(-, Sub, sub)
BW_OPERATOR(*, Mul, mul)
BW_OPERATOR(/, Div, div)
#undef BW_OPERATOR

Tensor Tensor::affine(const Scalar& mul, const Scalar& add) const try {
  ops::check_dtype("affine", *this, Accept::Number);
  // The backend computes narrow floats in f32, and the numbers stay in it too.
  const DType as = dtype_is_int(dtype()) || dtype() == DType::F64 ? dtype() : DType::F32;
  const Scalar factor = mul.to(as, "affine");
  const Scalar summand = add.to(as, "affine");
  Tensor out = ops::empty_on(*this, shape(), dtype());
  if (out.elem_count() > 0)
    ops::backend_of(*this).affine(ops::operand(*this), factor, summand, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("affine", {*this});
}

namespace {

// Integers to multiples of 10^-decimals, halves away from zero, saturating.
Tensor round_digits(const Tensor& x, int decimals) {
  constexpr int kMost = 19;  // 10^19 is beyond i64, and half of it is not
  if (decimals < -kMost) return x.zeros_like();
  int64_t half = 5;
  for (int i = -1; i > decimals; --i) half *= 10;
  const Tensor wide = x.to_dtype(DType::I64);  // the power need not be a value of x's dtype
  const Tensor limit = x.ge(0).where_cond(Tensor::scalar(INT64_MAX, DType::I64, x.device()),
                                          Tensor::scalar(INT64_MIN, DType::I64, x.device()));
  const auto away_from_zero = [&](const Tensor& rest) {
    return rest.ge(half).to_dtype(DType::I64) - rest.le(-half).to_dtype(DType::I64);
  };
  if (decimals == -kMost)
    return away_from_zero(wide).ne(0).where_cond(limit, wide.zeros_like()).to_dtype(x.dtype());
  const int64_t power = 2 * half;
  const Tensor count = wide / power + away_from_zero(wide - wide / power * power);
  const Tensor rounded = count * power;
  return (rounded / power).eq(count).where_cond(rounded, limit).to_dtype(x.dtype());
}

// 10^exponent as the nearest double, infinite beyond the largest.
double power_of_ten(int64_t exponent) {
  const std::string text = join_text("1e", std::min<int64_t>(exponent, 400));
  double power = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), power);
  return read.ec == std::errc::result_out_of_range ? HUGE_VAL : power;
}

}  // namespace

Tensor Tensor::round_to(int decimals) const try {
  ops::check_dtype("round_to", *this, ops::Accept::Number);
  if (dtype_is_int(dtype())) return decimals >= 0 ? *this : round_digits(*this, decimals);
  if (dtype_bits(dtype()) < 32) return to_dtype(DType::F32).round_to(decimals).to_dtype(dtype());
  const double largest = dtype() == DType::F32 ? FLT_MAX : DBL_MAX;
  const double power = power_of_ten(std::abs(int64_t{decimals}));
  if (decimals < 0) {
    // Half of a power beyond the dtype is more than any of its numbers.
    if (power <= largest) return (*this / power).round() * power;
    return abs().le(largest).where_cond(*this * 0, *this);
  }
  // From here on 10^-decimals is less than the distance between any two of the dtype's numbers.
  if (decimals >= (dtype() == DType::F32 ? 45 : 324)) return *this;
  // Only subnormal numbers have digits there.
  if (power > largest && dtype() == DType::F32)
    return to_dtype(DType::F64).round_to(decimals).to_dtype(DType::F32);
  // From here on a scaled number is whole: x has no digit that far to the right.
  const double whole = dtype() == DType::F32 ? 0x1p24 : 0x1p53;
  const bool split = power > largest;
  const double first = split ? power_of_ten(decimals - DBL_MAX_10_EXP) : power;
  const double second = power_of_ten(DBL_MAX_10_EXP);
  const Tensor scaled = split ? *this * first * second : *this * first;
  const Tensor rounded = scaled.round() / first;
  return scaled.abs().lt(whole).where_cond(split ? rounded / second : rounded, *this);
} catch (...) {
  ops::rethrow_as("round_to", {*this});
}

Tensor Tensor::where_cond(const Tensor& on_true, const Tensor& on_false) const try {
  ops::check_dtype("where_cond", *this, Accept::Int);
  ops::check_same_dtype("where_cond", on_true, on_false);
  ops::check_dtype("where_cond", on_true, Accept::Number);
  ops::check_same_device("where_cond", *this, on_true);
  ops::check_same_device("where_cond", on_true, on_false);
  if (!broadcasts(shape(), on_true.shape()) || !broadcasts(shape(), on_false.shape()) ||
      !broadcasts(on_true.shape(), on_false.shape()))
    fail(ErrorKind::ShapeMismatch, "where_cond", "cannot broadcast the condition ", describe(), ", on_true ",
         on_true.describe(), " and on_false ", on_false.describe(),
         "; accepted: sizes that are equal or 1, counted from the last axis");
  const Shape to = broadcast_shapes(broadcast_shapes(shape(), on_true.shape(), "where_cond"),
                                    on_false.shape(), "where_cond");
  const Layout condition = layout().broadcast_as(to, "where_cond");
  const Layout yes = on_true.layout().broadcast_as(to, "where_cond");
  const Layout no = on_false.layout().broadcast_as(to, "where_cond");
  Tensor out = ops::empty_on(on_true, to, on_true.dtype());
  if (out.elem_count() > 0)
    ops::backend_of(*this).where(ops::operand(*this, condition), ops::operand(on_true, yes),
                                 ops::operand(on_false, no), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("where_cond", {*this, {"on_true", on_true}, {"on_false", on_false}});
}

Tensor Tensor::to_dtype(DType to) const try {
  if (to == dtype()) return *this;
  // Codes are decoded as they lie in memory.
  const Tensor from = dtype_is_storage(dtype()) ? contiguous() : *this;
  Tensor out = ops::empty_on(*this, shape(), to);
  if (out.elem_count() > 0) ops::backend_of(*this).cast(ops::operand(from), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("to_dtype", {*this});
}

}  // namespace beeswax
