// SPDX-License-Identifier: Apache-2.0
#include "models/weights.h"

#include <algorithm>

#include "beeswax/shared_bytes.h"
#include "core/fail.h"
#include "models/wider_blocks.h"

namespace beeswax::models {
namespace {

// Files of the first converters carry the angles of rotary positions, which follow from the metadata.
bool is_superfluous(std::string_view name) {
  return name.ends_with("attn_rot_embd.weight") || name.ends_with("rotary_emb.inv_freq");
}

// Types of weights, for a message.
std::string usable_types() {
  std::string out;
  for (const io::GgmlType& type : io::ggml_types())
    if (type.in_blocks() || (type.dtype && dtype_is_float(*type.dtype)))
      out.append(out.empty() ? "" : ", ").append(type.name);
  return out;
}

}  // namespace

void check_tensor(const io::GgufFile& file, const io::GgufTensor& tensor) {
  if (!tensor.type->usable())
    fail(ErrorKind::Unsupported, "load", file.name(), ": tensor '", tensor.name, "' is of type ",
         tensor.type->name, ", which this version does not compute with; it has: ", usable_types());
  if (file.reversed()) {
    const bool blocks = std::ranges::any_of(
        file.tensors(), [](const io::GgufTensor& t) { return !t.type->dtype.has_value(); });
    fail(ErrorKind::Unsupported, "load", file.name(), " holds tensors in the other byte order; ",
         blocks
             ? "quantized ones are not turned round: take a file for this machine, or the f32, f16 or bf16 "
               "file that it was made of, which `beeswax quantize` reads"
             : "`beeswax quantize` writes a file for this machine, with --type f16 for example");
  }
}

const io::GgufTensor& Weights::find(const std::string& name, const Shape& shape) const {
  const io::GgufTensor* tensor = file_.find_tensor(name);
  if (tensor == nullptr) fail(ErrorKind::Format, "load", file_.name(), " has no tensor '", name, "'");
  if (tensor->shape != shape)
    fail(ErrorKind::Format, "load", file_.name(), ": tensor '", name, "' is ", tensor->shape, ", not ",
         shape);
  check_tensor(file_, *tensor);
  used_.insert(tensor->name);
  return *tensor;
}

// `shape` of the tensor's elements, from row `first` on; a row is what the last axis holds.
nn::Weight Weights::part_of(const io::GgufTensor& tensor, const Shape& shape, int64_t first) const {
  if (read_ == Read::Vectors && tensor.shape.rank() > 1) return {};
  const int64_t rows = tensor.shape.elem_count() / tensor.shape[tensor.shape.rank() - 1];
  const size_t row_bytes = tensor.bytes.size() / static_cast<size_t>(rows);
  const auto count = static_cast<size_t>(shape.elem_count() / shape[shape.rank() - 1]);
  const auto [bytes, owner] = bytes_of(tensor, static_cast<size_t>(first) * row_bytes, count * row_bytes);
  if (tensor.type->wider) {
    const auto wider = std::make_shared<const std::vector<std::byte>>(wider_blocks(*tensor.type, bytes));
    return nn::Weight(
        qtensor_from_shared_bytes(*wider, wider, shape, *tensor.type->wider).to_device(device_));
  }
  if (tensor.type->quant)
    return nn::Weight(qtensor_from_shared_bytes(bytes, owner, shape, *tensor.type->quant).to_device(device_));
  const Tensor dense = tensor_from_shared_bytes(bytes, owner, shape, *tensor.type->dtype).to_device(device_);
  const bool narrow = dense.dtype() == DType::F16 || dense.dtype() == DType::BF16;
  return nn::Weight(narrow ? dense : dense.to_dtype(DType::F32));
}

nn::Weight Weights::matrix(const std::string& name, const Shape& shape) const {
  return part_of(find(name, shape), shape, 0);
}

nn::Weight Weights::optional_matrix(const std::string& name, const Shape& shape) const {
  return has(name) ? matrix(name, shape) : nn::Weight();
}

nn::Weight Weights::rows(const std::string& name, const Shape& shape, int64_t first, int64_t count) const {
  return part_of(find(name, shape), {count, shape[1]}, first);
}

std::vector<nn::Weight> Weights::stack(const std::string& name, const Shape& shape) const {
  const io::GgufTensor& tensor = find(name, shape);
  std::vector<nn::Weight> out;
  for (int64_t i = 0; i < shape[0]; ++i) out.push_back(part_of(tensor, {shape[1], shape[2]}, i * shape[1]));
  return out;
}

Tensor Weights::vector(const std::string& name, int64_t size) const { return matrix(name, {size}).to_f32(); }

Tensor Weights::optional_vector(const std::string& name, int64_t size) const {
  return has(name) ? vector(name, size) : Tensor();
}

void Weights::check_all_used() const {
  for (const io::GgufTensor& tensor : file_.tensors())
    if (!used_.contains(tensor.name) && !is_superfluous(tensor.name))
      fail(ErrorKind::Unsupported, "load", file_.name(), " holds the tensor '", tensor.name,
           "', which models of its architecture do not have here; without it the results would be wrong");
}

}  // namespace beeswax::models
