// SPDX-License-Identifier: Apache-2.0
// A case of tests/model/cases as the Hugging Face folder that transformers makes of it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beeswax/tensor.h"
#include "io/safetensors_writer.h"
#include "support/random_model.h"

namespace beeswax::test {

using HfTensors = std::map<std::string, Tensor>;

/// "{}" in `pattern` replaced by the numbers in order.
inline std::string with_numbers(std::string pattern, const std::vector<int64_t>& numbers) {
  for (const int64_t number : numbers) {
    const size_t at = pattern.find("{}");
    if (at != std::string::npos) pattern.replace(at, 2, std::to_string(number));
  }
  return pattern;
}

/// What a tensor of the folder has for the file's tensor `x`; `index` is its place in a stack.
inline Tensor made_from(const Tensor& x, const std::string& way, int64_t index,
                        const nlohmann::json& config) {
  if (way == "less 1") return x - 1.0;
  if (way == "part") return x.get(index);
  if (way == "same") return x;
  // Pairs of neighbours become the halves of a head.
  const int64_t heads = config[way == "heads" ? "num_attention_heads" : "num_key_value_heads"];
  Shape shape = x.shape();
  const int64_t size = x.dim(0) / heads, rest = x.elem_count() / x.dim(0);
  return x.reshape({heads, size / 2, 2, rest}).transpose(1, 2).contiguous().reshape(shape);
}

/// The tensors of a case's folder by their names there.
inline HfTensors hf_tensors(const nlohmann::json& one) {
  std::map<std::string, Tensor> in;
  for (const auto& tensor : one["tensors"])
    in[tensor["name"]] =
        Tensor::from_bytes(random_bytes(tensor), Shape(tensor["shape"].get<std::vector<int64_t>>()),
                           type_named(tensor["type"]).dtype.value());
  const nlohmann::json& config = one["folder"]["config"];
  const int64_t layers = config["num_hidden_layers"], experts = config.value("num_local_experts", 1);
  HfTensors out;
  for (const auto& [name, origin] : one["folder"]["names"].items()) {
    const std::string from = origin[0], way = origin[1];
    for (int64_t layer = 0; layer < layers; ++layer)
      for (int64_t expert = 0; expert < experts; ++expert)
        out[with_numbers(name, {layer, expert})] =
            made_from(in.at(with_numbers(from, {layer, expert})), way, expert, config);
  }
  return out;
}

/// A safetensors file.
inline std::vector<std::byte> safetensors_bytes(const HfTensors& tensors) {
  io::SafetensorsWriter writer;
  for (const auto& [name, tensor] : tensors) writer.add(name, tensor);
  return writer.to_bytes();
}

/// config.json as version 4 of transformers writes it.
inline nlohmann::json old_config(const nlohmann::json& one) {
  nlohmann::json config = one["folder"]["config"];
  config.erase("rope_parameters");
  config.erase("dtype");
  config["torch_dtype"] = "float32";
  config.update(one["folder"]["old_rope"]);
  return config;
}

}  // namespace beeswax::test
