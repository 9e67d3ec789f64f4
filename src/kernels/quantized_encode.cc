// SPDX-License-Identifier: Apache-2.0
// quantize_<format> for the formats without a scale search: a thread makes a block.
//   floors: bytes of values and blocks over the bandwidth
#include "kernels/quantized.h"

namespace beeswax::gpu {

template <class Block>
BW_DEVICE void quantize_block(const QuantizeArgs& args) {
  const uint32_t at = block() * kQuantizeThreads + thread();
  if (at >= args.count) return;
  quant::quantize(args.x + uint64_t{at} * Block::kElements, nullptr, static_cast<Block*>(args.blocks) + at);
}

#define BW_QUANTIZE(Name, name) \
  BW_KERNEL(kQuantizeThreads) quantize_##name(QuantizeArgs args) { quantize_block<quant::Name>(args); }
BW_QUANTIZE(Q4_0, q4_0)
BW_QUANTIZE(Q4_1, q4_1)
BW_QUANTIZE(Q5_0, q5_0)
BW_QUANTIZE(Q5_1, q5_1)
BW_QUANTIZE(Q8_0, q8_0)
BW_QUANTIZE(Q8_1, q8_1)
BW_QUANTIZE(Q8_K, q8_k)

}  // namespace beeswax::gpu
