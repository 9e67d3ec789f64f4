// SPDX-License-Identifier: Apache-2.0
// A model of random weights, in any type: for measuring, where no file is needed. Every value is a normal
// number's; norms are ones. The same for the same names and types, on any number of threads.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "io/gguf_writer.h"
#include "models/weights.h"

namespace beeswax::models {

/// A file of metadata and tensors whose bytes nobody wrote: they read as anything, and take no memory until
/// they are.
class BW_API DescribedFile {
 public:
  DescribedFile(const io::GgufWriter& writer, std::string_view name);
  const io::GgufFile& file() const { return *file_; }

 private:
  struct Pages {
    std::byte* data = nullptr;
    size_t size = 0;
    explicit Pages(size_t bytes);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
  };
  Pages pages_;
  std::shared_ptr<const io::GgufFile> file_;
};

/// Bytes for the tensors of a file in place of its own.
class BW_API RandomWeights final : public Weights {
 public:
  explicit RandomWeights(const io::GgufFile& file, const Device& device = {}) : Weights(file, device) {}

 protected:
  Part bytes_of(const io::GgufTensor& tensor, size_t first, size_t count) const override;

 private:
  const std::vector<std::byte>& pool_of(const io::GgmlType& type) const;
  mutable std::map<uint32_t, std::vector<std::byte>> pools_;  // by type
  mutable std::vector<std::byte> bytes_;
};

}  // namespace beeswax::models
