// SPDX-License-Identifier: Apache-2.0
// The block formats: the table, and decoding of arbitrary bytes against the format's formula.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "backends/cpu/kernels/quantized.h"
#include "quant/formats.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/quant_reference.h"

namespace beeswax {
namespace {

TEST(QuantType, IsMadeFromTheTable) {
  EXPECT_EQ(kQuantTypeCount, 12);
  EXPECT_EQ(quant_name(QuantType::Q4_K), "q4_k");
  EXPECT_EQ(parse_quant_type("Q6_K"), QuantType::Q6_K);
  EXPECT_EQ(quant_type_from_ggml_id(15), QuantType::Q8_K);
  EXPECT_EQ(quant_type_from_ggml_id(1), std::nullopt);
  EXPECT_EQ(quant_traits(QuantType::Q5_1).dot_partner, QuantType::Q8_1);
  EXPECT_TRUE(quant_traits(QuantType::Q2_K).imatrix);
  EXPECT_EQ(quant_bytes(QuantType::Q3_K, 512), 220u);
  EXPECT_ERROR(parse_quant_type("q9_k"), InvalidArgument,
               "'q9_k' is not a quantized format (known: q4_0, q4_1");
}

// d sc q is exact in a float, as is dmin m: so each value is the formula's, rounded once.
TEST(QuantFormats, DecodeRandomBytesAsTheFormulaSays) {
  std::mt19937 random(7);
  for (const QuantType type : reference::all_types()) {
    const int64_t blocks = 300;
    const std::vector<uint8_t> bytes = reference::random_blocks(type, blocks, random);
    const std::vector<double> expected = reference::dequantize(type, bytes);
    for (const cpu::Isa level : all_levels()) {
      cpu::set_isa(level);
      std::vector<float> values(expected.size());
      cpu::quantized_kernels().dequantize[static_cast<size_t>(type)](bytes.data(), values.data(), blocks);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], static_cast<float>(expected[i]))
            << quant_name(type) << " element " << i << " at level " << cpu::isa_name(level);
    }
  }
  cpu::set_isa(cpu::best_isa());
}

template <class Block>
void elements_agree(QuantType type, std::mt19937& random) {
  const std::vector<uint8_t> bytes = reference::random_blocks(type, 40, random);
  for (size_t b = 0; b < 40; ++b) {
    Block block;
    std::memcpy(static_cast<void*>(&block), bytes.data() + b * sizeof(Block), sizeof(Block));
    float values[Block::kElements];
    quant::dequantize(block, values);
    for (int i = 0; i < Block::kElements; ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(quant::element(block, i)), std::bit_cast<uint32_t>(values[i]))
          << quant_name(type) << " element " << i;
  }
}

TEST(QuantFormats, ElementIsDequantizesBits) {
  std::mt19937 random(10);
#define BW_QUANT(Name, ...) elements_agree<quant::Name>(QuantType::Name, random);
#include "tables/quants.def"
}

TEST(QuantFormats, DenormalScalesDecode) {
  for (const QuantType type : reference::all_types()) {
    if (type == QuantType::Q8_K) continue;
    std::mt19937 random(11);
    std::vector<uint8_t> bytes = reference::random_blocks(type, 1, random);
    for (const int field : reference::half_fields(type)) {
      bytes[static_cast<size_t>(field)] = 3;  // 3 * 2^-24
      bytes[static_cast<size_t>(field) + 1] = 0;
    }
    const std::vector<double> expected = reference::dequantize(type, bytes);
    std::vector<float> values(expected.size());
    cpu::quantized_kernels().dequantize[static_cast<size_t>(type)](bytes.data(), values.data(), 1);
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], static_cast<float>(expected[i])) << quant_name(type);
      largest = std::max(largest, std::abs(expected[i]));
    }
    EXPECT_GT(largest, 0) << quant_name(type);
  }
}

template <class Block, class Partner>
void dots_agree(QuantType type, QuantType partner, std::mt19937& random) {
  for (int trial = 0; trial < 50; ++trial) {
    const std::vector<uint8_t> a = reference::random_blocks(type, 1, random);
    std::vector<uint8_t> b = reference::random_blocks(partner, 1, random);
    Partner y;
    std::memcpy(static_cast<void*>(&y), b.data(), sizeof(y));
    const std::vector<double> left = reference::dequantize(type, a);
    const std::vector<double> right = reference::dequantize(partner, b);
    double sum = 0, y_sum = 0, magnitude = 0;
    for (const double value : right) y_sum += value;
    if constexpr (std::is_same_v<Partner, quant::Q8_1>) {
      y.s = f16_from_float(static_cast<float>(y_sum));
      y_sum = static_cast<double>(f16_to_float(y.s)) - y_sum;  // by how much the stored sum is off
    }
    for (size_t i = 0; i < left.size(); ++i) {
      sum += left[i] * right[i];
      magnitude += std::abs(left[i] * right[i]);
    }
    Block block;
    std::memcpy(static_cast<void*>(&block), a.data(), sizeof(block));
    double off = 0;
    if constexpr (Block::kHasMin && Block::kElements == 32)
      off = std::abs(y_sum * reference::half(a.data() + 2));
    double minima = 0;
    if constexpr (Block::kHasMin) {
      for (int i = 0; i < Block::kElements; ++i)
        minima += std::abs(right[static_cast<size_t>(i)]) * 63 *
                  std::abs(static_cast<double>(quant::block_min(block)));
    }
    EXPECT_NEAR(quant::dot(block, y), sum, 4e-7 * (magnitude + minima) + off) << quant_name(type);
  }
}

TEST(QuantFormats, DotIsTheDotOfTheValues) {
  std::mt19937 random(12);
#define BW_QUANT(Name, name, id, elements, bytes, partner, imatrix) \
  dots_agree<quant::Name, quant::partner>(QuantType::Name, QuantType::partner, random);
#include "tables/quants.def"
}

}  // namespace
}  // namespace beeswax
