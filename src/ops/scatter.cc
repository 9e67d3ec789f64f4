// SPDX-License-Identifier: Apache-2.0
#include "ops/scatter.h"

namespace beeswax::ops {

void check_fits(std::string_view operation, std::string_view name, const Tensor& part, const Tensor& whole,
                int axis) {
  bool fits = part.rank() == whole.rank();
  for (int i = 0; i < whole.rank() && fits; ++i) fits = i == axis || part.shape()[i] <= whole.shape()[i];
  if (!fits)
    fail(ErrorKind::ShapeMismatch, operation, "the ", name, " ", part.describe(), " must have the rank of ",
         whole.describe(), " and, but for axis ", axis, ", no size larger than there");
}

int check_scatter(std::string_view operation, ScatterMode mode, const Tensor& to, const Tensor& ids,
                  const Tensor& source, int axis) {
  const int at = to.shape().axis(axis, operation);
  check_dtype(operation, ids, Accept::Int);
  check_same_device(operation, to, ids);
  check_same_dtype(operation, to, source);
  check_same_device(operation, to, source);
  if (mode == ScatterMode::Add) check_dtype(operation, to, Accept::Number);
  check_not_packed(operation, to);
  if (!(ids.shape() == source.shape()))
    fail(ErrorKind::ShapeMismatch, operation, "the ids ", ids.describe(), " and the source ",
         source.describe(), " must have one shape");
  check_fits(operation, "source", source, to, at);
  return at;
}

void check_slice(std::string_view operation, const Tensor& to, const Tensor& source, int axis,
                 int64_t start) {
  check_same_dtype(operation, to, source);
  check_same_device(operation, to, source);
  check_not_packed(operation, to);
  bool fits = source.rank() == to.rank();
  for (int i = 0; i < to.rank() && fits; ++i) fits = i == axis || source.shape()[i] == to.shape()[i];
  if (!fits)
    fail(ErrorKind::ShapeMismatch, operation, "the source ", source.describe(), " does not go with ",
         to.describe(), "; only axis ", axis, " may differ");
  const int64_t size = to.shape()[axis];
  if (start < 0 || start > size || source.shape()[axis] > size - start)
    fail(ErrorKind::InvalidArgument, operation, "the source ", source.describe(), " at ", start,
         " does not fit axis ", axis, " of ", to.describe(), " (accepted: a start from 0, and at most ", size,
         " - the source's size)");
}

void write_slice(const Tensor& to, const Tensor& source, int axis, int64_t start) {
  if (source.elem_count() == 0) return;
  const Tensor slice = to.with_layout(to.layout().narrow(axis, start, source.shape()[axis]));
  backend_of(to).copy(operand(source), target(slice));
}

}  // namespace beeswax::ops
