// SPDX-License-Identifier: Apache-2.0
// Loops over the block formats, indexed by QuantType. Conversions give the same bits at every level. So do
// the products: the sums inside a block are integers and exact, and their float products are added in one
// order, written down at QuantizedDotKernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/isa.h"
#include "beeswax/portable.h"
#include "beeswax/qtensor_type.h"

namespace beeswax::cpu {

struct QuantizedKernels {
  void (*dequantize[kQuantTypeCount])(const void* blocks, float* out, int64_t count);
  /// `importance` has one weight per element, or is null. `count` is in blocks.
  void (*quantize[kQuantTypeCount])(const float* x, const float* importance, void* blocks, int64_t count);
  void (*widen_f16)(const uint16_t* from, float* out, int64_t count);
  void (*widen_bf16)(const uint16_t* from, float* out, int64_t count);
  void (*narrow_f16)(const float* from, uint16_t* out, int64_t count);
  void (*narrow_bf16)(const float* from, uint16_t* out, int64_t count);
};

BW_KERNEL_TABLE(QuantizedKernels, quantized_kernels)

/// An activation row quantized to bytes for integer products. As Q8_0 for the formats with blocks of 32 and
/// as Q8_K for those of 256, but with float scales and in separate arrays: bytes (a multiple of 256 of them,
/// zeros past the end), one scale per block, and the byte sums of each 32 (each 16 for blocks of 256). Then,
/// for loops that want them, the same bytes in another order: whole Sixteens of blocks of 32, or Fours of all
/// blocks of 256.
struct ActivationLayout {
  static constexpr int64_t kPart = 1024;  // elements; what a part of a row has to itself
  int64_t padded;                         // bytes
  int64_t scale_at;                       // offset of the scales, floats
  int64_t sum_at;                         // offset of the sums, int16
  int64_t group_at;                       // offset of the Sixteens or Fours, a multiple of 64
  int64_t groups;                         // their number
  int64_t stride;                         // of one row, a multiple of 64
};

/// Sixteen blocks of 32 once more, for weights of two nibbles in a byte, in the order in which vectors gather
/// these: the nibbles of eight bytes of blocks 4 g to 4 g + 3 and of the same blocks of the upper eight.
struct Sixteen {
  static constexpr int kBlocks = 16;
  /// The block whose sum comes out in a lane.
  BW_MEMBER_FN static constexpr int block(int lane) {
    return lane / 8 * 8 + lane % 4 / 2 * 4 + lane % 8 / 4 * 2 + lane % 2;
  }
  /// Row 4 g + 2 i + h has elements 16 h + 8 i and on, which half h of bytes 8 i and on belongs to.
  int8_t rows[8][64];
  float scales[kBlocks];
  /// -8 times the sums of the blocks: what the offset of Q4_0 adds.
  int32_t offsets[kBlocks];
};

/// Four blocks of 256 once more, for weights whose byte 32 i + l holds elements 64 i + l and 64 i + 32 + l.
struct Four {
  static constexpr int kBlocks = 4;
  /// Part p of row 2 h + u has elements 16 h to 16 h + 15 of group group(p) + u; groups have 32 elements.
  BW_MEMBER_FN static constexpr int group(int part) { return part * 2; }
  int8_t rows[kBlocks][4][64];
  /// sums[i][b]: of groups 2 i and 2 i + 1 of block b; sums_of_16[i / 4][i % 4][b]: of 16 elements each.
  int16_t sums[4][kBlocks][2];
  int16_t sums_of_16[2][4][kBlocks][2];
};

static_assert(ActivationLayout::kPart % (Sixteen::kBlocks * 32) == 0);
static_assert(ActivationLayout::kPart % (Four::kBlocks * 256) == 0);

BW_FN ActivationLayout activation_layout(bool blocks_of_256, int64_t k) {
  const int64_t unit = blocks_of_256 ? 1024 : 256;
  const int64_t padded = (k + unit - 1) / unit * unit;
  const int64_t sum_at = padded + padded / (blocks_of_256 ? 256 : 32) * 4;
  const int64_t end = sum_at + padded / (blocks_of_256 ? 16 : 32) * 2;
  const int64_t group_at = (end + 63) / 64 * 64;
  const int64_t groups = blocks_of_256 ? padded / 1024 : k / 512;
  const int64_t stride =
      group_at + groups * (blocks_of_256 ? int64_t{sizeof(Four)} : int64_t{sizeof(Sixteen)});
  return {padded, padded, sum_at, group_at, groups, stride};
}

/// Memory that a thread reads after what it is doing.
struct Ahead {
  const std::byte* next;
  const std::byte* end;
};

/// Weights in the order of a loop: stripes of `stripe_rows` rows, whose blocks are interleaved.
struct StripeKernels {
  /// Of one stripe; a multiple of 64, as stripes' addresses are.
  int64_t (*bytes)(int64_t k);
  /// Makes a stripe of as many rows.
  void (*make)(const std::byte* weights, int64_t k, std::byte* stripe);
  /// What `rows` gives for the rows of `count` stripes; y is prepared.
  void (*rows)(const std::byte* stripes, int64_t count, int64_t k, const std::byte* y, float* out);
};

using PrepareTile = void (*)(const float* x, int64_t count, int64_t k, std::byte* tile);

/// Weights times activations. The order of float additions, which every function of every level keeps:
///   blocks of 32:   block b adds (d_w d_y) * sum [+ m_w (d_y sum_y)] to lane b mod 8; at the end lanes l and
///   l+4
///                   are added, then l and l+2, then the last two;
///   blocks of 256:  block b adds (d_w d_y) * sum [- (dmin_w d_y) * sum_of_minima] to lane b mod 4; at the
///   end lanes
///                   l and l+2 are added, then both.
struct QuantizedDotKernels {
  /// Quantizes elements [begin, end) of a row of k, whose first x points at; [0] for blocks of 32, [1] for
  /// blocks of 256. Parts of a row are cut at multiples of ActivationLayout::kPart, and the last one ends at
  /// k or beyond. A NaN or infinity makes its block NaN.
  void (*prepare[2])(const float* x, int64_t k, int64_t begin, int64_t end, std::byte* row);
  /// Makes the Sixteens or Fours of such a part that is prepared, for `rows`; null where these read none.
  void (*arrange[2])(int64_t k, int64_t begin, int64_t end, std::byte* row);
  /// out[r] = weight row r . y, r < rows; y is prepared and arranged.
  void (*rows[kQuantTypeCount])(const std::byte* weights, int64_t rows, int64_t k, const std::byte* y,
                                float* out);

  /// For many activation rows: `panel_rows` weight rows are unpacked once, into a panel, and used for tiles
  /// of `tile_rows` activations. Null where a format or level has no such kernel. Panels are aligned to 64
  /// bytes.
  int panel_rows;
  int tile_rows;
  int64_t (*panel_bytes[kQuantTypeCount])(int64_t k);
  int64_t (*tile_bytes[kQuantTypeCount])(int64_t k);
  void (*pack[kQuantTypeCount])(const std::byte* weights, int64_t rows, int64_t k, std::byte* panel);
  /// count <= tile_rows prepared rows, one stride of ActivationLayout apart.
  void (*interleave[kQuantTypeCount])(const std::byte* activations, int64_t count, int64_t k,
                                      std::byte* tile);
  /// What prepare and interleave make of count <= tile_rows rows of floats, at once; null where nothing is
  /// quicker than these two.
  PrepareTile prepare_tile[kQuantTypeCount];
  /// out[a * out_stride + r] = panel row r . activation a, for m activations in consecutive tiles, r < rows.
  /// Meanwhile the memory ahead is requested, a line for each 32 elements that a tile goes through (not by
  /// AMX's).
  void (*panel[kQuantTypeCount])(const std::byte* panel, int64_t rows, int64_t k, const std::byte* tiles,
                                 int64_t m, Ahead& ahead, float* out, int64_t out_stride);
  /// Quicker for fewer activations than a tile has rows; null: these are.
  const QuantizedDotKernels* of_fewer;

  /// For few activation rows and weights that are kept once more (backends/cpu/stripes.h). Null where a
  /// format or level has none.
  int stripe_rows;
  StripeKernels stripes[kQuantTypeCount];
};

BW_KERNEL_TABLE(QuantizedDotKernels, quantized_dot_kernels)

#if defined(BW_ISA_LEVELS) || defined(BW_ISA_v3)
namespace isa_v3 {
/// What quantized_dot_kernels() gives on a machine without the 8-bit dot-product instructions, and on one
/// with them, which are several of AVX2 here, for tests on other machines.
const QuantizedDotKernels& quantized_dot_kernels_without_vnni();
const QuantizedDotKernels& quantized_dot_kernels_of_vnni_in_steps();
}  // namespace isa_v3
#endif
#if defined(BW_ISA_LEVELS) || defined(BW_ISA_v4)
namespace isa_v4 {
/// What quantized_dot_kernels() gives on a machine without the 8-bit dot-product instructions.
const QuantizedDotKernels& quantized_dot_kernels_without_vnni();
/// What it gives on one with these, without AMX; and with AMX, whose instructions are loops here, slow, for
/// tests on other machines. Both need the dot-product instructions.
const QuantizedDotKernels& quantized_dot_kernels_without_amx();
const QuantizedDotKernels& quantized_dot_kernels_of_amx_in_loops();
}  // namespace isa_v4
#endif

}  // namespace beeswax::cpu
