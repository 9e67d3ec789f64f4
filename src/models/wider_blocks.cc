// SPDX-License-Identifier: Apache-2.0
#include "models/wider_blocks.h"

#include <cstring>

#include "core/fail.h"
#include "quant/iq4_nl.h"

namespace beeswax::models {
namespace {

template <class From, class To>
std::vector<std::byte> widen_all(std::span<const std::byte> blocks) {
  const size_t count = blocks.size() / sizeof(From);
  std::vector<std::byte> out(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, blocks.data() + i * sizeof(From), sizeof(From));
    const To to = quant::widen(from);
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof(To));
  }
  return out;
}

}  // namespace

std::vector<std::byte> wider_blocks(const io::GgmlType& type, std::span<const std::byte> blocks) {
#define BW_GGML_WIDER(of, Block, format) \
  if (type.name == #of) return widen_all<quant::Block, quant::format>(blocks);
#include "tables/ggml_types.def"
  fail(ErrorKind::Internal, "load", "no wider blocks for ", type.name);
}

uint64_t computed_bytes(const io::GgufTensor& tensor) {
  if (!tensor.type->wider) return tensor.bytes.size();
  return quant_bytes(*tensor.type->wider, static_cast<size_t>(tensor.shape.elem_count()));
}

}  // namespace beeswax::models
