// SPDX-License-Identifier: Apache-2.0
// The quantizers: the simple ones against their formulas, the searches by the error they leave, all of them
// on input that is hard to hold, and alike at every instruction-set level.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/kernels/quantized.h"
#include "support/isa_levels.h"
#include "support/quant_reference.h"

namespace beeswax {
namespace {

std::vector<uint8_t> quantize(QuantType type, const std::vector<float>& x,
                              const float* importance = nullptr) {
  const QuantTraits& traits = quant_traits(type);
  const size_t blocks = x.size() / static_cast<size_t>(traits.block_elements);
  std::vector<uint8_t> bytes(blocks * static_cast<size_t>(traits.block_bytes));
  cpu::quantized_kernels().quantize[static_cast<size_t>(type)](x.data(), importance, bytes.data(),
                                                               static_cast<int64_t>(blocks));
  return bytes;
}

std::vector<float> normal_values(size_t count, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& value : out) value = normal(random) * scale;
  return out;
}

/// Root of the weighted mean square error over that of the values.
double relative_error(QuantType type, const std::vector<float>& x, const std::vector<uint8_t>& bytes,
                      const std::vector<float>* weights = nullptr) {
  const std::vector<double> values = reference::dequantize(type, bytes);
  double error = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double w = weights != nullptr ? static_cast<double>((*weights)[i]) : 1.0;
    error += w * std::pow(values[i] - static_cast<double>(x[i]), 2);
    size += w * std::pow(static_cast<double>(x[i]), 2);
  }
  return std::sqrt(error / size);
}

/// A double to the nearest half, ties to even, as two bytes.
std::pair<uint8_t, uint8_t> half_bytes(double x) {
  const double magnitude = std::abs(x);
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));  // of 2^(exponent - 10)
  const int bits = (exponent + 14) * 1024 + static_cast<int>(units) + (std::signbit(x) ? 32768 : 0);
  return {static_cast<uint8_t>(bits % 256), static_cast<uint8_t>(bits / 256)};
}

void append_half(std::vector<uint8_t>* out, double x) {
  const auto [low, high] = half_bytes(x);
  out->push_back(low);
  out->push_back(high);
}

// The formulas of the simple formats, in float as they are stated.
std::vector<uint8_t> by_formula(QuantType type, const float* x) {
  std::vector<uint8_t> out;
  float extreme = 0, low = x[0], high = x[0];
  for (int i = 0; i < 32; ++i) {
    if (std::abs(x[i]) > std::abs(extreme)) extreme = x[i];
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  std::vector<int> q(32);
  const bool five = type == QuantType::Q5_0 || type == QuantType::Q5_1;
  const int top = five ? 31 : 15;
  if (type == QuantType::Q8_0 || type == QuantType::Q8_1) {
    const float d = std::abs(extreme) / 127.0f;
    int sum = 0;
    for (int i = 0; i < 32; ++i)
      sum += q[static_cast<size_t>(i)] = static_cast<int>(std::round(x[i] * (1.0f / d)));
    append_half(&out, static_cast<double>(d));
    if (type == QuantType::Q8_1) append_half(&out, static_cast<double>(d * static_cast<float>(sum)));
    for (const int value : q) out.push_back(static_cast<uint8_t>(value));
    return out;
  }
  if (type == QuantType::Q4_0 || type == QuantType::Q5_0) {
    const float half = five ? 16.0f : 8.0f;
    const float d = extreme / -half;
    for (int i = 0; i < 32; ++i)
      q[static_cast<size_t>(i)] =
          std::min(top, static_cast<int>(std::trunc(x[i] * (1.0f / d) + half + 0.5f)));
    append_half(&out, static_cast<double>(d));
  } else {
    const float d = (high - low) / static_cast<float>(top);
    for (int i = 0; i < 32; ++i)
      q[static_cast<size_t>(i)] =
          std::min(top, static_cast<int>(std::trunc((x[i] - low) * (1.0f / d) + 0.5f)));
    append_half(&out, static_cast<double>(d));
    append_half(&out, static_cast<double>(low));
  }
  if (five) {
    for (size_t byte = 0; byte < 4; ++byte) {
      int bits = 0;
      for (size_t i = 0; i < 8; ++i) bits += (q[8 * byte + i] / 16) << i;
      out.push_back(static_cast<uint8_t>(bits));
    }
  }
  for (size_t j = 0; j < 16; ++j) out.push_back(static_cast<uint8_t>(q[j] % 16 + q[j + 16] % 16 * 16));
  return out;
}

TEST(Quantize, SimpleFormatsFollowTheirFormulas) {
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q4_1, QuantType::Q5_0, QuantType::Q5_1,
                               QuantType::Q8_0, QuantType::Q8_1}) {
    const std::vector<float> x = normal_values(32 * 500, 1, 0.05f);
    const std::vector<uint8_t> bytes = quantize(type, x);
    std::vector<uint8_t> expected;
    for (size_t b = 0; b < 500; ++b) {
      const std::vector<uint8_t> block = by_formula(type, x.data() + 32 * b);
      expected.insert(expected.end(), block.begin(), block.end());
    }
    EXPECT_EQ(bytes, expected) << quant_name(type);
  }
}

TEST(Quantize, Q8_KFollowsItsFormula) {
  const std::vector<float> x = normal_values(256 * 50, 2);
  const std::vector<uint8_t> bytes = quantize(QuantType::Q8_K, x);
  for (size_t b = 0; b < 50; ++b) {
    const float* from = x.data() + 256 * b;
    const uint8_t* block = bytes.data() + 292 * b;
    float extreme = 0;
    for (int i = 0; i < 256; ++i)
      if (std::abs(from[i]) > std::abs(extreme)) extreme = from[i];
    const float inverse = -127.0f / extreme;
    float d;
    std::memcpy(&d, block, 4);
    EXPECT_EQ(d, 1.0f / inverse);
    for (int g = 0; g < 16; ++g) {
      int sum = 0;
      for (int i = 16 * g; i < 16 * g + 16; ++i) {
        const int q = static_cast<int8_t>(block[4 + i]);
        ASSERT_EQ(q, static_cast<int>(std::round(from[i] * inverse)));
        sum += q;
      }
      int16_t stored;
      std::memcpy(&stored, block + 260 + 2 * g, 2);
      ASSERT_EQ(stored, sum);
    }
  }
}

// Ties and the numbers just beside them: all of them, at the scale 1/127 of the largest value.
TEST(Quantize, RoundsHalvesAwayFromZero) {
  std::vector<float> x(32, 0.0f);
  for (int n = 0; n < 126; ++n) {
    const float tie = static_cast<float>(n) + 0.5f;
    const float values[] = {127, tie, -tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 200.0f)};
    std::copy(std::begin(values), std::end(values), x.begin());
    const std::vector<uint8_t> bytes = quantize(QuantType::Q8_0, x);
    for (size_t i = 0; i < 5; ++i)
      EXPECT_EQ(static_cast<int8_t>(bytes[2 + i]), static_cast<int>(std::round(values[i]))) << values[i];
  }
}

struct Quality {
  QuantType type;
  double bound;
};

// Normal data. What was found, plus two or three percent; published tools leave the same or more.
TEST(Quantize, LeavesLittleError) {
  const Quality bounds[] = {
      {QuantType::Q4_0, 0.0875}, {QuantType::Q4_1, 0.0798}, {QuantType::Q5_0, 0.0436},
      {QuantType::Q5_1, 0.0387}, {QuantType::Q8_0, 0.0055}, {QuantType::Q8_1, 0.0055},
      {QuantType::Q2_K, 0.2690}, {QuantType::Q3_K, 0.1465}, {QuantType::Q4_K, 0.0720},
      {QuantType::Q5_K, 0.0358}, {QuantType::Q6_K, 0.0174}, {QuantType::Q8_K, 0.0071},
  };
  for (const auto& [type, bound] : bounds) {
    for (const float scale : {0.02f, 3.0f}) {
      const std::vector<float> x = normal_values(size_t{1} << 16, 3, scale);
      const double error = relative_error(type, x, quantize(type, x));
      EXPECT_LT(error, bound) << quant_name(type);
      EXPECT_GT(error, bound * 0.9) << quant_name(type) << ": the bound has become loose";
    }
  }
}

TEST(Quantize, ImportanceLowersTheWeightedError) {
  std::mt19937 random(4);
  std::normal_distribution<float> spread(0.0f, 1.5f);
  const std::vector<float> x = normal_values(size_t{1} << 15, 5, 0.02f);
  std::vector<float> weights(x.size());
  for (float& weight : weights) weight = std::exp(spread(random));
  for (const QuantType type : reference::all_types()) {
    if (!quant_traits(type).imatrix) continue;
    const double plain = relative_error(type, x, quantize(type, x), &weights);
    const double weighted = relative_error(type, x, quantize(type, x, weights.data()), &weights);
    EXPECT_LT(weighted, 0.87 * plain) << quant_name(type);
    // Where the weights are no weights at all, it is the plain search.
    const std::vector<float> zeros(x.size(), 0.0f);
    EXPECT_EQ(quantize(type, x, zeros.data()), quantize(type, x)) << quant_name(type);
    for (size_t i = 0; i < weights.size(); i += 3) weights[i] = 0;
    EXPECT_LT(relative_error(type, x, quantize(type, x, weights.data())),
              2.5 * relative_error(type, x, quantize(type, x)))
        << quant_name(type) << ": elements without weight must come out near their value too";
  }
}

// Blocks of 32 have a formula, which the search must not be worse than, block by block, whatever the weights.
TEST(Quantize, WeightedSearchesAreNeverWorseThanTheFormula) {
  std::mt19937 random(16);
  std::normal_distribution<float> spread(0.0f, 3.0f);
  std::vector<float> x = normal_values(size_t{1} << 13, 17, 0.02f);
  for (size_t i = 0; i < 4096; ++i) x[i] = std::abs(x[i]) + (i < 2048 ? 1.0f : 0.0f);
  std::vector<float> weights(x.size());
  for (float& weight : weights) weight = std::exp(spread(random));
  for (size_t i = 0; i < weights.size(); i += 7) weights[i] = 0;
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q4_1, QuantType::Q5_0, QuantType::Q5_1}) {
    const std::vector<double> plain = reference::dequantize(type, quantize(type, x));
    const std::vector<double> found = reference::dequantize(type, quantize(type, x, weights.data()));
    double all_plain = 0, all_found = 0;
    for (size_t block = 0; block < x.size(); block += 32) {
      double by_formula = 0, by_search = 0;
      for (size_t i = block; i < block + 32; ++i) {
        by_formula += static_cast<double>(weights[i]) * std::pow(plain[i] - static_cast<double>(x[i]), 2);
        by_search += static_cast<double>(weights[i]) * std::pow(found[i] - static_cast<double>(x[i]), 2);
      }
      EXPECT_LE(by_search, by_formula * (1 + 1e-4)) << quant_name(type) << " block " << block / 32;
      all_plain += by_formula;
      all_found += by_search;
    }
    EXPECT_LT(all_found, 0.5 * all_plain) << quant_name(type);
  }
}

/// Inputs that are hard to hold, one block of 256 each.
std::vector<std::pair<std::string, std::vector<float>>> hard_blocks() {
  const auto block = [](float value) { return std::vector<float>(256, value); };
  std::vector<std::pair<std::string, std::vector<float>>> out = {
      {"zeros", block(0)},
      {"negative zeros", block(-0.0f)},
      {"ones", block(1)},
      {"minus", block(-3)},
      {"denormals", block(1e-40f)},
      {"tiny", normal_values(256, 6, 1e-7f)},
      {"less", normal_values(256, 7, 1e-9f)},
      {"large", normal_values(256, 8, 1e4f)},
      {"huge", normal_values(256, 9, 1e30f)},
      {"positive", block(0)},
      {"spike", block(0)},
      {"spike among small ones", normal_values(256, 10, 1e-3f)},
      {"largest", block(std::numeric_limits<float>::max())},
      {"both ends", block(std::numeric_limits<float>::max())},
  };
  for (int i = 0; i < 256; ++i) out[9].second[static_cast<size_t>(i)] = 5 + 0.01f * static_cast<float>(i);
  out[10].second[77] = -12;
  out[11].second[200] = 1000;
  for (size_t i = 0; i < 256; i += 2) out[13].second[i] *= -1;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    out.emplace_back("one " + std::to_string(bad), normal_values(256, 11));
    out.back().second[100] = bad;
    out.emplace_back("all " + std::to_string(bad), block(bad));
  }
  return out;
}

TEST(Quantize, EveryLevelMakesTheSameBytes) {
  auto inputs = hard_blocks();
  inputs.emplace_back("normal", normal_values(256 * 64, 12));
  inputs.emplace_back("small", normal_values(256 * 8, 13, 1e-5f));
  for (const auto& [name, x] : inputs) {
    std::vector<float> weights = normal_values(x.size(), 14);
    for (float& weight : weights) weight = weight * weight;
    for (const QuantType type : reference::all_types()) {
      std::vector<uint8_t> first, first_weighted;
      for (const cpu::Isa level : all_levels()) {
        cpu::set_isa(level);
        const std::vector<uint8_t> bytes = quantize(type, x), weighted = quantize(type, x, weights.data());
        if (first.empty()) {
          first = bytes;
          first_weighted = weighted;
        }
        EXPECT_EQ(bytes, first) << quant_name(type) << " " << name << " " << cpu::isa_name(level);
        EXPECT_EQ(weighted, first_weighted) << quant_name(type) << " " << name << " " << cpu::isa_name(level);
      }
    }
  }
  cpu::set_isa(cpu::best_isa());
}

// Largest magnitude that a format holds: the largest half times the largest level (and group scale).
double largest_held(QuantType type) {
  switch (type) {
    case QuantType::Q8_K:
      return std::numeric_limits<float>::max();
    case QuantType::Q4_1:
    case QuantType::Q5_1:
      return 65504;  // the minimum itself must fit
    case QuantType::Q4_0:
      return 65504.0 * 8;
    case QuantType::Q5_0:
      return 65504.0 * 16;
    case QuantType::Q8_0:
    case QuantType::Q8_1:
      return 65504.0 * 127;
    default:
      return 65504.0 * 63;
  }
}

TEST(Quantize, HardBlocksAreHeldOrBecomeNan) {
  for (const auto& [name, x] : hard_blocks()) {
    for (const QuantType type : reference::all_types()) {
      const QuantTraits& traits = quant_traits(type);
      const std::vector<double> values = reference::dequantize(type, quantize(type, x));
      const auto per_block = static_cast<size_t>(traits.block_elements);
      for (size_t b = 0; b < values.size(); b += per_block) {
        bool block_finite = true;
        double block_largest = 0;
        for (size_t i = b; i < b + per_block; ++i) {
          block_finite = block_finite && std::isfinite(x[i]);
          block_largest = std::max(block_largest, std::abs(static_cast<double>(x[i])));
        }
        const bool nan = !block_finite || block_largest > largest_held(type);
        for (size_t i = b; i < b + per_block; ++i) {
          if (nan) {
            ASSERT_TRUE(std::isnan(values[i]))
                << quant_name(type) << " " << name << " " << i << " " << values[i];
          } else {
            // Loose, for the sake of two bits: they minimize squares, and may clip a lone extreme to do so.
            ASSERT_NEAR(values[i], x[i], 0.45 * block_largest + 1e-6)
                << quant_name(type) << " " << name << " " << i;
          }
        }
      }
    }
  }
}

TEST(Quantize, ZerosGiveZerosAndPlainScales) {
  for (const float zero : {0.0f, -0.0f}) {
    const std::vector<float> x(256, zero);
    for (const QuantType type : reference::all_types()) {
      const std::vector<uint8_t> bytes = quantize(type, x);
      for (const int field : reference::half_fields(type)) {
        EXPECT_EQ(bytes[static_cast<size_t>(field)], 0) << quant_name(type);
        EXPECT_EQ(bytes[static_cast<size_t>(field) + 1], 0) << quant_name(type);
      }
      for (const double value : reference::dequantize(type, bytes)) ASSERT_EQ(value, 0) << quant_name(type);
    }
  }
}

// Values that a block holds are found again: by the simple formats up to the rounding of their scale, by the
// searches nearly (they need not find the same scales).
TEST(Quantize, FindsItsOwnValuesAgain) {
  const std::pair<QuantType, double> bounds[] = {
      {QuantType::Q4_0, 1e-3}, {QuantType::Q5_0, 1e-3}, {QuantType::Q8_0, 1e-3}, {QuantType::Q2_K, 0.08},
      {QuantType::Q3_K, 0.03}, {QuantType::Q4_K, 0.02}, {QuantType::Q5_K, 0.02}, {QuantType::Q6_K, 0.005},
  };
  for (const auto& [type, bound] : bounds) {
    std::vector<float> held;
    for (const double value : reference::dequantize(type, quantize(type, normal_values(256 * 20, 15))))
      held.push_back(static_cast<float>(value));
    const double error = relative_error(type, held, quantize(type, held));
    EXPECT_LT(error, bound) << quant_name(type);
  }
}

}  // namespace
}  // namespace beeswax
