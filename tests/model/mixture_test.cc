// SPDX-License-Identifier: Apache-2.0
// Mixtures give the sizes that people know: llama.cpp's help text lists them for Llama 3 8B. Models of known
// sizes have the parameter counts that their makers published.
#include <gtest/gtest.h>

#include "io/gguf_writer.h"
#include "models/model_sizes.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

using models::choose_type;
using models::MixtureModel;
using models::parse_mixture;

std::string_view type_name(std::string_view mixture, const MixtureModel& model, std::string_view name) {
  return choose_type(parse_mixture(mixture), model, name).name;
}

TEST(Mixture, SizesOfLlama8bArePublished) {
  const std::pair<const char*, double> published[] = {
      {"q4_0", 4.34},   {"q4_1", 4.78},   {"q5_0", 5.21},   {"q5_1", 5.65},   {"q2_k", 2.96},
      {"q3_k_s", 3.41}, {"q3_k_m", 3.74}, {"q3_k_l", 4.03}, {"q4_k_s", 4.37}, {"q4_k_m", 4.58},
      {"q5_k_s", 5.21}, {"q5_k_m", 5.33}, {"q6_k", 6.14},   {"q8_0", 7.96}};
  constexpr double kVocabulary = 0.007;  // the tokens, which are in those files too
  for (const auto& [mixture, gigabytes] : published) {
    const double bytes = static_cast<double>(
        models::describe_model(models::find_sizes("llama-8b"), parse_mixture(mixture)).data_bytes());
    EXPECT_NEAR(bytes / (1 << 30) + kVocabulary, gigabytes, 0.01) << mixture;
  }
}

TEST(Mixture, ParameterCountsArePublished) {
  const std::pair<const char*, int64_t> published[] = {
      {"llama-1b", 1'235'814'400},   {"llama-3b", 3'212'749'824},      {"llama-8b", 8'030'261'248},
      {"llama-70b", 70'553'706'496}, {"mistral-7b", 7'248'023'552},    {"mixtral-8x7b", 46'702'792'704},
      {"qwen2.5-0.5b", 494'032'768}, {"qwen2.5-7b", 7'615'616'512},    {"qwen3-0.6b", 596'049'920},
      {"qwen3-8b", 8'190'735'360},   {"qwen3-30b-a3b", 30'532'122'624}};
  EXPECT_EQ(std::size(published), models::known_sizes().size());
  // Of f32 elements, and no padding: every size is a multiple of the alignment.
  for (const auto& [name, count] : published)
    EXPECT_EQ(static_cast<int64_t>(
                  models::describe_model(models::find_sizes(name), parse_mixture("f32")).data_bytes() / 4),
              count)
        << name;
  EXPECT_ERROR(models::find_sizes("llama-9b"), InvalidArgument, "known: llama-1b");
}

TEST(Mixture, LayersThatGetMore) {
  const MixtureModel model{.layers = 32, .sharing = 4};
  std::string with_more;
  for (int i = 0; i < 32; ++i)
    if (type_name("q4_k_m", model, "blk." + std::to_string(i) + ".ffn_down.weight") == "q6_k")
      with_more += std::to_string(i) + " ";
  EXPECT_EQ(with_more, "0 1 2 3 6 9 12 15 18 21 24 27 28 29 30 31 ");
  EXPECT_EQ(type_name("q4_k_m", model, "blk.4.ffn_up.weight"), "q4_k");
  EXPECT_EQ(type_name("q4_k_m", model, "blk.4.attn_qkv.weight"), "q5_k");
  EXPECT_EQ(type_name("q4_k_s", model, "blk.3.attn_v.weight"), "q5_k");
  EXPECT_EQ(type_name("q4_k_s", model, "blk.4.attn_v.weight"), "q4_k");
  EXPECT_EQ(type_name("q3_k_m", model, "blk.1.ffn_down.weight"), "q5_k");
  EXPECT_EQ(type_name("q3_k_m", model, "blk.2.ffn_down.weight"), "q4_k");
  EXPECT_EQ(type_name("q2_k", model, "blk.9.attn_v.weight"), "q4_k");
  EXPECT_EQ(type_name("q2_k", {.layers = 32, .sharing = 1}, "blk.9.attn_v.weight"), "q3_k");
  EXPECT_EQ(choose_type(parse_mixture("q4_k_m"), model, "blk.0.ffn_down.weight", true).name, "q4_k");
}

TEST(Mixture, OutputsEmbeddingsAndExperts) {
  const MixtureModel model{.layers = 32, .sharing = 4};
  EXPECT_EQ(type_name("q4_0", model, "output.weight"), "q6_k");
  EXPECT_EQ(type_name("q8_0", model, "output.weight"), "q8_0");
  EXPECT_EQ(type_name("bf16", model, "output.weight"), "bf16");
  EXPECT_EQ(type_name("q4_0", model, "token_embd.weight"), "q4_0");
  EXPECT_EQ(type_name("q4_0", {.layers = 32, .tied = true}, "token_embd.weight"), "q6_k");
  const MixtureModel eight{.layers = 32, .sharing = 4, .experts = 8};
  EXPECT_EQ(type_name("q4_k_m", eight, "blk.9.attn_k.weight"), "q8_0");
  EXPECT_EQ(type_name("q4_k_m", eight, "blk.9.attn_output.weight"), "q5_k");
  EXPECT_EQ(type_name("q4_k_m", eight, "blk.9.ffn_down_exps.weight"), "q6_k");
  EXPECT_EQ(type_name("q4_k_m", {.layers = 80, .sharing = 8}, "blk.11.attn_v.weight"), "q5_k");
  EXPECT_EQ(type_name("q4_0", {.layers = 32, .importance = true}, "blk.3.ffn_down.weight"), "q4_1");
  EXPECT_EQ(type_name("q4_0", {.layers = 32, .importance = true}, "blk.4.ffn_down.weight"), "q4_0");
}

TEST(Mixture, WhatIsQuantizedAndWhatRowsFit) {
  EXPECT_TRUE(models::is_quantizable("blk.0.attn_q.weight", {4, 4}));
  EXPECT_FALSE(models::is_quantizable("blk.0.attn_q.bias", {4, 4}));
  EXPECT_FALSE(models::is_quantizable("blk.0.attn_q.weight", {4}));
  EXPECT_FALSE(models::is_quantizable("blk.0.attn_norm.weight", {4, 4}));
  EXPECT_FALSE(models::is_quantizable("blk.0.ffn_gate_inp.weight", {4, 4}));
  const auto fit = [](uint32_t id, int64_t columns) {
    return models::rows_fit(*io::ggml_type(id), columns).name;
  };
  EXPECT_EQ(fit(12, 512), "q4_k");
  EXPECT_EQ(fit(10, 96), "q4_0");
  EXPECT_EQ(fit(11, 96), "q4_0");
  EXPECT_EQ(fit(12, 96), "q5_0");
  EXPECT_EQ(fit(13, 96), "q5_1");
  EXPECT_EQ(fit(14, 96), "q8_0");
  EXPECT_EQ(fit(14, 40), "f16");
  EXPECT_EQ(fit(2, 40), "f16");
  EXPECT_EQ(fit(0, 40), "f32");
}

TEST(Mixture, NamesAndFileTypes) {
  EXPECT_EQ(parse_mixture("Q4_K_M").file_type, 15u);
  EXPECT_EQ(&parse_mixture("q4_k"), &parse_mixture("q4_k_m"));
  EXPECT_EQ(parse_mixture("q8_0").file_type, 7u);
  EXPECT_EQ(parse_mixture("bf16").file_type, 32u);
  EXPECT_ERROR(parse_mixture("q4_2"), InvalidArgument, "'q4_2' is no type of model files (known: f32, f16");
}

}  // namespace
}  // namespace beeswax
