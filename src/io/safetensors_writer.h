// SPDX-License-Identifier: Apache-2.0
// SafetensorsWriter: writes safetensors files. Tensors are sorted by the size of their elements, then by
// name, and the data begins at a multiple of 64 bytes; so every tensor is aligned to its elements, and the
// same tensors give the same file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::io {

class BW_API SafetensorsWriter {
 public:
  /// InvalidArgument for a key that is there already.
  void set_metadata(std::string_view key, std::string_view value);
  /// Keeps the tensor until the file is written. InvalidArgument for a name that is there already or
  /// "__metadata__".
  void add(std::string_view name, const Tensor& x);

  /// The whole file in memory. InvalidArgument for names and metadata that are not UTF-8.
  std::vector<std::byte> to_bytes() const;
  /// To a file that appears under its name only once it is whole. Io where that fails.
  void write(const std::string& path) const;

 private:
  std::vector<const std::pair<const std::string, Tensor>*> sorted() const;
  std::string head() const;
  template <class F>
  void emit(F&& put) const;

  std::map<std::string, std::string> metadata_;
  std::map<std::string, Tensor> tensors_;  // dense, on the CPU
};

}  // namespace beeswax::io
