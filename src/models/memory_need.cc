// SPDX-License-Identifier: Apache-2.0
#include "models/memory_need.h"

#include "models/decoder.h"
#include "models/wider_blocks.h"

namespace beeswax::models {

MemoryNeed memory_need(const io::GgufFile& file, int64_t positions, DType cache_type) {
  MemoryNeed need;
  // Blocks, f16 and bf16 stay as they are, but for vectors; everything else is f32 once it is loaded.
  for (const io::GgufTensor& tensor : file.tensors()) {
    const bool narrow = tensor.type->dtype == DType::F16 || tensor.type->dtype == DType::BF16;
    const bool stays = tensor.type->in_blocks() || (narrow && tensor.shape.rank() > 1);
    need.weights += stays ? computed_bytes(tensor) : 4 * static_cast<uint64_t>(tensor.shape.elem_count());
  }
  const ModelInfo info = read_decoder(Metadata(file)).info;
  const int64_t bits = 2 * info.layers * info.kv_heads * info.head_size * dtype_bits(cache_type);
  need.cache = static_cast<uint64_t>(bits / 8) * static_cast<uint64_t>(positions);
  return need;
}

}  // namespace beeswax::models
