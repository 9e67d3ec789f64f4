// SPDX-License-Identifier: Apache-2.0
// Weights in blocks that nothing computes with, read as blocks of another format: a published reading of
// them, and whole models, whose logits are those of the same model in the other format.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "beeswax/qtensor.h"
#include "io/gguf_writer.h"
#include "models/model.h"
#include "models/pass_cost.h"
#include "models/requantize.h"
#include "models/wider_blocks.h"
#include "support/random_model.h"
#include "support/raw.h"

namespace beeswax {
namespace {

constexpr uint32_t kF32 = 0, kQ80 = 8, kIq4Nl = 20;
constexpr size_t kNlBytes = 18, kWideBytes = 34;

std::vector<float> values_of(std::span<const std::byte> wider) {
  const auto count = static_cast<int64_t>(wider.size() / kWideBytes);
  return QTensor::from_bytes(wider, {count, 32}, QuantType::Q8_0).dequantize().to_vec<float>();
}

// What gguf-py 0.19 (gguf.quants.dequantize) gives for one block, in units of its scale.
TEST(WiderBlocks, ReadIq4NlAsPublished) {
  constexpr uint8_t kBlock[kNlBytes] = {76,  34, 160, 177, 130, 147, 228, 245, 198,
                                        215, 40, 57,  10,  27,  108, 125, 78,  95};
  constexpr float kScale = 0x1.93p-7f;
  constexpr int kLevels[32] = {-127, -104, -83, -65, -49,  -35,  -22, -10, 1,   13, 25,
                               38,   53,   69,  89,  113,  25,   38,  1,   13,  89, 113,
                               53,   69,   -83, -65, -127, -104, -22, -10, -49, -35};
  const io::GgmlType& type = *io::ggml_type(kIq4Nl);
  ASSERT_EQ(type.wider, QuantType::Q8_0);
  const auto wider = models::wider_blocks(type, std::as_bytes(std::span(kBlock)));
  ASSERT_EQ(wider.size(), kWideBytes);
  const std::vector<float> values = values_of(wider);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], kScale * static_cast<float>(kLevels[i])) << i;
  EXPECT_TRUE(models::wider_blocks(type, {}).empty());
}

// A model of a case with all matrices of whole blocks in IQ4_NL of random bytes, or in Q8_0 with their
// values.
std::vector<std::byte> rewritten(const nlohmann::json& one, uint32_t type) {
  constexpr int8_t kBytes[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  const std::vector<std::byte> bytes = test::random_model(one);
  const auto in = io::GgufFile::from_bytes(bytes, "in.gguf");
  io::GgufWriter out;
  for (const auto& [key, value] : in->metadata()) out.set(key, value);
  std::vector<std::vector<std::byte>> kept;
  for (const io::GgufTensor& tensor : in->tensors()) {
    const Shape& shape = tensor.shape;
    if (shape.rank() < 2 || shape[shape.rank() - 1] % 32 != 0 ||
        tensor.name.find("gate_inp") != tensor.name.npos) {
      out.add_tensor(tensor.name, tensor.type->id, shape, tensor.bytes);
      continue;
    }
    const auto count = static_cast<size_t>(shape.elem_count()) / 32;
    std::vector<std::byte>& made = kept.emplace_back();
    test::NameStream random{std::string(tensor.name)};
    for (size_t block = 0; block < count; ++block) {
      // About the size of other weights.
      const uint16_t scale = static_cast<uint16_t>(0x1000 + random.next() % 1024);
      uint8_t qs[16];
      for (uint8_t& q : qs) q = static_cast<uint8_t>(random.next());
      const auto put = [&](uint8_t byte) { made.push_back(static_cast<std::byte>(byte)); };
      put(static_cast<uint8_t>(scale));
      put(static_cast<uint8_t>(scale >> 8));
      if (type == kIq4Nl)
        for (const uint8_t q : qs) put(q);
      else
        for (int i = 0; i < 32; ++i) put(static_cast<uint8_t>(kBytes[qs[i % 16] >> i / 16 * 4 & 15]));
    }
    out.add_tensor(tensor.name, type, shape, made);
  }
  return out.to_bytes();
}

class WiderModels : public testing::TestWithParam<const char*> {
 protected:
  nlohmann::json one() const {
    std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/model/cases/" + GetParam() + ".json");
    return nlohmann::json::parse(in);
  }
};

TEST_P(WiderModels, GiveTheLogitsOfTheOtherFormat) {
  const auto one = this->one();
  const auto ids = one["ids"].get<std::vector<int32_t>>();
  std::vector<test::Raw> logits;
  for (const uint32_t type : {kIq4Nl, kQ80}) {
    const std::vector<std::byte> bytes = rewritten(one, type);
    const auto file = io::GgufFile::from_bytes(bytes, "model.gguf");
    const auto model = models::load_model(*file, one["context"].get<int64_t>());
    models::Cache past = model->make_cache(static_cast<int64_t>(ids.size()));
    const Tensor out = model->forward(ids, past);
    EXPECT_TRUE(std::isfinite(out.abs().max_all().to_scalar<float>()));
    logits.push_back(test::raw(out));
  }
  EXPECT_EQ(logits[0], logits[1]);
}

TEST_P(WiderModels, CostWhatTheOtherFormatCosts) {
  const auto one = this->one();
  const std::vector<std::byte> own = rewritten(one, kIq4Nl), wide = rewritten(one, kQ80);
  const models::PassCost a = models::pass_cost(*io::GgufFile::from_bytes(own, "own.gguf"), 3),
                         b = models::pass_cost(*io::GgufFile::from_bytes(wide, "wide.gguf"), 3);
  EXPECT_GT(a.quantized_macs, 0);
  EXPECT_EQ(a.quantized_macs, b.quantized_macs);
  EXPECT_EQ(a.dense_macs, b.dense_macs);
  EXPECT_EQ(a.bytes, b.bytes);
}

// Slices of rows (phi3), of stacks (mixtral), embeddings that are the output, too (qwen2).
INSTANTIATE_TEST_SUITE_P(Cases, WiderModels,
                         testing::Values("llama", "phi3_q5_k", "mixtral_q4_0", "qwen2_q5_0"),
                         [](const auto& info) { return std::string(info.param); });

TEST(WiderBlocks, AreQuantizedAnew) {
  std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/model/cases/llama.json");
  const std::vector<std::byte> bytes = rewritten(nlohmann::json::parse(in), kIq4Nl);
  const auto file = io::GgufFile::from_bytes(bytes, "own.gguf");
  const std::string path = std::string(BW_BINARY_DIR) + "/wider_blocks.gguf";
  models::RequantizeOptions options;
  options.mixture = &models::parse_mixture("f32");
  EXPECT_THROW(models::plan_requantize(*file, options), Error) << "blocks became f32 unasked";
  options.from_blocks = true;
  models::requantize(*file, path, options, models::plan_requantize(*file, options));
  const auto made = io::GgufFile::open(path);
  size_t compared = 0;
  for (const io::GgufTensor& tensor : file->tensors()) {
    if (tensor.type->id != kIq4Nl) continue;
    const io::GgufTensor* f32 = made->find_tensor(tensor.name);
    ASSERT_NE(f32, nullptr);
    ASSERT_EQ(f32->type->id, kF32);
    const Tensor values = Tensor::from_bytes(f32->bytes, f32->shape, DType::F32);
    EXPECT_EQ(values.to_vec<float>(), values_of(models::wider_blocks(*tensor.type, tensor.bytes)))
        << tensor.name;
    ++compared;
  }
  EXPECT_GT(compared, 5u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace beeswax
