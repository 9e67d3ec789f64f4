// SPDX-License-Identifier: Apache-2.0
#include "models/quantize_file.h"

#include "beeswax/qtensor.h"
#include "core/fail.h"
#include "io/gguf_writer.h"
#include "models/weights.h"

namespace beeswax::models {
namespace {

// What a file says about its quantization: the version of the block formats, and a name for the mixture.
constexpr std::string_view kFormatVersion = "general.quantization_version", kMixture = "general.file_type";
constexpr uint32_t kOurFormatVersion = 2;

Tensor values_of(const io::GgufTensor& tensor) {
  if (tensor.type->quant)
    return QTensor::from_bytes(tensor.bytes, tensor.shape, *tensor.type->quant).dequantize();
  return Tensor::from_bytes(tensor.bytes, tensor.shape, *tensor.type->dtype);
}

}  // namespace

std::vector<std::string> quantize_file(const io::GgufFile& file, const std::string& path,
                                       const QuantizeFileOptions& options) {
  if (path == file.name())
    fail(ErrorKind::InvalidArgument, "quantize", path, " is the file that is read; write to another one");
  io::GgufWriter writer(file.alignment());
  for (const auto& [key, value] : file.metadata())
    if (key != kFormatVersion && key != kMixture) writer.set(key, value);
  writer.set_u32(kFormatVersion, kOurFormatVersion);
  std::vector<std::string> stayed;
  std::vector<std::vector<std::byte>> blocks;  // what the writer's views look at
  for (const io::GgufTensor& tensor : file.tensors()) {
    const bool outer = tensor.name == "token_embd.weight" || tensor.name == "output.weight";
    const QuantType type = outer ? options.embedding.value_or(options.type) : options.type;
    const bool matrix = tensor.shape.rank() >= 2;
    const QuantTraits& traits = quant_traits(type);
    if (!matrix || tensor.shape[tensor.shape.rank() - 1] % traits.block_elements != 0) {
      if (matrix) stayed.emplace_back(tensor.name);
      writer.add_tensor(tensor.name, tensor.type->id, tensor.shape, tensor.bytes);
      continue;
    }
    check_tensor(file, tensor);
    blocks.push_back(QTensor::quantize(values_of(tensor), type).bytes());
    writer.add_tensor(tensor.name, traits.ggml_id, tensor.shape, blocks.back());
  }
  writer.write(path);
  return stayed;
}

}  // namespace beeswax::models
