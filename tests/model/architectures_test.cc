// SPDX-License-Identifier: Apache-2.0
// Every architecture against PyTorch: logits of small random models (tests/model/cases, written by
// tools/make_model_cases.py) as transformers computes them in f64. The largest error may be twice that of
// PyTorch in f32, or for quantized weights twice that of the f64 model with activations rounded to 8 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/gguf.h"
#include "models/model.h"
#include "support/expect_error.h"
#include "support/random_model.h"

namespace beeswax {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(BW_SOURCE_DIR) / "tests" / "model" / "cases";

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases)) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

nlohmann::json read_case(const std::string& name) {
  std::ifstream in(kCases / (name + ".json"));
  return nlohmann::json::parse(in);
}

struct Case {
  explicit Case(const std::string& name, const nlohmann::json& overrides = nlohmann::json::object())
      : json(read_case(name)),
        bytes(test::random_model(json, overrides)),
        file(io::GgufFile::from_bytes(bytes, name + ".gguf")),
        ids(json["ids"].get<std::vector<int32_t>>()) {}
  std::unique_ptr<models::Model> load() const { return models::load_model(*file, json["context"]); }
  /// The largest error of the logits after the first `count` ids.
  double error_of(const Tensor& logits, size_t count) const {
    const auto expected = json["logits"][count - 1].get<std::vector<double>>();
    const auto got = logits.to_vec<float>();
    EXPECT_EQ(got.size(), expected.size());
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const double error = std::fabs(got[i] - expected[i]);
      worst = error <= worst ? worst : error;  // NaN stays
    }
    return worst;
  }

  nlohmann::json json;
  std::vector<std::byte> bytes;
  std::shared_ptr<const io::GgufFile> file;
  std::vector<int32_t> ids;
};

class Architectures : public testing::TestWithParam<std::string> {};

// The ids in batches of several sizes: one by one, all at once, and unequal parts.
TEST_P(Architectures, LogitsAreNearPyTorchs) {
  const Case one(GetParam());
  const auto model = one.load();
  const double bound = one.json["bound"];
  double worst = 0;
  for (const size_t batch : {size_t{1}, size_t{5}, one.ids.size() - 1, one.ids.size()}) {
    models::Cache past = model->make_cache(static_cast<int64_t>(one.ids.size()));
    for (size_t first = 0; first < one.ids.size(); first += batch) {
      const size_t count = std::min(batch, one.ids.size() - first);
      const Tensor logits = model->forward(std::span(one.ids).subspan(first, count), past);
      const double error = one.error_of(logits, first + count);
      EXPECT_LE(error, bound) << "batches of " << batch << ", position " << first + count - 1;
      worst = std::max(worst, error);
    }
  }
  if (std::getenv("BEESWAX_SHOW_ERRORS") != nullptr)
    std::printf("%-24s error %.2e, PyTorch's %.2e, ratio %.2f\n", GetParam().c_str(), worst, bound / 2,
                worst / (bound / 2));
}

INSTANTIATE_TEST_SUITE_P(Cases, Architectures, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace beeswax
