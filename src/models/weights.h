// SPDX-License-Identifier: Apache-2.0
// The tensors of a GGUF file as weights.
#pragma once

#include <optional>
#include <string>

#include "io/gguf.h"
#include "nn/linear.h"

namespace beeswax::models {

/// Unsupported where the tensor's type or byte order cannot be computed with.
void check_tensor(const io::GgufFile& file, const io::GgufTensor& tensor);

class Weights {
 public:
  explicit Weights(const io::GgufFile& file) : file_(file) {}

  /// A matrix, dense in f32 or in its blocks. Format where it is missing, of a type we lack, or not `shape`.
  nn::Weight matrix(const std::string& name, const Shape& shape) const;
  /// The same, undefined where missing.
  nn::Weight optional_matrix(const std::string& name, const Shape& shape) const;
  /// A vector in f32.
  Tensor vector(const std::string& name, int64_t size) const;
  Tensor optional_vector(const std::string& name, int64_t size) const;

 private:
  const io::GgufTensor& find(const std::string& name, const Shape& shape) const;
  const io::GgufFile& file_;
};

}  // namespace beeswax::models
