// SPDX-License-Identifier: Apache-2.0
#include "models/row_order.h"

#include <algorithm>
#include <cstring>

#include "core/fail.h"
#include "models/metadata.h"

namespace beeswax::models {

RowOrder::RowOrder(const io::GgufFile& file) : file_(file.name()) {
  constexpr std::string_view kPairs = "rope.pairs";
  if (file.find("general.architecture") == nullptr) return;
  const Metadata metadata(file);
  if (!metadata.has(kPairs) || metadata.text(kPairs, "") != "halves") return;
  key_ = metadata.name_of(kPairs);
  query_heads_ = metadata.size("attention.head_count");
  key_heads_ = metadata.size("attention.head_count_kv", query_heads_);
  rotated_ = metadata.has("rope.dimension_count") ? metadata.size("rope.dimension_count") : 0;
}

int64_t RowOrder::heads_of(const io::GgufTensor& tensor) const {
  if (key_.empty()) return 0;
  for (const std::string_view end : {".weight", ".bias"}) {
    if (tensor.name.ends_with(std::string(".attn_q").append(end))) return query_heads_;
    if (tensor.name.ends_with(std::string(".attn_k").append(end))) return key_heads_;
  }
  return 0;
}

std::vector<std::byte> RowOrder::apply(const io::GgufTensor& tensor, std::span<const std::byte> bytes) const {
  const int64_t heads = heads_of(tensor), rows = tensor.shape[0];
  const int64_t size = rows / heads, rotated = rotated_ > 0 ? rotated_ : size;
  if (rows % heads != 0 || rotated > size || rotated % 2 != 0 ||
      bytes.size() % static_cast<size_t>(std::max<int64_t>(1, rows)) != 0)
    fail(ErrorKind::Format, "quantize", file_, ": tensor '", tensor.name, "' has ", rows, " rows for ", heads,
         " heads, of which ", rotated, " rotate");
  if (rows == 0) return {};
  const size_t row_bytes = bytes.size() / static_cast<size_t>(rows);
  std::vector<std::byte> out(bytes.size());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = row % size;
    int64_t from = at;
    if (at < rotated) from = at % 2 * (rotated / 2) + at / 2;
    std::memcpy(out.data() + static_cast<size_t>(row) * row_bytes,
                bytes.data() + static_cast<size_t>(row - at + from) * row_bytes, row_bytes);
  }
  return out;
}

}  // namespace beeswax::models
