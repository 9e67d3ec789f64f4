// SPDX-License-Identifier: Apache-2.0
// What every operation does before it calls a backend: names for operands, checks with their messages.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "beeswax/tensor.h"
#include "core/fail.h"

namespace beeswax::ops {

inline Operand operand(const Tensor& x) { return {&x.storage(), &x.layout(), x.dtype()}; }
inline Operand operand(const Tensor& x, const Layout& layout) { return {&x.storage(), &layout, x.dtype()}; }
inline Target target(const Tensor& x) { return {&x.storage(), &x.layout(), x.dtype()}; }
inline Argument argument(const Tensor& x, const Layout& layout) { return {operand(x, layout), 0}; }
inline Argument argument(const Scalar& value, DType dtype) { return {{nullptr, nullptr, dtype}, value}; }
inline Backend& backend_of(const Tensor& x) { return backend_for(x.device()); }

/// Submits what writes to x's storage in place: behind what other streams do with it, and counted in its
/// version.
template <class Submit>
void write_in_place(const Tensor& x, const Submit& submit) {
  Backend& backend = backend_of(x);
  backend.begin_write(x.storage());
  submit();
  backend.end_write(x.storage());
  x.storage().bump_version();
}

/// An argument of an operation, as errors show it; made where there is one.
struct Given {
  std::string_view name;  // empty for the tensor whose method it is
  bool defined;
  std::string text;
  template <class T>  // a Tensor or a QTensor
  Given(std::string_view n, const T& x)
      : name(n), defined(x.defined()), text(defined ? x.describe() : std::string()) {}
  template <class T>
  Given(const T& x) : Given("", x) {}  // NOLINT(google-explicit-constructor)
};

/// Throws what an operation caught, in the handler around its body: what was wrong with sizes, memory or
/// arguments names this operation, not one that it is made of, and the arguments.
[[noreturn]] void rethrow_as(std::string_view operation, std::initializer_list<Given> arguments);

/// A new dense tensor on x's device.
inline Tensor empty_on(const Tensor& x, const Shape& shape, DType dtype) {
  return Tensor::empty(shape, dtype, x.device());
}
/// The same numbers with a dense last axis.
inline Tensor dense_rows(const Tensor& x) {
  return x.layout().stride(x.rank() - 1) == 1 ? x : x.contiguous();
}

/// Bytes of a dense tensor; TooLarge beyond 2^60 elements.
size_t checked_bytes(const Shape& shape, DType dtype);
/// a + b and a * b of sizes that are not negative; TooLarge where x's result would have more than 2^63
/// positions along an axis.
int64_t add_sizes(std::string_view operation, const Tensor& x, int64_t a, int64_t b);
int64_t multiply_sizes(std::string_view operation, const Tensor& x, int64_t a, int64_t b);
/// Elements of `to`, the shape of what an operation makes of x; TooLarge where they cannot be counted.
int64_t count_elements(std::string_view operation, const Tensor& x, const Shape& to);

/// What an axis of this size takes as a position, for the end of a message.
std::string accepted_positions(int64_t size);

/// Which dtypes an operation takes, for checks and their messages.
enum class Accept { Number, Float, Int };

/// UnsupportedDType unless x's dtype is accepted.
void check_dtype(std::string_view operation, const Tensor& x, Accept accept);
/// DTypeMismatch and DeviceMismatch unless both are alike.
void check_same_dtype(std::string_view operation, const Tensor& a, const Tensor& b);
void check_same_device(std::string_view operation, const Tensor& a, const Tensor& b);
/// ShapeMismatch unless x has that rank; `expected` describes the axes, as "[batch, channels, length]".
void check_rank(std::string_view operation, const Tensor& x, int rank, std::string_view expected);
/// ids.shape + [columns]; InvalidArgument where that is one axis too many.
Shape embedded_shape(const Tensor& ids, int64_t columns);
/// UnsupportedDType for types below a byte, whose elements have no address.
void check_not_packed(std::string_view operation, const Tensor& x);

}  // namespace beeswax::ops
