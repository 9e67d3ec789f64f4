// SPDX-License-Identifier: Apache-2.0
// quantize_<format> and quantize_<format>_weighted for the formats with blocks of 32, and Q8_K: a thread
// makes a block.
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

// The same where elements have weights: a search, and so registers that the formulas do not need.
template <class Block>
BW_DEVICE void quantize_weighted(const QuantizeArgs& args) {
  const uint32_t at = block() * kQuantizeThreads + thread();
  if (at >= args.count) return;
  quant::quantize(args.x + uint64_t{at} * Block::kElements,
                  args.importance + uint64_t{at % args.per_row} * Block::kElements,
                  static_cast<Block*>(args.blocks) + at);
}

#define BW_QUANTIZE_WEIGHTED(Name, name)                                      \
  BW_KERNEL(kQuantizeThreads) quantize_##name##_weighted(QuantizeArgs args) { \
    quantize_weighted<quant::Name>(args);                                     \
  }
BW_QUANTIZE_WEIGHTED(Q4_0, q4_0)
BW_QUANTIZE_WEIGHTED(Q4_1, q4_1)
BW_QUANTIZE_WEIGHTED(Q5_0, q5_0)
BW_QUANTIZE_WEIGHTED(Q5_1, q5_1)

}  // namespace beeswax::gpu
