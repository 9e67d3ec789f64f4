// SPDX-License-Identifier: Apache-2.0
// config.json in the form of published models (written from what is known of them), as metadata. What is
// expected are the models' published sizes.
#include "models/hf_config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/gguf.h"
#include "support/expect_error.h"

namespace beeswax::models {
namespace {

struct Published {
  const char* name;
  const char* config;
  const char* architecture;
  std::vector<std::pair<const char*, double>> expected;
};

std::ostream& operator<<(std::ostream& out, const Published& one) { return out << one.name; }

class PublishedConfigs : public testing::TestWithParam<Published> {};

TEST_P(PublishedConfigs, HaveTheirSizes) {
  const Published& one = GetParam();
  const io::JsonValue json = io::JsonValue::parse(one.config, "config.json");
  const HfConfig config(text_config(json, "config.json"), "config.json");
  const HfMetadata metadata = translate_config(config, one.name);
  const auto file = io::GgufFile::assemble(one.name, metadata.values, {}, 0);
  EXPECT_EQ(file->get_string("general.architecture"), one.architecture);
  for (const auto& [key, value] : one.expected)
    EXPECT_EQ(file->get_float(std::string(one.architecture) + "." + key), value) << key;
}

INSTANTIATE_TEST_SUITE_P(
    Models, PublishedConfigs,
    testing::Values(
        Published{
            "Llama_3_1_8B",
            R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
"bos_token_id": 128000, "eos_token_id": 128001, "hidden_act": "silu", "hidden_size": 4096,
"initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 131072, "mlp_bias": false,
"model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
"pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
"high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
"rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
"transformers_version": "4.43.0.dev0", "use_cache": true, "vocab_size": 128256})",
            "llama",
            {{"block_count", 32},
             {"attention.head_count_kv", 8},
             {"attention.key_length", 128},
             {"attention.layer_norm_rms_epsilon", 1e-5},
             {"rope.dimension_count", 128},
             {"rope.freq_base", 5e5}}},
        Published{"SmolLM2_135M",
                  R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
"attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 576,
"initializer_range": 0.041666666666666664, "intermediate_size": 1536, "is_llama_config": true,
"max_position_embeddings": 8192, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 9,
"num_hidden_layers": 30, "num_key_value_heads": 3, "pad_token_id": 2, "pretraining_tp": 1,
"rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null, "rope_theta": 100000,
"tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers.js_config": {"kv_cache_dtype":
{"q4f16": "float16", "fp16": "float16"}}, "transformers_version": "4.42.3", "use_cache": true,
"vocab_size": 49152})",
                  "llama",
                  {{"attention.key_length", 64}, {"rope.freq_base", 1e5}}},
        Published{"Mistral_7B_v0_1",
                  R"({"architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
"hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
"max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 32,
"num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
"tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.34.0.dev0",
"use_cache": true, "vocab_size": 32000})",
                  "llama",
                  {{"attention.sliding_window", 4096}, {"rope.freq_base", 1e4}}},
        Published{"Mixtral_8x7B",
                  R"({"architectures": ["MixtralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1,
"eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
"intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mixtral",
"num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
"num_local_experts": 8, "output_router_logits": false, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0,
"router_aux_loss_coef": 0.02, "sliding_window": null, "tie_word_embeddings": false,
"torch_dtype": "bfloat16", "transformers_version": "4.36.0.dev0", "use_cache": true, "vocab_size": 32000})",
                  "llama",
                  {{"expert_count", 8},
                   {"expert_used_count", 2},
                   {"attention.sliding_window", 0},
                   {"rope.freq_base", 1e6}}},
        Published{"Qwen2_5_7B",
                  R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
"eos_token_id": 151645, "hidden_act": "silu", "hidden_size": 3584, "initializer_range": 0.02,
"intermediate_size": 18944, "max_position_embeddings": 32768, "max_window_layers": 28, "model_type": "qwen2",
"num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "rms_norm_eps": 1e-06,
"rope_theta": 1000000.0, "sliding_window": 131072, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
"transformers_version": "4.43.1", "use_cache": true, "use_sliding_window": false, "vocab_size": 152064})",
                  "qwen2",
                  {{"attention.key_length", 128}, {"context_length", 32768}}},
        Published{"Qwen3_30B_A3B",
                  R"({"architectures": ["Qwen3MoeForCausalLM"], "attention_bias": false,
"attention_dropout": 0.0, "bos_token_id": 151643, "decoder_sparse_step": 1, "eos_token_id": 151645,
"head_dim": 128, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
"intermediate_size": 6144, "max_position_embeddings": 40960, "max_window_layers": 48, "mlp_only_layers": [],
"model_type": "qwen3_moe", "moe_intermediate_size": 768, "norm_topk_prob": true, "num_attention_heads": 32,
"num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
"output_router_logits": false, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000.0,
"router_aux_loss_coef": 0.001, "sliding_window": null, "tie_word_embeddings": false,
"torch_dtype": "bfloat16", "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false,
"vocab_size": 151936})",
                  "qwen3moe",
                  {{"expert_count", 128},
                   {"expert_used_count", 8},
                   {"expert_feed_forward_length", 768},
                   {"attention.key_length", 128},
                   {"context_length", 40960}}},
        Published{
            "Phi_3_mini_4k",
            R"({"_name_or_path": "Phi-3-mini-4k-instruct", "architectures": ["Phi3ForCausalLM"],
"attention_dropout": 0.0, "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}, "bos_token_id": 1,
"embd_pdrop": 0.0, "eos_token_id": 32000, "hidden_act": "silu", "hidden_size": 3072,
"initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 4096, "model_type": "phi3",
"num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32,
"original_max_position_embeddings": 4096, "pad_token_id": 32000, "resid_pdrop": 0.0, "rms_norm_eps": 1e-05,
"rope_scaling": null, "rope_theta": 10000.0, "sliding_window": 2047, "tie_word_embeddings": false,
"torch_dtype": "bfloat16", "transformers_version": "4.40.2", "use_cache": true, "attention_bias": false,
"vocab_size": 32064})",
            "phi3",
            {{"attention.key_length", 96}, {"attention.sliding_window", 2047}, {"rope.dimension_count", 96}}},
        Published{"Gemma_2_2b",
                  R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false,
"attention_dropout": 0.0, "attn_logit_softcapping": 50.0, "bos_token_id": 2, "cache_implementation": "hybrid",
"eos_token_id": 1, "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
"hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2304, "initializer_range": 0.02,
"intermediate_size": 9216, "max_position_embeddings": 8192, "model_type": "gemma2", "num_attention_heads": 8,
"num_hidden_layers": 26, "num_key_value_heads": 4, "pad_token_id": 0, "query_pre_attn_scalar": 256,
"rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096, "torch_dtype": "float32",
"transformers_version": "4.42.4", "use_cache": true, "vocab_size": 256000})",
                  "gemma2",
                  {{"attn_logit_softcapping", 50},
                   {"final_logit_softcapping", 30},
                   {"attention.scale", 1.0 / 16},
                   {"attention.sliding_window", 4096}}},
        Published{"Gemma_3_4b",
                  R"({"architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255999,
"eoi_token_index": 256000, "eos_token_id": [1, 106], "image_token_index": 262144, "initializer_range": 0.02,
"mm_tokens_per_image": 256, "model_type": "gemma3", "text_config": {"hidden_size": 2560,
"intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34, "rope_scaling":
{"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}, "torch_dtype": "bfloat16",
"transformers_version": "4.50.0.dev0", "vision_config": {"hidden_size": 1152, "image_size": 896,
"model_type": "siglip_vision_model"}})",
                  "gemma3",
                  {{"block_count", 34},
                   {"attention.head_count", 8},
                   {"attention.head_count_kv", 4},
                   {"attention.key_length", 256},
                   {"attention.scale", 1.0 / 16},
                   {"attention.sliding_window", 1024},
                   {"attention.sliding_window_pattern", 6},
                   {"attention.layer_norm_rms_epsilon", 1e-6},
                   {"context_length", 131072},
                   {"final_logit_softcapping", 0},
                   {"rope.freq_base", 1e6},
                   {"rope.freq_base_swa", 1e4},
                   {"rope.scaling.factor", 8}}}),
    [](const auto& info) { return std::string(info.param.name); });

// Llama 3.1's factors of positions: pairs that turn more than 4 times in 8192 positions keep their speed,
// those that turn less than once are 8 times as slow.
TEST(HfConfig, KeysThatChangeNothing) {
  for (const char* key :
       {R"("tokenizer_class": "LlamaTokenizer")", R"("neftune_noise_alpha": 5.0)",
        R"("model_max_length": 512)", R"("use_bfloat16": true)", R"("output_hidden_states": true)",
        R"("output_attentions": true)", R"("is_decoder": true)", R"("problem_type": "regression")",
        R"("task_specific_params": {"a": 1})", R"("do_sample": true)", R"("max_new_tokens": 20)",
        R"("sep_token_id": 3)", R"("hidden_dropout": 0.1)"})
    EXPECT_NO_THROW(
        HfConfig(io::JsonValue::parse(std::string(R"({"model_type": "llama", )") + key + "}", "c"), "c"))
        << key;
  for (const char* key : {R"("is_llama_config": false)", R"("rope_interleaved": true)"})
    EXPECT_ERROR(
        HfConfig(io::JsonValue::parse(std::string(R"({"model_type": "llama", )") + key + "}", "c"), "c"),
        Unsupported, "this version computes llama models with");
}

TEST(HfConfig, FactorsOfLlama3) {
  const io::JsonValue json = io::JsonValue::parse(
      R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
"intermediate_size": 14336, "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
"high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}})",
      "config.json");
  const HfMetadata metadata = translate_config(HfConfig(json, "config.json"), "test");
  ASSERT_EQ(metadata.factors.size(), 1u);
  EXPECT_EQ(metadata.factors[0].first, "rope_freqs.weight");
  const std::vector<float>& factors = metadata.factors[0].second;
  ASSERT_EQ(factors.size(), 64u);
  for (size_t i = 0; i < factors.size(); ++i) {
    const long double wave = 2 * std::acos(-1.0L) * std::pow(500000.0L, static_cast<long double>(i) / 64);
    const long double kept = wave < 2048 ? 1 : wave > 8192 ? 0 : (8192 / wave - 1) / 3;
    EXPECT_NEAR(factors[i], static_cast<double>(1 / ((1 - kept) / 8 + kept)), 1e-6) << i;
  }
}

}  // namespace
}  // namespace beeswax::models
