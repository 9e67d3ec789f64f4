// SPDX-License-Identifier: Apache-2.0
// A case of tests/model/cases as a GGUF file in memory. The values of its tensors follow from their names, as
// in tools/make_model_cases.py.
#pragma once

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "beeswax/tensor.h"
#include "io/gguf.h"
#include "io/gguf_writer.h"

namespace beeswax::test {

/// 64-bit numbers by position, from a name: splitmix64 behind the FNV-1a hash of the name.
class NameStream {
 public:
  explicit NameStream(const std::string& name) {
    for (const char c : name) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  }
  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [-1, 1), a multiple of 2^-23.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-23f - 1; }

 private:
  uint64_t state_ = 0xCBF29CE484222325u;
};

inline std::vector<std::byte> random_dense(const std::string& name, const Shape& shape, DType dtype,
                                           float spread, float shift) {
  NameStream stream(name);
  std::vector<float> values(static_cast<size_t>(shape.elem_count()));
  for (float& value : values) value = stream.uniform() * spread + shift;
  return Tensor::from_vec(values, shape).to_dtype(dtype).to_bytes();
}

/// Random bytes; at each offset of `halves` every block has an f16 scale near the value.
inline std::vector<std::byte> random_blocks(const std::string& name, size_t blocks, size_t block_bytes,
                                            const nlohmann::json& halves) {
  NameStream stream(name);
  std::vector<std::byte> bytes(blocks * block_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream.next() >> 56);
  NameStream scales(name + "/scales");
  for (size_t block = 0; block < blocks; ++block) {
    const float factor = 1 + scales.uniform() * 0.25f;
    for (const auto& half : halves) {
      const f16 scale(factor * half[1].get<float>());
      std::memcpy(bytes.data() + block * block_bytes + half[0].get<size_t>(), &scale, sizeof(scale));
    }
  }
  return bytes;
}

inline const io::GgmlType& type_named(const std::string& name) {
  uint32_t id = 0;
  while (io::ggml_type(id) == nullptr || io::ggml_type(id)->name != name) ++id;
  return *io::ggml_type(id);
}

/// The bytes of one tensor of a case.
inline std::vector<std::byte> random_bytes(const nlohmann::json& tensor) {
  const std::string name = tensor["name"];
  const Shape shape(tensor["shape"].get<std::vector<int64_t>>());
  const io::GgmlType& type = type_named(tensor["type"]);
  if (tensor.contains("values"))
    return Tensor::from_vec(tensor["values"].get<std::vector<float>>(), shape).to_bytes();
  if (tensor.contains("halves"))
    return random_blocks(name, static_cast<size_t>(shape.elem_count()) / type.block_elements,
                         type.block_bytes, tensor["halves"]);
  return random_dense(name, shape, type.dtype.value(), tensor["spread"], tensor["shift"]);
}

/// The file. `overrides` replaces metadata; null takes it out.
inline std::vector<std::byte> random_model(const nlohmann::json& one,
                                           const nlohmann::json& overrides = nlohmann::json::object()) {
  io::GgufWriter writer;
  nlohmann::json metadata = one["metadata"];
  metadata.update(overrides);
  for (const auto& [key, value] : metadata.items()) {
    if (value.is_null()) continue;
    if (value.is_string())
      writer.set_string(key, value.get<std::string>());
    else if (value.is_boolean())
      writer.set_bool(key, value.get<bool>());
    else if (value.is_array())
      writer.set_i32s(key, value.get<std::vector<int32_t>>());
    else if (value.is_number_integer())
      writer.set_u32(key, value.get<uint32_t>());
    else
      writer.set_f32(key, value.get<float>());
  }
  std::vector<std::vector<std::byte>> kept;  // until the file is written
  for (const auto& tensor : one["tensors"]) {
    kept.push_back(random_bytes(tensor));
    writer.add_tensor(tensor["name"].get<std::string>(), type_named(tensor["type"]).id,
                      Shape(tensor["shape"].get<std::vector<int64_t>>()), kept.back());
  }
  return writer.to_bytes();
}

}  // namespace beeswax::test
