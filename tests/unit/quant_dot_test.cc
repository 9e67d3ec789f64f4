// SPDX-License-Identifier: Apache-2.0
// Integer products of weight rows and prepared activations: against double, alike at every instruction-set
// level and alike whether a row is computed from its blocks or through a panel. Rows read no byte behind
// them.
#include <gtest/gtest.h>

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <random>

#include "backends/cpu/kernels/quantized.h"
#include "quant/formats.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/quant_reference.h"

namespace beeswax {
namespace {

using cpu::QuantizedDotKernels;

struct Named {
  std::string name;
  const QuantizedDotKernels* kernels;
};

std::vector<Named> all_kernels() {
  std::vector<Named> out;
  for (const cpu::Isa level : all_levels()) {
    cpu::set_isa(level);
    out.push_back({std::string(cpu::isa_name(level)), &cpu::quantized_dot_kernels()});
#if defined(BW_ISA_LEVELS)
    if (level == cpu::Isa::v3)
      out.push_back({"v3 of vnni in steps", &cpu::isa_v3::quantized_dot_kernels_of_vnni_in_steps()});
    if (level == cpu::Isa::v3 && cpu::has_vnni(level))
      out.push_back({"v3 without vnni", &cpu::isa_v3::quantized_dot_kernels_without_vnni()});
    if (level == cpu::Isa::v4)
      out.push_back({"v4 without vnni", &cpu::isa_v4::quantized_dot_kernels_without_vnni()});
    if (level == cpu::Isa::v4 && cpu::has_vnni(level))
      out.push_back({"v4 of amx in loops", &cpu::isa_v4::quantized_dot_kernels_of_amx_in_loops()});
    if (level == cpu::Isa::v4 && cpu::has_amx())
      out.push_back({"v4 without amx", &cpu::isa_v4::quantized_dot_kernels_without_amx()});
#endif
  }
  cpu::set_isa(cpu::best_isa());
  return out;
}

struct AlignedFree {
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<std::byte, AlignedFree>;
AlignedBytes aligned_bytes(int64_t count) {
  return AlignedBytes(
      static_cast<std::byte*>(::operator new(static_cast<size_t>(count), std::align_val_t{64})));
}

// Activations prepared by the first level; every level must prepare the same bytes. Those that read more
// arrange it.
struct Activations {
  Activations(QuantType type, int64_t rows, int64_t k, const std::vector<float>& values)
      : super(quant_traits(type).block_elements == 256), layout(cpu::activation_layout(super, k)) {
    bytes.resize(static_cast<size_t>(rows * layout.stride));
    for (const Named& named : all_kernels()) {
      std::vector<std::byte> own(bytes.size());
      for (int64_t r = 0; r < rows; ++r)
        named.kernels->prepare[super ? 1 : 0](values.data() + r * k, k, 0, k, own.data() + r * layout.stride);
      if (named.name != "base") {
        EXPECT_TRUE(own == bytes) << named.name;
      }
      bytes = own;
    }
    for (const Named& named : all_kernels())
      if (const auto arrange = named.kernels->arrange[super ? 1 : 0]; arrange != nullptr)
        for (int64_t r = 0; r < rows; ++r) arrange(k, 0, k, bytes.data() + r * layout.stride);
  }
  double value(int64_t row, int64_t i) const {
    const std::byte* at = bytes.data() + row * layout.stride;
    const int64_t block = super ? 256 : 32;
    return static_cast<double>(reinterpret_cast<const float*>(at + layout.scale_at)[i / block]) *
           static_cast<int>(reinterpret_cast<const int8_t*>(at)[i]);
  }
  bool super;
  cpu::ActivationLayout layout;
  std::vector<std::byte> bytes;
};

AlignedBytes tiled(const Named& named, QuantType type, const Activations& activations, int64_t m, int64_t k) {
  const auto id = static_cast<size_t>(type);
  const int64_t height = named.kernels->tile_rows, bytes = named.kernels->tile_bytes[id](k);
  AlignedBytes out = aligned_bytes((m + height - 1) / height * bytes);
  for (int64_t a = 0; a < m; a += height)
    named.kernels->interleave[id](activations.bytes.data() + a * activations.layout.stride,
                                  std::min(height, m - a), k, out.get() + a / height * bytes);
  return out;
}

std::vector<uint8_t> repeated(const std::vector<uint8_t>& bytes, int times) {
  std::vector<uint8_t> out;
  for (int i = 0; i < times; ++i) out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

/// Rows of weights as stripes; null where the kernels have none for the format.
AlignedBytes stripes_of(const QuantizedDotKernels& kernels, QuantType type, const std::byte* weights,
                        int64_t stripes, int64_t k) {
  const cpu::StripeKernels& of = kernels.stripes[static_cast<size_t>(type)];
  if (of.rows == nullptr) return nullptr;
  EXPECT_EQ(of.bytes(k) % 64, 0);
  const auto row_bytes = static_cast<int64_t>(quant_bytes(type, static_cast<size_t>(k)));
  AlignedBytes out = aligned_bytes(stripes * of.bytes(k));
  for (int64_t i = 0; i < stripes; ++i)
    of.make(weights + i * kernels.stripe_rows * row_bytes, k, out.get() + i * of.bytes(k));
  return out;
}

// Whole parts and one that the row ends in, the last one first.
TEST(QuantDot, PartsOfActivationsAreTheWhole) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  constexpr int64_t kPart = cpu::ActivationLayout::kPart;
  for (const int64_t blocks : {1, 4, 5, 11, 12}) {
    for (const bool super : {false, true}) {
      const int64_t k = blocks * 256 + (super ? 0 : 32);
      const cpu::ActivationLayout layout = cpu::activation_layout(super, k);
      std::vector<float> x(static_cast<size_t>(k));
      for (float& value : x) value = normal(random);
      for (const Named& named : all_kernels()) {
        const auto prepare = named.kernels->prepare[super ? 1 : 0];
        const auto arrange = named.kernels->arrange[super ? 1 : 0];
        std::vector<std::byte> whole(static_cast<size_t>(layout.stride)), parts(whole.size());
        prepare(x.data(), k, 0, k, whole.data());
        if (arrange != nullptr) arrange(k, 0, k, whole.data());
        for (int64_t begin = (k - 1) / kPart * kPart; begin >= 0; begin -= kPart) {
          const std::vector<float> part(x.begin() + begin, x.begin() + std::min(k, begin + kPart));
          prepare(part.data(), k, begin, begin + kPart, parts.data());
          if (arrange != nullptr) arrange(k, begin, begin + kPart, parts.data());
        }
        EXPECT_TRUE(parts == whole) << named.name << " " << k;
      }
    }
  }
}

TEST(QuantDot, ActivationsAreCloseAndSumsAreRight) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q4_K}) {
    const int64_t k = type == QuantType::Q4_0 ? 96 : 512;
    std::vector<float> x(static_cast<size_t>(k));
    for (float& value : x) value = normal(random);
    const Activations activations(type, 1, k, x);
    const int64_t block = activations.super ? 256 : 32, group = activations.super ? 16 : 32;
    for (int64_t b = 0; b < k / block; ++b) {
      float largest = 0;
      for (int64_t i = b * block; i < (b + 1) * block; ++i)
        largest = std::max(largest, std::abs(x[static_cast<size_t>(i)]));
      for (int64_t i = b * block; i < (b + 1) * block; ++i)
        EXPECT_NEAR(activations.value(0, i), x[static_cast<size_t>(i)], largest / 127 * 0.5001);
    }
    const auto* sums = reinterpret_cast<const int16_t*>(activations.bytes.data() + activations.layout.sum_at);
    for (int64_t g = 0; g < activations.layout.padded / group; ++g) {
      int sum = 0;
      for (int64_t i = g * group; i < (g + 1) * group; ++i)
        sum += static_cast<int8_t>(activations.bytes[static_cast<size_t>(i)]);
      EXPECT_EQ(sums[g], sum);
    }
  }
}

#if defined(BW_ISA_LEVELS)
/// Whether the system lists a feature of the processor.
bool system_lists(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return (line + ' ').find(' ' + feature + ' ') != std::string::npos;
  return false;
}

TEST(QuantDot, DotInstructionsAreUsedWhereTheProcessorHasThem) {
  EXPECT_FALSE(cpu::has_vnni(cpu::Isa::base));
  EXPECT_EQ(cpu::has_vnni(cpu::Isa::v3), system_lists("avx_vnni"));
  EXPECT_EQ(cpu::has_vnni(cpu::Isa::v4), system_lists("avx512_vnni"));
  if (cpu::best_isa() < cpu::Isa::v3) GTEST_SKIP() << "this machine has no AVX2";
  EXPECT_EQ(&cpu::isa_v3::quantized_dot_kernels() != &cpu::isa_v3::quantized_dot_kernels_without_vnni(),
            cpu::has_vnni(cpu::Isa::v3));
  if (cpu::best_isa() < cpu::Isa::v4) GTEST_SKIP() << "this machine has no AVX-512";
  EXPECT_EQ(&cpu::isa_v4::quantized_dot_kernels() != &cpu::isa_v4::quantized_dot_kernels_without_vnni(),
            cpu::has_vnni(cpu::Isa::v4));
}

TEST(QuantDot, TilesAreUsedWhereTheProcessorHasThem) {
  if (cpu::best_isa() != cpu::Isa::v4) GTEST_SKIP() << "this machine has no AVX-512";
  const bool expected = system_lists("amx_int8") && cpu::wants_amx();
  EXPECT_EQ(cpu::has_amx(), expected);
  const int rows = cpu::isa_v4::quantized_dot_kernels().tile_rows;
  EXPECT_EQ(rows == cpu::isa_v4::quantized_dot_kernels_of_amx_in_loops().tile_rows, expected);
}
#endif

TEST(QuantDot, VariableTurnsTilesOff) {
  const char* before = std::getenv("BEESWAX_CPU_AMX");
  const std::string kept = before == nullptr ? "" : before;
  setenv("BEESWAX_CPU_AMX", "off", 1);
  EXPECT_FALSE(cpu::wants_amx());
  setenv("BEESWAX_CPU_AMX", "", 1);
  EXPECT_TRUE(cpu::wants_amx());
  setenv("BEESWAX_CPU_AMX", "no", 1);
  EXPECT_ERROR(cpu::wants_amx(), InvalidArgument, "BEESWAX_CPU_AMX=no is not off");
  setenv("BEESWAX_CPU_AMX", kept.c_str(), 1);
}

class QuantRows : public testing::TestWithParam<QuantType> {};

TEST_P(QuantRows, MatchDoubleAndEachOther) {
  const QuantType type = GetParam();
  const auto id = static_cast<size_t>(type);
  const QuantTraits& traits = quant_traits(type);
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  // Loops take 4, 8 or 16 blocks at a time: each alone, with all remainders after it, and twice.
  for (const int64_t blocks : {1, 2, 3, 7, 8, 9, 16, 17, 25, 32, 47}) {
    const int64_t k = blocks * traits.block_elements, rows = 19, m = 11;
    const std::vector<uint8_t> weights =
        reference::random_blocks(type, static_cast<size_t>(rows * blocks), random);
    const std::vector<double> values = reference::dequantize(type, weights);
    std::vector<float> x(static_cast<size_t>(m * k));
    for (float& value : x) value = normal(random);
    const Activations activations(type, m, k, x);
    const auto* from = reinterpret_cast<const std::byte*>(weights.data());
    std::vector<float> first;
    for (const Named& named : all_kernels()) {
      std::vector<float> out(static_cast<size_t>(m * rows));
      for (int64_t a = 0; a < m; ++a)
        named.kernels->rows[id](from, rows, k, activations.bytes.data() + a * activations.layout.stride,
                                out.data() + a * rows);
      if (first.empty()) {
        first = out;
        for (int64_t a = 0; a < m; ++a)
          for (int64_t r = 0; r < rows; ++r) {
            double sum = 0, magnitude = 0;
            for (int64_t i = 0; i < k; ++i) {
              const double product = values[static_cast<size_t>(r * k + i)] * activations.value(a, i);
              sum += product;
              magnitude += std::abs(product);
            }
            // What cancels between levels and minima counts too: bounded by the largest of both.
            double minima = 0;
            for (const int field : reference::half_fields(type))
              for (int64_t b = 0; b < blocks; ++b)
                for (int64_t i = 0; i < traits.block_elements; ++i)
                  minima += 64 * std::abs(activations.value(a, b * traits.block_elements + i) *
                                          reference::half(weights.data() +
                                                          (r * blocks + b) * traits.block_bytes + field));
            EXPECT_NEAR(first[static_cast<size_t>(a * rows + r)], sum,
                        3e-7 * static_cast<double>(4 + blocks) * (magnitude + minima));
          }
      }
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(first[i]))
            << quant_name(type) << " k " << k << " " << named.name;
      if (named.kernels->panel_rows == 0) continue;
      ASSERT_NE(named.kernels->panel[id], nullptr);
      const AlignedBytes panel = aligned_bytes(named.kernels->panel_bytes[id](k));
      const AlignedBytes tiles = tiled(named, type, activations, m, k);
      std::vector<float> through(out.size(), -1.0f);
      for (int64_t r = 0; r < rows; r += named.kernels->panel_rows) {
        const int64_t count = std::min<int64_t>(named.kernels->panel_rows, rows - r);
        named.kernels->pack[id](from + r * blocks * traits.block_bytes, count, k, panel.get());
        // Some of these tiles go through more elements than lines are ahead, others through fewer.
        const std::byte* const begin = panel.get();
        cpu::Ahead ahead{begin, begin + 640};
        named.kernels->panel[id](panel.get(), count, k, tiles.get(), m, ahead, through.data() + r, rows);
        const bool of_tiles = named.name == "v4 of amx in loops" || (named.name == "v4" && cpu::has_amx());
        EXPECT_EQ(ahead.next == begin, of_tiles) << quant_name(type);
        EXPECT_LT(ahead.next, ahead.end + 8 * 64) << quant_name(type);
      }
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(std::bit_cast<uint32_t>(through[i]), std::bit_cast<uint32_t>(first[i]))
            << quant_name(type) << " k " << k << " panel " << named.name << " activation " << i / rows
            << " row " << i % rows << ": " << through[i] << " " << first[i];
    }
  }
}

// Stripes give the bits of rows: any number of blocks, one stripe and several.
TEST_P(QuantRows, StripesGiveTheBitsOfRows) {
  const QuantType type = GetParam();
  const auto id = static_cast<size_t>(type);
  const QuantTraits& traits = quant_traits(type);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  int tried = 0;
  for (const Named& named : all_kernels()) {
    const int height = named.kernels->stripe_rows;
    if (named.kernels->stripes[id].rows == nullptr) continue;
    ++tried;
    for (int64_t blocks = 1; blocks <= 34; ++blocks) {
      const int64_t k = blocks * traits.block_elements, stripes = 1 + blocks % 3, rows = stripes * height;
      const std::vector<uint8_t> weights =
          reference::random_blocks(type, static_cast<size_t>(rows * blocks), random);
      std::vector<float> x(static_cast<size_t>(k));
      for (float& value : x) value = normal(random);
      if (blocks % 5 == 0) x[static_cast<size_t>(k / 2)] = blocks % 2 == 0 ? NAN : INFINITY;
      const Activations activations(type, 1, k, x);
      const auto* from = reinterpret_cast<const std::byte*>(weights.data());
      std::vector<float> expected(static_cast<size_t>(rows)), out(expected.size(), -1.0f);
      named.kernels->rows[id](from, rows, k, activations.bytes.data(), expected.data());
      const AlignedBytes packed = stripes_of(*named.kernels, type, from, stripes, k);
      named.kernels->stripes[id].rows(packed.get(), stripes, k, activations.bytes.data(), out.data());
      for (size_t r = 0; r < out.size(); ++r)
        ASSERT_TRUE(std::bit_cast<uint32_t>(out[r]) == std::bit_cast<uint32_t>(expected[r]) ||
                    (std::isnan(out[r]) && std::isnan(expected[r])))
            << named.name << " k " << k << " row " << r << " of " << rows << ": " << out[r] << " "
            << expected[r];
    }
  }
  if (tried == 0) GTEST_SKIP() << "no loops of this machine take stripes of " << quant_name(type);
}

// Activations meet panels some tiles at a time, and tiles and panels may be full in part.
TEST_P(QuantRows, PanelsMeetAnyNumberOfActivations) {
  const QuantType type = GetParam();
  const auto id = static_cast<size_t>(type);
  const QuantTraits& traits = quant_traits(type);
  const int64_t blocks = traits.block_elements == 32 ? 19 : 5, k = blocks * traits.block_elements;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const int64_t m : {1, 7, 8, 9, 16, 17, 64, 65, 95, 127, 136}) {
    const int64_t rows = 1 + m % 32;
    const std::vector<uint8_t> weights =
        reference::random_blocks(type, static_cast<size_t>(rows * blocks), random);
    const auto* from = reinterpret_cast<const std::byte*>(weights.data());
    std::vector<float> x(static_cast<size_t>(m * k));
    for (float& value : x) value = normal(random);
    const Activations activations(type, m, k, x);
    for (const Named& named : all_kernels()) {
      if (rows > named.kernels->panel_rows) continue;
      std::vector<float> one_by_one(static_cast<size_t>(m * rows)), through(one_by_one.size(), -1.0f);
      for (int64_t a = 0; a < m; ++a)
        named.kernels->rows[id](from, rows, k, activations.bytes.data() + a * activations.layout.stride,
                                one_by_one.data() + a * rows);
      const AlignedBytes panel = aligned_bytes(named.kernels->panel_bytes[id](k));
      named.kernels->pack[id](from, rows, k, panel.get());
      cpu::Ahead none{panel.get(), panel.get()};
      named.kernels->panel[id](panel.get(), rows, k, tiled(named, type, activations, m, k).get(), m, none,
                               through.data(), rows);
      ASSERT_EQ(std::memcmp(through.data(), one_by_one.data(), through.size() * sizeof(float)), 0)
          << quant_name(type) << " " << named.name << " activations " << m << " rows " << rows;
    }
  }
}

// Tiles that are made at once have the bytes of those made of prepared rows.
TEST_P(QuantRows, TilesAreAlikeMadeBothWays) {
  const QuantType type = GetParam();
  const auto id = static_cast<size_t>(type);
  const int64_t block = quant_traits(type).block_elements;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  // What some elements are, what the others are multiplied with (those of rows at -149 are denormal, at -200
  // zeros), and whether the last row's first block, where only these are, has 127 too and so the scale 1.
  struct Kind {
    float value;
    int exponent;
    bool scale_is_one = false;
  };
  const std::vector<Kind> kinds = {{1, 0},
                                   {0, 0},
                                   {-0.0f, 100},
                                   {kNan, 0},
                                   {-kNan, -60},
                                   {kInfinity, 20},
                                   {-kInfinity, 0},
                                   {1e38f, 0},
                                   {0, -119},
                                   {0, -149},
                                   {0x1p-119f, -200},
                                   {0x1.fffffep-120f, -200},
                                   {0.49999997f, 0, true},
                                   {-0.5f, 0, true},
                                   {126.5f, -200, true},
                                   {-2.5f, 0, true}};
  for (const Named& named : all_kernels()) {
    if (named.kernels->prepare_tile[id] == nullptr) {
      EXPECT_FALSE(named.name == "v4" && cpu::has_vnni(cpu::Isa::v4) && block == 32);
      continue;
    }
    const int64_t rows = named.kernels->tile_rows;
    for (const int64_t blocks : {1, 2, 3, 7, 8, 9, 16, 25})
      for (int64_t count = 1; count <= rows; ++count)
        for (const auto& [value, exponent, scale_is_one] : kinds) {
          const int64_t k = blocks * block;
          std::vector<float> x(static_cast<size_t>(count * k));
          for (float& element : x) element = std::ldexp(normal(random), exponent);
          for (int64_t i = 0; i < count * k; i += 1 + static_cast<int64_t>(random() % 97))
            x[static_cast<size_t>(i)] = value;
          std::fill_n(x.begin() + (count - 1) * k, block, value);
          if (scale_is_one) x[static_cast<size_t>((count - 1) * k)] = 127;
          const Activations activations(type, count, k, x);
          const int64_t bytes = named.kernels->tile_bytes[id](k);
          std::vector<std::byte> made(static_cast<size_t>(bytes), std::byte{0x55});
          named.kernels->prepare_tile[id](x.data(), count, k, made.data());
          ASSERT_EQ(std::memcmp(made.data(), tiled(named, type, activations, count, k).get(), made.size()), 0)
              << named.name << " k " << k << " rows " << count << " value " << value << " 2^" << exponent;
        }
  }
}

// The largest products there are: nothing inside may overflow.
TEST_P(QuantRows, ExtremeLevelsDoNotOverflow) {
  const QuantType type = GetParam();
  const auto id = static_cast<size_t>(type);
  const QuantTraits& traits = quant_traits(type);
  const int64_t k = 256, blocks = k / traits.block_elements;
  for (const int fill : {0xff, 0x80, 0x7f, 0x00}) {
    std::vector<uint8_t> weights(static_cast<size_t>(blocks * traits.block_bytes),
                                 static_cast<uint8_t>(fill));
    for (int64_t b = 0; b < blocks; ++b) {
      uint8_t* block = weights.data() + b * traits.block_bytes;
      for (const int field : reference::half_fields(type)) {
        block[field] = 0;
        block[field + 1] = 0x3c;  // 1
      }
      const float one = 1;
      if (type == QuantType::Q8_K) std::memcpy(block, &one, 4);
    }
    const std::vector<double> values = reference::dequantize(type, weights);
    for (const float sign : {1.0f, -1.0f}) {
      const std::vector<float> x(static_cast<size_t>(8 * k), sign * 127);
      const Activations activations(type, 8, k, x);
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += values[static_cast<size_t>(i)] * activations.value(0, i);
      for (const Named& named : all_kernels()) {
        float out;
        named.kernels->rows[id](reinterpret_cast<const std::byte*>(weights.data()), 1, k,
                                activations.bytes.data(), &out);
        EXPECT_NEAR(out, sum, 1e-5 * std::abs(sum) + 1) << named.name << " " << fill;
        const std::vector<uint8_t> alike = repeated(weights, named.kernels->stripe_rows);
        if (const AlignedBytes stripe =
                stripes_of(*named.kernels, type, reinterpret_cast<const std::byte*>(alike.data()), 1, k)) {
          std::vector<float> of_stripe(static_cast<size_t>(named.kernels->stripe_rows));
          named.kernels->stripes[id].rows(stripe.get(), 1, k, activations.bytes.data(), of_stripe.data());
          for (const float value : of_stripe) EXPECT_EQ(value, out) << named.name << " stripe";
        }
        if (named.kernels->panel_rows == 0) continue;
        const AlignedBytes panel = aligned_bytes(named.kernels->panel_bytes[id](k));
        float outs[8];
        named.kernels->pack[id](reinterpret_cast<const std::byte*>(weights.data()), 1, k, panel.get());
        cpu::Ahead none{panel.get(), panel.get()};
        named.kernels->panel[id](panel.get(), 1, k, tiled(named, type, activations, 8, k).get(), 8, none,
                                 outs, 1);
        EXPECT_EQ(none.next, panel.get());
        for (const float value : outs) EXPECT_EQ(value, out) << named.name << " panel";
      }
    }
  }
}

#if defined(__unix__)
/// Bytes that end where memory ends.
class AtEndOfMemory {
 public:
  explicit AtEndOfMemory(size_t bytes) : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    size_ = (bytes + page_ - 1) / page_ * page_;
    memory_ = static_cast<std::byte*>(
        ::mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(memory_), MAP_FAILED);
    EXPECT_EQ(::mprotect(memory_ + size_, page_, PROT_NONE), 0);
    data_ = memory_ + size_ - bytes;
  }
  ~AtEndOfMemory() { ::munmap(memory_, size_ + page_); }
  AtEndOfMemory(const AtEndOfMemory&) = delete;
  AtEndOfMemory& operator=(const AtEndOfMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  size_t page_, size_ = 0;
  std::byte* memory_ = nullptr;
  std::byte* data_ = nullptr;
};

TEST_P(QuantRows, ReadNothingBehindTheirBlocksAndActivations) {
  const QuantType type = GetParam();
  const auto id = static_cast<size_t>(type);
  const QuantTraits& traits = quant_traits(type);
  std::mt19937 random(3);
  for (int64_t blocks = 1; blocks <= 34; ++blocks) {
    const int64_t k = blocks * traits.block_elements;
    const std::vector<uint8_t> weights = reference::random_blocks(type, static_cast<size_t>(blocks), random);
    const Activations activations(type, 1, k, std::vector<float>(static_cast<size_t>(k), 0.5f));
    const AtEndOfMemory row(weights.size()), y(activations.bytes.size());
    std::memcpy(row.data(), weights.data(), weights.size());
    std::memcpy(y.data(), activations.bytes.data(), activations.bytes.size());
    float first = 0;
    for (const Named& named : all_kernels()) {
      float out;
      named.kernels->rows[id](row.data(), 1, k, y.data(), &out);
      if (named.name == "base") first = out;
      EXPECT_EQ(std::bit_cast<uint32_t>(out), std::bit_cast<uint32_t>(first)) << named.name << " k " << k;
      const cpu::StripeKernels& stripes = named.kernels->stripes[id];
      if (stripes.rows == nullptr) continue;
      const std::vector<uint8_t> alike = repeated(weights, named.kernels->stripe_rows);
      const AtEndOfMemory rows(alike.size()), stripe(static_cast<size_t>(stripes.bytes(k)));
      std::memcpy(rows.data(), alike.data(), alike.size());
      stripes.make(rows.data(), k, stripe.data());
      std::vector<float> of_stripe(static_cast<size_t>(named.kernels->stripe_rows));
      stripes.rows(stripe.data(), 1, k, y.data(), of_stripe.data());
      for (const float value : of_stripe)
        EXPECT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(first)) << named.name << " k " << k;
    }
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(All, QuantRows, testing::ValuesIn(reference::all_types()),
                         [](const auto& info) { return std::string(quant_name(info.param)); });

}  // namespace
}  // namespace beeswax
