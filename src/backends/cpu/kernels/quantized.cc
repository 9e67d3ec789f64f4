// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/quantized.h"

#include "quant/formats.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class Block>
void dequantize_blocks(const void* blocks, float* out, int64_t count) {
  const auto* block = static_cast<const Block*>(blocks);
  for (int64_t b = 0; b < count; ++b) quant::dequantize(block[b], out + b * Block::kElements);
}

template <class Block>
void quantize_blocks(const float* x, const float* importance, void* blocks, int64_t count) {
  auto* block = static_cast<Block*>(blocks);
  for (int64_t b = 0; b < count; ++b)
    quant::quantize(x + b * Block::kElements,
                    importance == nullptr ? nullptr : importance + b * Block::kElements, block + b);
}

void widen_f16(const uint16_t* from, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = f16_to_float(from[i]);
}
void widen_bf16(const uint16_t* from, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = bf16_to_float(from[i]);
}
void narrow_f16(const float* from, uint16_t* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = f16_from_float(from[i]);
}
void narrow_bf16(const float* from, uint16_t* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = bf16_from_float(from[i]);
}

}  // namespace

const QuantizedKernels& quantized_kernels() {
  static constexpr QuantizedKernels kTable = {
      {
#define BW_QUANT(Name, ...) dequantize_blocks<quant::Name>,
#include "tables/quants.def"
      },
      {
#define BW_QUANT(Name, ...) quantize_blocks<quant::Name>,
#include "tables/quants.def"
      },
      widen_f16,
      widen_bf16,
      narrow_f16,
      narrow_bf16,
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
