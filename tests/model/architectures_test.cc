// SPDX-License-Identifier: Apache-2.0
// Every architecture against PyTorch: logits of small random models (tests/model/cases, written by
// tools/make_model_cases.py) as transformers computes them in f64. The largest error may be twice that of
// PyTorch in f32, or for quantized weights twice that of the f64 model with activations rounded to 8 bits;
// with an f16 cache, twice that of the same with keys and values rounded to f16.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "io/gguf.h"
#include "models/model.h"
#include "support/expect_error.h"
#include "support/model_case.h"
#include "support/random_model.h"

namespace beeswax {
namespace {

using test::read_model_case;

struct Case {
  explicit Case(const std::string& name, const nlohmann::json& overrides = nlohmann::json::object())
      : json(read_model_case(name)),
        bytes(test::random_model(json, overrides)),
        file(io::GgufFile::from_bytes(bytes, name + ".gguf")),
        ids(json["ids"].get<std::vector<int32_t>>()) {}
  std::unique_ptr<models::Model> load() const { return models::load_model(*file, json["context"]); }
  /// The largest error of the logits after the first `count` ids.
  double error_of(const Tensor& logits, size_t count) const {
    return test::error_of_logits(json, logits, count);
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

TEST_P(Architectures, LogitsWithAnF16CacheAreNearPyTorchs) {
  const Case one(GetParam());
  const auto model = one.load();
  models::Cache past = model->make_cache(static_cast<int64_t>(one.ids.size()), DType::F16);
  double worst = 0;
  for (size_t i = 0; i < one.ids.size(); ++i)
    worst = std::max(worst, one.error_of(model->forward(std::span(one.ids).subspan(i, 1), past), i + 1));
  EXPECT_LE(worst, one.json["cache_bound"].get<double>());
  // The cache did hold f16.
  if (one.json["bound"] < 1e-4) {
    EXPECT_GT(worst, one.json["bound"].get<double>());
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Architectures, testing::ValuesIn(test::model_case_names()),
                         [](const auto& info) { return info.param; });

TEST(Architectures, EveryRowOfTheTableHasACase) {
  std::set<std::string> covered;
  for (const std::string& name : test::model_case_names())
    covered.insert(read_model_case(name)["metadata"]["general.architecture"].get<std::string>());
#define BW_MODEL(Name, name, ...) EXPECT_TRUE(covered.contains(#name)) << #name;
#include "tables/models.def"
}

// The bound is tight enough to see every option: a file that says something a little different is far beyond.
struct Change {
  const char *name, *key;
  nlohmann::json value;
};

class Options : public testing::TestWithParam<Change> {};

TEST_P(Options, Matter) {
  const auto& [name, key, value] = GetParam();
  const Case one(name, {{key, value}});
  const auto model = one.load();
  models::Cache past = model->make_cache(static_cast<int64_t>(one.ids.size()));
  const Tensor logits = model->forward(one.ids, past);
  EXPECT_GT(one.error_of(logits, one.ids.size()), 20 * one.json["bound"].get<double>());
}

INSTANTIATE_TEST_SUITE_P(
    Changes, Options,
    testing::Values(Change{"llama", "llama.rope.freq_base", 10100.0},
                    Change{"llama", "llama.attention.layer_norm_rms_epsilon", 0.0021},
                    Change{"llama_linear", "llama.rope.scaling.factor", 4.01},
                    Change{"llama_linear", "llama.rope.scaling.type", "none"},
                    Change{"llama3", "llama.rope.scaling.factor", 1.01},
                    Change{"llama_linear_old_key", "llama.rope.scale_linear", 2.01},
                    Change{"mistral", "llama.attention.sliding_window", 8},
                    Change{"mistral", "llama.attention.sliding_window", 0},
                    Change{"mixtral", "llama.expert_used_count", 3},
                    Change{"qwen2_yarn", "qwen2.rope.scaling.factor", 4.01},
                    Change{"qwen2_yarn", "qwen2.rope.scaling.original_context_length", 64},
                    Change{"qwen2_yarn", "qwen2.rope.scaling.yarn_beta_fast", 1.5},
                    Change{"qwen2_yarn", "qwen2.rope.scaling.yarn_beta_slow", 0.01},
                    Change{"qwen2_yarn", "qwen2.rope.scaling.yarn_attn_factor", 1.14},
                    Change{"qwen2_yarn", "qwen2.rope.scaling.attn_factor", 1.001},
                    Change{"qwen3moe", "qwen3moe.expert_used_count", 2},
                    Change{"qwen3moe", "qwen3moe.expert_weights_norm", false},
                    Change{"phi3", "phi3.attention.sliding_window", 10},
                    Change{"phi3_long", "phi3.rope.scaling.attn_factor", 1.191},
                    Change{"phi4_long", "phi3.rope.scaling.original_context_length", 64},
                    Change{"gemma2", "gemma2.attn_logit_softcapping", 3.01},
                    Change{"gemma2", "gemma2.final_logit_softcapping", 2.01},
                    Change{"gemma2", "gemma2.attention.sliding_window", 8},
                    Change{"gemma3", "gemma3.attention.sliding_window", 8},
                    Change{"gemma3", "gemma3.rope.freq_base_swa", 10100.0},
                    Change{"gemma3", "gemma3.rope.freq_base", 1.1e6},
                    Change{"gemma3", "gemma3.rope.scaling.factor", 8.01},
                    Change{"gemma3", "gemma3.final_logit_softcapping", 10.0},
                    Change{"gemma3_pattern", "gemma3.attention.sliding_window_pattern", 3}),
    [](const auto& info) { return std::to_string(info.index) + "_" + std::string(info.param.name); });

// A pattern of layers may be a flag for each: 1 has a window.
TEST(Architectures, LayersWithAWindowMayBeListed) {
  const Case periodic("gemma3_pattern");
  const Case listed("gemma3_pattern", {{"gemma3.attention.sliding_window_pattern", {1, 0, 1, 0}}});
  models::Cache past = listed.load()->make_cache(24), other = periodic.load()->make_cache(24);
  EXPECT_EQ(listed.load()->forward(listed.ids, past).to_vec<float>(),
            periodic.load()->forward(periodic.ids, other).to_vec<float>());
}

// What the check of a file says must be what loading it says.
template <class F>
void expect_refused(const Case& one, ErrorKind kind, const std::string& message, const F& load) {
  try {
    load(one);
    ADD_FAILURE() << "loads, but should say: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

void expect_refused(const std::string& name, const nlohmann::json& overrides, ErrorKind kind,
                    const std::string& message) {
  const Case one(name, overrides);
  expect_refused(one, kind, message, [](const Case& c) { c.load(); });
  expect_refused(one, kind, message, [](const Case& c) { models::check_model(*c.file); });
}

TEST(Architectures, EverySoundFilePassesTheCheck) {
  for (const std::string& name : test::model_case_names())
    EXPECT_NO_THROW(models::check_model(*Case(name).file)) << name;
}

TEST(Architectures, UnknownOnesNameTheKnown) {
  expect_refused(
      "llama", {{"general.architecture", "mamba"}}, ErrorKind::Unsupported,
      "llama.gguf is of architecture 'mamba'; known are: llama qwen2 qwen3 qwen3moe phi3 gemma2 gemma3");
  expect_refused("qwen2_yarn", {{"qwen2.rope.scaling.type", "dynamic"}}, ErrorKind::Unsupported,
                 "scales positions by 'dynamic'; this version has: none, linear, yarn, longrope");
}

TEST(Architectures, NormsHaveTheirEpsilon) {
  expect_refused("llama", {{"llama.attention.layer_norm_rms_epsilon", nullptr}}, ErrorKind::Format,
                 "'llama.attention.layer_norm_rms_epsilon'");
}

TEST(Architectures, YarnScalesPositionsAlone) {
  const std::string key = "qwen2.rope.scaling.yarn_ext_factor";
  for (const float share : {0.0f, 0.5f})
    expect_refused("qwen2_yarn", {{key, share}}, ErrorKind::Unsupported, "computes YaRN with 1 only");
  for (const float share : {1.0f, -1.0f}) {
    const Case one("qwen2_yarn", {{key, share}});
    models::Cache past = one.load()->make_cache(static_cast<int64_t>(one.ids.size()));
    EXPECT_LE(one.error_of(one.load()->forward(one.ids, past), one.ids.size()),
              one.json["bound"].get<double>());
  }
  expect_refused("llama3", {{"llama.rope.scaling.type", "yarn"}}, ErrorKind::Unsupported,
                 "scales positions by 'yarn' and the tensor 'rope_freqs.weight'; this version has one");
}

TEST(Architectures, FilesThatContradictThemselvesAreRefused) {
  const auto format = ErrorKind::Format;
  expect_refused("llama", {{"llama.block_count", 4}}, format, "has no tensor 'blk.3.");
  expect_refused("llama", {{"llama.block_count", 4000000000u}}, format, "must be positive and below 2^31");
  expect_refused("llama", {{"llama.block_count", 2000000000u}}, format, "tensors for 2000000000 layers");
  expect_refused("llama", {{"llama.attention.head_count", 0}}, format, "must be positive");
  expect_refused("llama", {{"llama.attention.head_count", 2147483646u}}, format,
                 "'blk.0.attn_output.weight' is");
  expect_refused("llama", {{"llama.attention.head_count_kv", 3}}, format, "4 heads over 3 key/value heads");
  expect_refused("llama", {{"llama.attention.value_length", 8}}, format, "of 16 and 8 elements, do not fit");
  expect_refused("llama", {{"llama.rope.dimension_count", 18}}, format, "18 elements of heads of 16");
  expect_refused("llama", {{"llama.rope.dimension_count", 15}}, format, "15 elements of heads of 16");
  expect_refused("llama", {{"llama.feed_forward_length", 95}}, format, "is [64, 96], not [64, 95]");
  expect_refused("llama", {{"llama.rope.scaling.type", "longrope"}}, format,
                 "has no tensor 'rope_factors_short");
  expect_refused("mixtral", {{"llama.expert_used_count", 7}}, format, "each token goes to 7 of 6 experts");
  expect_refused("mixtral", {{"llama.expert_count", 5}}, format, "is [6, 64], not [5, 64]");
  for (const char* key : {"freq_base", "scaling.yarn_beta_fast", "scaling.yarn_beta_slow", "scaling.factor",
                          "scaling.yarn_attn_factor", "scaling.attn_factor"}) {
    const std::string name = std::string("qwen2.rope.") + key;
    expect_refused("qwen2_yarn", {{name, -1.0}}, format,
                   "qwen2_yarn.gguf: '" + name + "' is -1; it must be a");
  }
  expect_refused("qwen2_yarn", {{"qwen2.rope.freq_base", 1.0}}, format, "must be above 1");
  expect_refused("llama_linear", {{"llama.rope.scaling.factor", -2.0}}, format,
                 "is -2; it must be at least 0");
  expect_refused("llama_linear", {{"llama.rope.scaling.attn_factor", 0.0}}, format, "must be above 0");
  expect_refused("llama", {{"llama.rope.freq_base", 0.0}}, format, "must be above 0");
}

// Whatever number the metadata holds, a file loads or is refused; nothing large is allocated on its word.
TEST(Architectures, AnyMetadataLoadsOrIsRefused) {
  const std::vector<nlohmann::json> values = {0,     1,    2,        2147483646u, 4294967295u, -1.0,  0.0,
                                              1e-30, 1e30, HUGE_VAL, false,       "text",      {1, 2}};
  for (const std::string name :
       {"llama_linear", "qwen2_yarn", "qwen3moe", "phi4_long", "gemma2", "gemma3_pattern"}) {
    const nlohmann::json metadata = read_model_case(name)["metadata"];
    for (const auto& [key, unused] : metadata.items()) {
      for (const nlohmann::json& value : values) {
        const Case one(name, {{key, value}});
        try {
          models::check_model(*one.file);
          models::Cache past = one.load()->make_cache(4);
          EXPECT_NO_THROW(one.load()->forward(std::span(one.ids).first(3), past)) << key << " " << value;
        } catch (const Error& error) {
          EXPECT_NE(error.kind(), ErrorKind::Internal) << key << " " << value << ": " << error.what();
        }
      }
    }
  }
}

// A tensor that is left over would have changed the results, except for angles that follow from the metadata.
TEST(Architectures, TensorsLeftOverAreRefused) {
  expect_refused("llama", {{"llama.block_count", 2}}, ErrorKind::Unsupported, "holds the tensor 'blk.2.");
  for (const bool known : {true, false}) {
    nlohmann::json json = read_model_case("llama");
    json["tensors"].push_back({{"name", known ? "blk.0.attn_rot_embd.weight" : "blk.0.attn_scales.weight"},
                               {"shape", {16}},
                               {"type", "f32"},
                               {"spread", 1.0},
                               {"shift", 0.0}});
    const std::vector<std::byte> bytes = test::random_model(json);
    const auto file = io::GgufFile::from_bytes(bytes, "extra.gguf");
    if (known)
      EXPECT_NO_THROW(models::load_model(*file, 8));
    else
      EXPECT_ERROR(
          models::load_model(*file, 8), Unsupported,
          "extra.gguf holds the tensor 'blk.0.attn_scales.weight', which models of its architecture");
  }
}

}  // namespace
}  // namespace beeswax
