// SPDX-License-Identifier: Apache-2.0
// dequantize_<format>: blocks to f32, f16 or bf16; a thread makes neighbouring values of one block.
//   floors: bytes of blocks and values over the bandwidth
#include "kernels/quantized.h"

namespace beeswax::gpu {

template <class Block>
BW_DEVICE void dequantize(const DequantizeArgs& args) {
  const uint32_t i = block() * kQuantThreads + thread();
  if (i >= args.count) return;
  constexpr uint32_t kThreads = Block::kElements / kDequantizeElements;  // of one block
  const Block& from = static_cast<const Block*>(args.blocks)[i / kThreads];
  const uint32_t first = i % kThreads * kDequantizeElements;
  float value[kDequantizeElements];
  for (int j = 0; j < kDequantizeElements; ++j) value[j] = quant::element(from, static_cast<int>(first) + j);
  store_floats(args.y, uint64_t{i} * kDequantizeElements, args.dtype, value);
}

#define BW_QUANT(Name, name, ...) \
  BW_KERNEL(kQuantThreads) dequantize_##name(DequantizeArgs args) { dequantize<quant::Name>(args); }
#include "tables/quants.def"

}  // namespace beeswax::gpu
