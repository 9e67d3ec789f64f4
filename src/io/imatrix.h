// SPDX-License-Identifier: Apache-2.0
// Importance matrices: for each weight matrix the mean square of every input, as llama.cpp's imatrix tool
// measures it, in its older format of its own (*.dat) or as a GGUF file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::io {

class BW_API Imatrix {
 public:
  /// Io where the file cannot be opened, Format where it is neither format, or holds a number that is
  /// negative or not finite.
  static Imatrix open(const std::string& path);
  static Imatrix from_bytes(std::span<const std::byte> bytes, std::string_view name);

  const std::string& name() const { return name_; }
  size_t size() const { return entries_.size(); }
  const std::map<std::string, std::vector<float>, std::less<>>& entries() const { return entries_; }
  /// By the name of a weight tensor, null where there is none: one number for each column, and for a stack of
  /// matrices as many for each of them.
  const std::vector<float>* find(std::string_view tensor) const;

 private:
  std::string name_;
  std::map<std::string, std::vector<float>, std::less<>> entries_;
};

}  // namespace beeswax::io
