// SPDX-License-Identifier: Apache-2.0
#include "ops/common.h"

namespace beeswax::ops {
namespace {

bool accepts(Accept accept, DType dtype) {
  switch (accept) {
    case Accept::Float:
      return dtype_is_float(dtype);
    case Accept::Int:
      return dtype_is_int(dtype);
    case Accept::Number:
      break;
  }
  return !dtype_is_storage(dtype);
}

}  // namespace

void check_dtype(std::string_view operation, const Tensor& x, Accept accept) {
  if (accepts(accept, x.dtype())) return;
  std::string names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (accepts(accept, dtype)) names.append(names.empty() ? "" : ", ").append(dtype_name(dtype));
  }
  fail(ErrorKind::UnsupportedDType, operation, "not defined for ", x.describe(),
       "; accepted dtypes: ", names);
}

void check_same_dtype(std::string_view operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    fail(ErrorKind::DTypeMismatch, operation, "the dtypes of ", a.describe(), " and ", b.describe(),
         " differ; cast one side with to_dtype");
}

void check_same_device(std::string_view operation, const Tensor& a, const Tensor& b) {
  if (a.device() != b.device())
    fail(ErrorKind::DeviceMismatch, operation, "the devices of ", a.describe(), " and ", b.describe(),
         " differ; move one side with to_device");
}

void check_rank(std::string_view operation, const Tensor& x, int rank, std::string_view expected) {
  if (x.rank() != rank)
    fail(ErrorKind::ShapeMismatch, operation, "expected ", expected, " (rank ", rank, "), got ",
         x.describe());
}

void check_not_packed(std::string_view operation, const Tensor& x) {
  if (dtype_is_storage(x.dtype()) && dtype_bits(x.dtype()) % 8 != 0)
    fail(ErrorKind::UnsupportedDType, operation, x.describe(),
         " is packed below a byte and only moves whole; cast with to_dtype first");
}

}  // namespace beeswax::ops
