// SPDX-License-Identifier: Apache-2.0
// Any bytes as a config.json beside tensors are the GGUF file that they would be, or are refused, and so is
// that file as a model. The config ends at the first zero byte; what is behind it is a safetensors file, and
// stands for one of a tiny Llama where there is nothing.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "models/hf_folder.h"
#include "models/model.h"

using namespace beeswax;

namespace {

// A layer of width 8 with two heads, 12 hidden elements and 16 tokens, in bf16 zeros.
std::vector<std::byte> tiny_tensors() {
  const std::pair<const char*, std::vector<int>> tensors[] = {
      {"model.embed_tokens.weight", {16, 8}},
      {"model.norm.weight", {8}},
      {"model.layers.0.input_layernorm.weight", {8}},
      {"model.layers.0.post_attention_layernorm.weight", {8}},
      {"model.layers.0.self_attn.q_proj.weight", {8, 8}},
      {"model.layers.0.self_attn.k_proj.weight", {4, 8}},
      {"model.layers.0.self_attn.v_proj.weight", {4, 8}},
      {"model.layers.0.self_attn.o_proj.weight", {8, 8}},
      {"model.layers.0.mlp.gate_proj.weight", {12, 8}},
      {"model.layers.0.mlp.up_proj.weight", {12, 8}},
      {"model.layers.0.mlp.down_proj.weight", {8, 12}}};
  std::string header;
  int end = 0;
  for (const auto& [name, shape] : tensors) {
    std::string axes;
    int size = 2;
    for (const int axis : shape) {
      axes += (axes.empty() ? "" : ",") + std::to_string(axis);
      size *= axis;
    }
    header += (header.empty() ? "{\"" : ",\"") + std::string(name) + R"(":{"dtype":"BF16","shape":[)" + axes +
              R"(],"data_offsets":[)" + std::to_string(end) + "," + std::to_string(end + size) + "]}";
    end += size;
  }
  header += "}";
  std::vector<std::byte> file(8 + header.size() + static_cast<size_t>(end));
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::byte> tiny = tiny_tensors();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\0'), size);
  try {
    const io::JsonValue config = io::JsonValue::parse(bytes.substr(0, end), "config.json");
    const auto rest = std::as_bytes(std::span(data, size)).subspan(std::min(end + 1, size));
    const auto tensors =
        io::SafetensorsFile::from_bytes(rest.empty() ? std::span(tiny) : rest, "fuzz.safetensors");
    const auto file = models::assemble_hf(config, *tensors, "fuzz");
    for (const io::GgufTensor& tensor : file->tensors())
      fuzz::require(file->find_tensor(tensor.name) == &tensor, "a name finds its tensor");
    const models::ModelInfo info = models::check_model(*file);
    fuzz::require(info.layers <= static_cast<int64_t>(file->tensors().size()), "layers have tensors");
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::Format || error.kind() == ErrorKind::Unsupported ||
                      error.kind() == ErrorKind::InvalidArgument,
                  "a bad folder is refused");
  }
  return 0;
}
