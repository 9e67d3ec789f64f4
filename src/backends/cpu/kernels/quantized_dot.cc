// SPDX-License-Identifier: Apache-2.0
// Products of quantized weights and activations. This file holds what every level has: preparing activations
// and the portable row product. The vector code (quantized_simd.inc) is included once per instruction set of
// the level, in a namespace of its own, so that v4 holds a variant with and one without VNNI.
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's AVX-512 headers pass deliberately uninitialized vectors to instructions that ignore them.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <type_traits>

#if defined(BW_ISA_v4)
#include "backends/cpu/kernels/amx_unit.h"
#endif
#include "backends/cpu/kernels/quantized.h"
#include "backends/cpu/kernels/request.h"
#include "quant/formats.h"

namespace beeswax::cpu::BW_ISA {
namespace {

struct Activation {
  const int8_t* q;
  const float* scales;
  const int16_t* sums;
  const std::byte* groups;
  BW_MEMBER_FN const Sixteen& sixteen(int64_t i) const { return reinterpret_cast<const Sixteen*>(groups)[i]; }
  BW_MEMBER_FN const Four& four(int64_t i) const { return reinterpret_cast<const Four*>(groups)[i]; }
};

BW_FN Activation view(const std::byte* row, const ActivationLayout& layout) {
  return {reinterpret_cast<const int8_t*>(row), reinterpret_cast<const float*>(row + layout.scale_at),
          reinterpret_cast<const int16_t*>(row + layout.sum_at), row + layout.group_at};
}

// Scales of so many blocks of 32 are made together: a division of one waits for nothing of another.
constexpr int kPrepared = 16;

/// Of a block of 32 activations: what its bytes are multiplied with, and its values to become bytes (0: all
/// bytes are zeros). As the Q8_0 quantizer's, but the scale stays a float, so that no finite activation is
/// too large or too small for it (below 2^-119 it would not be a normal number, and the block becomes zeros).
struct BlockScale {
  float scale, inverse;
};
BW_FN BlockScale scale_of(int32_t amax) {
  const float scale = bit_cast<float>(amax) / 127.0f, inverse = 1.0f / scale;
  const bool finite = amax < quant::kInfinityBits, usual = finite && bit_cast<float>(amax) >= 0x1p-119f;
  return {usual ? scale : finite ? 0.0f : bit_cast<float>(0x7fc00000u), usual ? inverse : 0.0f};
}

/// How many of a row's `all` there are before `end`, a cut between parts or beyond the row.
BW_FN int64_t count_before(int64_t end, int64_t k, int64_t elements, int64_t all) {
  return end < k ? end / elements : all;
}

void prepare_32(const float* x, int64_t k, int64_t begin, int64_t end, std::byte* row) {
  const ActivationLayout layout = activation_layout(false, k);
  auto* q = reinterpret_cast<int8_t*>(row);
  auto* scales = reinterpret_cast<float*>(row + layout.scale_at);
  auto* sums = reinterpret_cast<int16_t*>(row + layout.sum_at);
  const int64_t blocks = count_before(end, k, 32, layout.padded / 32);
  for (int64_t first = begin / 32; first < blocks; first += kPrepared) {
    const int count = static_cast<int>(blocks - first < kPrepared ? blocks - first : kPrepared);
    int32_t amax[kPrepared] = {};
    for (int b = 0; b < count; ++b)
      if ((first + b) * 32 < k) amax[b] = quant::max_abs_bits(x + (first + b) * 32 - begin, 32);
    float scale[kPrepared], inverse[kPrepared];
    for (int b = 0; b < kPrepared; ++b) {
      const BlockScale found = scale_of(amax[b]);
      scale[b] = found.scale;
      inverse[b] = found.inverse;
    }
    for (int b = 0; b < count; ++b) {
      const int64_t block = first + b;
      int8_t* bytes = q + block * 32;
      scales[block] = scale[b];
      if (inverse[b] == 0.0f) {
        sums[block] = 0;
        __builtin_memset(bytes, 0, 32);
        continue;
      }
      int32_t sum = 0;
      for (int i = 0; i < 32; ++i) {
        const int32_t value = quant::round_away(x[block * 32 - begin + i] * inverse[b]);
        bytes[i] = static_cast<int8_t>(value);
        sum += value;
      }
      sums[block] = static_cast<int16_t>(sum);
    }
  }
}

void prepare_256(const float* x, int64_t k, int64_t begin, int64_t end, std::byte* row) {
  const ActivationLayout layout = activation_layout(true, k);
  const int64_t blocks = count_before(end, k, 256, layout.padded / 256);
  for (int64_t b = begin / 256; b < blocks; ++b) {
    quant::Q8_K block{};
    if (b * 256 < k) quant::quantize(x + b * 256 - begin, nullptr, &block);
    __builtin_memcpy(row + b * 256, block.qs, sizeof(block.qs));
    __builtin_memcpy(row + layout.scale_at + b * 4, &block.d, sizeof(block.d));
    __builtin_memcpy(row + layout.sum_at + b * 32, block.bsums, sizeof(block.bsums));
  }
}

[[maybe_unused]] BW_FN int dot_bytes(const int8_t* a, const int8_t* b, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

template <class Block>
float portable_row(const Block* blocks, int64_t count, const Activation& y) {
  int8_t levels[Block::kElements];
  if constexpr (Block::kElements == 32) {
    float lane[8] = {};
    for (int64_t b = 0; b < count; ++b) {
      for (int i = 0; i < 32; ++i) levels[i] = static_cast<int8_t>(quant::level(blocks[b], i));
      const float scale = quant::block_scale(blocks[b]) * y.scales[b];
      float term = scale * static_cast<float>(dot_bytes(levels, y.q + b * 32, 32));
      if constexpr (Block::kHasMin)
        term += quant::block_min(blocks[b]) * (y.scales[b] * static_cast<float>(y.sums[b]));
      lane[b & 7] += term;
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  } else {
    float lane[4] = {};
    for (int64_t b = 0; b < count; ++b) {
      for (int i = 0; i < 256; ++i) levels[i] = static_cast<int8_t>(quant::level(blocks[b], i));
      int sum = 0;
      for (int g = 0; g < 16; ++g)
        sum += quant::group_scale(blocks[b], g) * dot_bytes(levels + g * 16, y.q + b * 256 + g * 16, 16);
      float term = quant::block_scale(blocks[b]) * y.scales[b] * static_cast<float>(sum);
      if constexpr (Block::kHasMin) {
        int minima = 0;
        for (int g = 0; g < 16; ++g) minima += quant::group_min(blocks[b], g) * y.sums[b * 16 + g];
        term -= quant::block_min(blocks[b]) * y.scales[b] * static_cast<float>(minima);
      }
      lane[b & 3] += term;
    }
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
  }
}

template <class Block>
void portable_rows(const std::byte* weights, int64_t rows, int64_t k, const std::byte* y, float* out) {
  const Activation activation = view(y, activation_layout(Block::kElements == 256, k));
  const int64_t count = k / Block::kElements;
  for (int64_t r = 0; r < rows; ++r)
    out[r] = portable_row(reinterpret_cast<const Block*>(weights) + r * count, count, activation);
}

#if defined(BW_ISA_v3) || defined(BW_ISA_v4)

#if defined(BW_ISA_v3)
#define BW_Q_WIDE 0
#else
#define BW_Q_WIDE 1
#endif
#define BW_Q_VNNI 0
namespace plain {
// clang-format off: each file uses what the one before it defines
#include "backends/cpu/kernels/quantized_simd.inc"
#include "backends/cpu/kernels/quantized_formats.inc"
#include "backends/cpu/kernels/quantized_rows.inc"
#include "backends/cpu/kernels/quantized_pack.inc"
#include "backends/cpu/kernels/quantized_panel.inc"
#include "backends/cpu/kernels/quantized_table.inc"
// clang-format on
}  // namespace plain
#undef BW_Q_VNNI

#if defined(BW_ISA_v3)
#define BW_Q_VNNI 2
namespace vnni_in_steps {
// clang-format off: each file uses what the one before it defines
#include "backends/cpu/kernels/quantized_simd.inc"
#include "backends/cpu/kernels/quantized_formats.inc"
#include "backends/cpu/kernels/quantized_rows.inc"
#include "backends/cpu/kernels/quantized_pack.inc"
#include "backends/cpu/kernels/quantized_panel.inc"
#include "backends/cpu/kernels/quantized_table.inc"
// clang-format on
}  // namespace vnni_in_steps
#undef BW_Q_VNNI
#endif

#define BW_Q_VNNI 1
#if !defined(__clang__)
#pragma GCC push_options
#if BW_Q_WIDE
#pragma GCC target("avx512vnni")
#else
#pragma GCC target("avxvnni")
#endif
#elif BW_Q_WIDE
#pragma clang attribute push(__attribute__((target("avx512vnni"))), apply_to = function)
#else
#pragma clang attribute push(__attribute__((target("avxvnni"))), apply_to = function)
#endif
namespace vnni {
// clang-format off: each file uses what the one before it defines
#include "backends/cpu/kernels/quantized_simd.inc"
#include "backends/cpu/kernels/quantized_formats.inc"
#if BW_Q_WIDE
#include "backends/cpu/kernels/quantized_rows_vnni.inc"
#endif
#include "backends/cpu/kernels/quantized_rows.inc"
#include "backends/cpu/kernels/quantized_pack.inc"
#if BW_Q_WIDE
#include "backends/cpu/kernels/quantized_tile.inc"
#endif
#include "backends/cpu/kernels/quantized_panel.inc"
#if BW_Q_WIDE
#include "backends/cpu/kernels/quantized_stripes.inc"
#endif
#include "backends/cpu/kernels/quantized_table.inc"
#if BW_Q_WIDE
#include "backends/cpu/kernels/quantized_amx_pack.inc"
#include "backends/cpu/kernels/quantized_amx.inc"
#endif
// clang-format on
}  // namespace vnni
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef BW_Q_VNNI

#endif

}  // namespace

#if defined(BW_ISA_v3)
const QuantizedDotKernels& quantized_dot_kernels_without_vnni() { return plain::kTable; }
const QuantizedDotKernels& quantized_dot_kernels_of_vnni_in_steps() { return vnni_in_steps::kTable; }
const QuantizedDotKernels& quantized_dot_kernels() {
  return has_vnni(Isa::v3) ? vnni::kTable : plain::kTable;
}
#elif defined(BW_ISA_v4)
const QuantizedDotKernels& quantized_dot_kernels_without_vnni() { return plain::kTable; }
const QuantizedDotKernels& quantized_dot_kernels_without_amx() { return vnni::kTable; }
const QuantizedDotKernels& quantized_dot_kernels_of_amx_in_loops() { return vnni::kAmxLoopTable; }
const QuantizedDotKernels& quantized_dot_kernels() {
  return has_amx() ? vnni::kAmxTable : has_vnni(Isa::v4) ? vnni::kTable : plain::kTable;
}
#else
const QuantizedDotKernels& quantized_dot_kernels() {
  static constexpr QuantizedDotKernels kTable = {
      {prepare_32, prepare_256},
      {},
      {
#define BW_QUANT(Name, ...) portable_rows<quant::Name>,
#include "tables/quants.def"
      },
      0,
      0,
      {},
      {},
      {},
      {},
      {},
      {},
      nullptr,
      0,
      {},
  };
  return kTable;
}
#endif

}  // namespace beeswax::cpu::BW_ISA
