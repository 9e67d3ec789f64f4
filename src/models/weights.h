// SPDX-License-Identifier: Apache-2.0
// The tensors of a GGUF file as weights.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf.h"
#include "nn/linear.h"

namespace beeswax::models {

/// Unsupported where the tensor's type or byte order cannot be computed with.
void check_tensor(const io::GgufFile& file, const io::GgufTensor& tensor);

class BW_API Weights {
 public:
  /// What is read: everything, or to check a file only vectors, while matrices stay undefined.
  enum class Read { All, Vectors };
  /// On the CPU the tensors of a file stay in it where they can; for another device they are copied there.
  explicit Weights(const io::GgufFile& file, const Device& device = {}, Read read = Read::All)
      : file_(file), device_(device), read_(read) {}
  virtual ~Weights() = default;
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  const io::GgufFile& file() const { return file_; }
  const Device& device() const { return device_; }
  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }
  /// A matrix, dense in f32, f16 or bf16, or in its blocks. Format where it is missing, of a type we lack, or
  /// not `shape`.
  nn::Weight matrix(const std::string& name, const Shape& shape) const;
  /// The same, undefined where missing.
  nn::Weight optional_matrix(const std::string& name, const Shape& shape) const;
  /// `count` rows of a matrix, from `first` on.
  nn::Weight rows(const std::string& name, const Shape& shape, int64_t first, int64_t count) const;
  /// The matrices [rows, columns] of a stack [n, rows, columns].
  std::vector<nn::Weight> stack(const std::string& name, const Shape& shape) const;
  /// A vector in f32.
  Tensor vector(const std::string& name, int64_t size) const;
  Tensor optional_vector(const std::string& name, int64_t size) const;
  /// Unsupported where the file holds tensors that were never asked for: it is of a kind that would not be
  /// computed as it was meant.
  void check_all_used() const;

 protected:
  struct Part {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  // null: good until the next call only
  };
  /// `count` bytes of a tensor from `first` on, whole blocks.
  virtual Part bytes_of(const io::GgufTensor& tensor, size_t first, size_t count) const {
    return {tensor.bytes.subspan(first, count), tensor.owner};
  }

 private:
  const io::GgufTensor& find(const std::string& name, const Shape& shape) const;
  nn::Weight part_of(const io::GgufTensor& tensor, const Shape& shape, int64_t first) const;
  const io::GgufFile& file_;
  Device device_;
  Read read_;
  mutable std::set<std::string_view> used_;
};

}  // namespace beeswax::models
