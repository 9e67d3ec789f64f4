// SPDX-License-Identifier: Apache-2.0
// The order of the rows of query and key. Files of the architecture llama hold a head's rows so that
// neighbours rotate together; folders of transformers so that its halves do (`llama.rope.pairs` = `halves`,
// which only folders have).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/gguf.h"

namespace beeswax::models {

class RowOrder {
 public:
  explicit RowOrder(const io::GgufFile& file);
  /// The metadata value that no written file has; empty where there is none.
  const std::string& key() const { return key_; }
  /// Whether the rows of `tensor` come in another order in GGUF files.
  bool changes(const io::GgufTensor& tensor) const { return heads_of(tensor) > 0; }
  /// `bytes`, all rows of `tensor` whatever their type, in that order. Format where they are no whole heads.
  std::vector<std::byte> apply(const io::GgufTensor& tensor, std::span<const std::byte> bytes) const;

 private:
  int64_t heads_of(const io::GgufTensor& tensor) const;

  std::string file_, key_;
  int64_t query_heads_ = 0, key_heads_ = 0, rotated_ = 0;
};

}  // namespace beeswax::models
