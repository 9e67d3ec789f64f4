// SPDX-License-Identifier: Apache-2.0
// Models whose weights stay in the file: the same logits as from copies, after the file's object is gone and
// its name with it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "io/gguf.h"
#include "models/model.h"
#include "support/random_model.h"
#include "support/raw.h"

namespace beeswax {
namespace {

class MappedWeights : public testing::TestWithParam<const char*> {};

TEST_P(MappedWeights, GiveTheLogitsOfCopies) {
  std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/model/cases/" + GetParam() + ".json");
  const auto one = nlohmann::json::parse(in);
  const std::vector<std::byte> bytes = test::random_model(one);
  const auto ids = one["ids"].get<std::vector<int32_t>>();
  const int64_t context = one["context"];
  const auto copied = models::load_model(*io::GgufFile::from_bytes(bytes, "copied.gguf"), context);
  models::Cache copied_past = copied->make_cache(static_cast<int64_t>(ids.size()));
  const Tensor expected = copied->forward(ids, copied_past);

  const std::string path = std::string(BW_BINARY_DIR) + "/mapped_" + GetParam() + ".gguf";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  auto file = io::GgufFile::open(path);
  const std::weak_ptr<const void> mapping = file->tensors().front().owner;
  const auto before = mapping.use_count();
  auto model = models::load_model(*file, context);
  EXPECT_GT(mapping.use_count(), before) << "no weight looks into the file";
  file.reset();
  std::filesystem::remove(path);
  EXPECT_FALSE(mapping.expired());
  models::Cache past = model->make_cache(static_cast<int64_t>(ids.size()));
  EXPECT_EQ(test::raw(model->forward(ids, past)), test::raw(expected));
  model.reset();
  EXPECT_TRUE(mapping.expired());
}

INSTANTIATE_TEST_SUITE_P(Cases, MappedWeights,
                         testing::Values("llama", "llama_q4_k_m", "llama_tied_f16", "mixtral_q4_0",
                                         "phi3_q5_k", "qwen2_q5_0"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace beeswax
