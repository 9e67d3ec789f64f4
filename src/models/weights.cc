// SPDX-License-Identifier: Apache-2.0
#include "models/weights.h"

#include "core/fail.h"

namespace beeswax::models {

void check_tensor(const io::GgufFile& file, const io::GgufTensor& tensor) {
  if (!tensor.type->usable())
    fail(ErrorKind::Unsupported, "load", file.name(), ": tensor '", tensor.name, "' is of type ",
         tensor.type->name, ", which this version does not compute with");
  if (file.reversed())
    fail(ErrorKind::Unsupported, "load", file.name(),
         " holds tensors in the other byte order; convert the file for this machine");
}

const io::GgufTensor& Weights::find(const std::string& name, const Shape& shape) const {
  const io::GgufTensor* tensor = file_.find_tensor(name);
  if (tensor == nullptr) fail(ErrorKind::Format, "load", file_.name(), " has no tensor '", name, "'");
  if (tensor->shape != shape)
    fail(ErrorKind::Format, "load", file_.name(), ": tensor '", name, "' is ", tensor->shape, ", not ",
         shape);
  check_tensor(file_, *tensor);
  return *tensor;
}

nn::Weight Weights::matrix(const std::string& name, const Shape& shape) const {
  const io::GgufTensor& tensor = find(name, shape);
  if (tensor.type->quant) return nn::Weight(QTensor::from_bytes(tensor.bytes, shape, *tensor.type->quant));
  return nn::Weight(Tensor::from_bytes(tensor.bytes, shape, *tensor.type->dtype).to_dtype(DType::F32));
}

nn::Weight Weights::optional_matrix(const std::string& name, const Shape& shape) const {
  return file_.find_tensor(name) == nullptr ? nn::Weight() : matrix(name, shape);
}

Tensor Weights::vector(const std::string& name, int64_t size) const { return matrix(name, {size}).to_f32(); }

Tensor Weights::optional_vector(const std::string& name, int64_t size) const {
  return file_.find_tensor(name) == nullptr ? Tensor() : vector(name, size);
}

}  // namespace beeswax::models
