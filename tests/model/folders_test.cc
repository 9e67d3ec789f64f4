// SPDX-License-Identifier: Apache-2.0
// Hugging Face folders of every architecture against PyTorch: the models of tests/model/cases as transformers
// saves them, with its logits in f64. The largest error may be twice that of PyTorch in f32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "models/hf_folder.h"
#include "models/model.h"
#include "models/requantize.h"
#include "support/expect_error.h"
#include "support/hf_folder.h"
#include "support/model_case.h"

namespace beeswax {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> folder_names() {
  std::vector<std::string> names;
  for (const std::string& name : test::model_case_names())
    if (test::read_model_case(name).contains("folder")) names.push_back(name);
  return names;
}

/// A folder in memory. Its config and tensors may be changed before it is opened.
struct Folder {
  explicit Folder(const std::string& name)
      : one(test::read_model_case(name)), config(one["folder"]["config"]), tensors(test::hf_tensors(one)) {}

  std::shared_ptr<const io::GgufFile> open() {
    bytes = test::safetensors_bytes(tensors);
    return models::assemble_hf(io::JsonValue::parse(config.dump(), "config.json"),
                               *io::SafetensorsFile::from_bytes(bytes, "model.safetensors"), "the/folder");
  }
  /// The largest error of all logits, the ids in batches of `batch`.
  double error(size_t batch) { return error_of(*open(), batch); }
  double error_of(const io::GgufFile& file, size_t batch) const {
    models::check_model(file);
    const auto model = models::load_model(file, one["context"]);
    const auto ids = one["ids"].get<std::vector<int32_t>>();
    models::Cache past = model->make_cache(static_cast<int64_t>(ids.size()));
    double worst = 0;
    for (size_t first = 0; first < ids.size(); first += batch) {
      const size_t count = std::min(batch, ids.size() - first);
      const Tensor logits = model->forward(std::span(ids).subspan(first, count), past);
      const double error = test::error_of_logits(one, logits, first + count);
      worst = error <= worst ? worst : error;
    }
    return worst;
  }
  double bound() const { return one["bound"]; }

  json one, config;
  test::HfTensors tensors;
  std::vector<std::byte> bytes;
};

class Folders : public testing::TestWithParam<std::string> {};

TEST_P(Folders, LogitsAreNearPyTorchs) {
  Folder folder(GetParam());
  const double error = folder.error(1);
  EXPECT_LE(error, folder.bound());
  EXPECT_LE(folder.error(folder.one["ids"].size()), folder.bound());
  if (std::getenv("BEESWAX_SHOW_ERRORS") != nullptr)
    std::printf("%-24s error %.2e, PyTorch's %.2e, ratio %.2f\n", GetParam().c_str(), error,
                folder.bound() / 2, error / (folder.bound() / 2));
}

// Written as a GGUF file, where rows of llama's query and key come in another order.
TEST_P(Folders, LogitsStayWhenWrittenAsAFile) {
  Folder folder(GetParam());
  const auto in = folder.open();
  const models::RequantizeOptions options = {.mixture = &models::parse_mixture("f32")};
  const fs::path path =
      fs::temp_directory_path() / ("beeswax_folders_" + std::to_string(std::random_device{}()));
  models::requantize(*in, path.string(), options, models::plan_requantize(*in, options));
  const auto file = io::GgufFile::open(path.string());
  fs::remove(path);
  EXPECT_FALSE(file->assembled());
  for (const auto& [key, value] : file->metadata()) EXPECT_FALSE(key.ends_with(".rope.pairs"));
  for (const io::GgufTensor& tensor : file->tensors()) EXPECT_EQ(tensor.type->name, "f32") << tensor.name;
  EXPECT_LE(folder.error_of(*file, 1), folder.bound());
}

TEST_P(Folders, ConfigsOfOlderTransformersSayTheSame) {
  Folder folder(GetParam());
  folder.config = test::old_config(folder.one);
  EXPECT_LE(folder.error(folder.one["ids"].size()), folder.bound());
  EXPECT_LE(folder.error(1), folder.bound());
}

INSTANTIATE_TEST_SUITE_P(Cases, Folders, testing::ValuesIn(folder_names()),
                         [](const auto& info) { return info.param; });

TEST(Folders, EveryModelTypeHasACase) {
  std::set<std::string> covered;
  for (const std::string& name : folder_names())
    covered.insert(test::read_model_case(name)["folder"]["config"]["model_type"].get<std::string>());
#define BW_HF_MODEL(model_type, architecture) EXPECT_TRUE(covered.contains(#model_type)) << #model_type;
#include "tables/hf_config.def"
}

// A config that says something a little different gives other logits: everything in it is read.
struct Change {
  const char *name, *pointer;
  json value;
};

class FolderConfigs : public testing::TestWithParam<Change> {};

TEST_P(FolderConfigs, Matter) {
  const auto& [name, pointer, value] = GetParam();
  Folder folder(name);
  folder.config[json::json_pointer(pointer)] = value;
  EXPECT_GT(folder.error(1), 20 * folder.bound());
}

INSTANTIATE_TEST_SUITE_P(
    Changes, FolderConfigs,
    testing::Values(
        Change{"llama", "/rope_parameters/rope_theta", 10100.0}, Change{"llama", "/rms_norm_eps", 0.0021},
        Change{"llama_linear", "/rope_parameters/factor", 4.01},
        Change{"llama3", "/rope_parameters/factor", 8.1},
        Change{"llama3", "/rope_parameters/low_freq_factor", 1.01},
        Change{"llama3", "/rope_parameters/high_freq_factor", 4.1},
        Change{"llama3", "/rope_parameters/original_max_position_embeddings", 33},
        Change{"mistral", "/sliding_window", 8}, Change{"mistral", "/sliding_window", nullptr},
        Change{"mixtral", "/num_experts_per_tok", 3}, Change{"qwen2_yarn", "/rope_parameters/factor", 4.01},
        Change{"qwen2_yarn", "/rope_parameters/original_max_position_embeddings", 64},
        Change{"qwen2_yarn", "/rope_parameters/beta_fast", 1.5},
        Change{"qwen2_yarn", "/rope_parameters/beta_slow", 0.01},
        Change{"qwen2_yarn", "/rope_parameters/attention_factor", 1.14},
        Change{"qwen3moe", "/norm_topk_prob", false}, Change{"qwen3moe_plain", "/norm_topk_prob", true},
        Change{"phi3", "/sliding_window", 10},
        Change{"phi3_long", "/rope_parameters/attention_factor", 1.191},
        Change{"phi3_long", "/original_max_position_embeddings", 64},
        Change{"phi3_short", "/rope_parameters/short_factor/1", 1.07},
        Change{"phi4_long", "/rope_parameters/long_factor/5", 10.0},
        Change{"gemma2", "/attn_logit_softcapping", 3.01},
        Change{"gemma2", "/attn_logit_softcapping", nullptr},
        Change{"gemma2", "/final_logit_softcapping", 2.01}, Change{"gemma2", "/sliding_window", 8},
        Change{"gemma2", "/layer_types/1", "sliding_attention"},
        Change{"gemma2", "/query_pre_attn_scalar", 17}, Change{"gemma3", "/query_pre_attn_scalar", 17},
        Change{"gemma3", "/layer_types/5", "sliding_attention"},
        Change{"gemma3", "/final_logit_softcapping", 10.0},
        Change{"gemma3", "/rope_parameters/full_attention/factor", 8.01},
        Change{"gemma3", "/rope_parameters/full_attention/rope_theta", 1.1e6},
        Change{"gemma3", "/rope_parameters/sliding_attention/rope_theta", 10100.0}),
    [](const auto& info) { return std::to_string(info.index) + "_" + std::string(info.param.name); });

// A model with a tower for images holds its text model under other names; both spellings of transformers.
TEST(Folders, TheTextModelOfAGemma3WithImages) {
  for (const std::string prefix : {"language_model.model.", "model.language_model."}) {
    Folder folder("gemma3");
    folder.config.erase("rope_parameters");
    folder.config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8.0}};
    folder.config.erase("layer_types");  // the default pattern
    folder.config.erase("_sliding_window_pattern");
    folder.config = {{"model_type", "gemma3"},       {"architectures", {"Gemma3ForConditionalGeneration"}},
                     {"text_config", folder.config}, {"vision_config", {{"hidden_size", 8}}},
                     {"mm_tokens_per_image", 256},   {"boi_token_index", 1},
                     {"eos_token_id", {1, 106}}};
    test::HfTensors renamed;
    for (const auto& [name, tensor] : folder.tensors) renamed[prefix + name.substr(6)] = tensor;
    renamed["vision_tower.vision_model.embeddings.position_embedding.weight"] =
        Tensor::zeros({4, 8}, DType::F32);
    renamed["multi_modal_projector.mm_soft_emb_norm.weight"] = Tensor::zeros({8}, DType::F32);
    folder.tensors = renamed;
    EXPECT_LE(folder.error(1), folder.bound()) << prefix;
    folder.config["tie_word_embeddings"] = false;
    EXPECT_ERROR(folder.open(), Unsupported, "'tie_word_embeddings': false");
    folder.config["tie_word_embeddings"] = true;
    folder.config["quantization_config"] = {{"bits", 4}};
    EXPECT_ERROR(folder.open(), Unsupported, "'quantization_config': {\"bits\": 4}");
  }
}

// Norms of Gemma in bf16: 1 + w is not rounded to bf16.
TEST(Folders, NormsOfGemmaAreOneMoreInF32) {
  Folder folder("gemma2");
  Tensor& norm = folder.tensors.at("model.norm.weight");
  norm = norm.to_dtype(DType::BF16);
  const auto file = folder.open();
  const io::GgufTensor* found = file->find_tensor("output_norm.weight");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->type->name, "f32");
  const auto got = Tensor::from_bytes(found->bytes, found->shape, DType::F32).to_vec<float>();
  const auto weights = norm.to_dtype(DType::F32).to_vec<float>();
  ASSERT_EQ(got.size(), weights.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], 1.0f + weights[i]);
}

// Magnitudes of rotated elements where the config leaves them to the method; from
// transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS (5.23) for the same parameters.
TEST(Folders, MagnitudesOfStretchedPositions) {
  Folder yarn("qwen2_yarn");
  const auto magnitude = [](Folder& folder, const char* key) { return folder.open()->get_float(key); };
  const char* key = "qwen2.rope.scaling.yarn_attn_factor";
  EXPECT_NEAR(magnitude(yarn, key), 1.138629436111989, 1e-15);
  yarn.config["rope_parameters"].update({{"mscale", 0.707}, {"mscale_all_dim", 1.0}});
  EXPECT_NEAR(magnitude(yarn, key), 0.964326914892074, 1e-15);
  yarn.config["rope_parameters"].update({{"attention_factor", 1.25}});
  EXPECT_EQ(magnitude(yarn, key), 1.25);
  Folder longrope("phi4_long");
  longrope.config["rope_parameters"].erase("attention_factor");
  key = "phi3.rope.scaling.attn_factor";
  EXPECT_NEAR(magnitude(longrope, key), 1.1832159566199232, 1e-15);
  longrope.config["rope_parameters"]["factor"] = 8.0;
  EXPECT_NEAR(magnitude(longrope, key), 1.2649110640673518, 1e-15);
}

// Version 4 of transformers leaves any head of a tied model aside, version 5 only a copy of the embedding.
TEST(Folders, TheHeadOfATiedModelIsACopyOfTheEmbedding) {
  const std::string head = "lm_head.weight", embedding = "model.embed_tokens.weight";
  Folder folder("llama");
  folder.config["tie_word_embeddings"] = true;
  const char* differs = "'lm_head.weight' is no copy of 'model.embed_tokens.weight', to which config.json";
  EXPECT_ERROR(folder.open(), Unsupported, differs);
  const Tensor rows = folder.tensors.at(embedding);
  folder.tensors[head] = rows;
  EXPECT_EQ(folder.open()->find_tensor("output.weight"), nullptr);
  folder.tensors[head] = rows.to_dtype(DType::F64);
  EXPECT_ERROR(folder.open(), Unsupported, differs);
  folder.tensors[head] = rows.reshape({rows.dim(1), rows.dim(0)});
  folder.tensors[embedding] = rows.narrow(0, 0, 32).contiguous();
  folder.config["vocab_size"] = 32;
  EXPECT_ERROR(folder.open(), Unsupported, "\"tie_word_embeddings\": false there it is used");
  Folder by_default("gemma2");
  by_default.config.erase("tie_word_embeddings");
  by_default.tensors[head] = by_default.tensors.at(embedding) + 1.0;
  EXPECT_ERROR(by_default.open(), Unsupported, differs);
}

TEST(Folders, AnEmptyRopeScalingHidesNothing) {
  for (const char* name : {"llama3", "gemma3"}) {
    Folder folder(name);
    folder.config["rope_scaling"] = json::object();
    EXPECT_LE(folder.error(1), folder.bound()) << name;
  }
  Folder old("gemma3");
  old.config = test::old_config(old.one);
  old.config["rope_parameters"] = json::object();
  EXPECT_LE(old.error(1), old.bound());
}

class Damaged {
 public:
  explicit Damaged(const std::string& name) : folder_(name) {}
  Damaged& set(const std::string& pointer, const json& value) {
    folder_.config[json::json_pointer(pointer)] = value;
    return *this;
  }
  Damaged& remove(const std::string& key) {
    folder_.config.erase(key);
    return *this;
  }
  Damaged& drop(const std::string& tensor) {
    EXPECT_EQ(folder_.tensors.erase(tensor), 1u) << tensor;
    return *this;
  }
  Damaged& put(const std::string& tensor, const Tensor& value) {
    folder_.tensors[tensor] = value;
    return *this;
  }
  std::shared_ptr<const io::GgufFile> open() {
    auto file = folder_.open();
    models::check_model(*file);
    return file;
  }

 private:
  Folder folder_;
};

TEST(Folders, WhatAConfigAsksForAndWeLackIsRefusedByName) {
  const auto changed = [](const std::string& name, const std::string& pointer, const json& value) {
    Damaged(name).set(pointer, value).open();
  };
  EXPECT_ERROR(
      changed("llama", "/model_type", "mamba"), Unsupported,
      "the/folder/config.json: 'model_type' is \"mamba\"; known are: llama mistral mixtral qwen2 qwen3 "
      "qwen3_moe phi3 gemma2 gemma3_text gemma3");
  EXPECT_ERROR(changed("llama", "/hidden_act", "gelu"), Unsupported,
               "'hidden_act': \"gelu\"; this version computes llama models with \"silu\" only");
  EXPECT_ERROR(changed("gemma2", "/hidden_activation", "gelu"), Unsupported, "\"gelu_pytorch_tanh\" only");
  EXPECT_ERROR(changed("llama", "/quantization_config", {{"bits", 4}}), Unsupported,
               "'quantization_config': {\"bits\": 4}, which this version does not know");
  EXPECT_ERROR(changed("llama", "/sliding_window", 16), Unsupported, "'sliding_window': 16");
  EXPECT_ERROR(changed("qwen2", "/use_sliding_window", true), Unsupported, "'use_sliding_window': true");
  EXPECT_ERROR(changed("qwen2", "/layer_types/1", "sliding_attention"), Unsupported,
               "'layer_types' has \"sliding_attention\"");
  EXPECT_ERROR(changed("gemma3", "/layer_types/1", "chunked_attention"), Unsupported,
               "\"chunked_attention\"");
  EXPECT_ERROR(changed("qwen3moe", "/decoder_sparse_step", 2), Unsupported, "'decoder_sparse_step': 2");
  EXPECT_ERROR(changed("qwen3moe", "/mlp_only_layers", {1}), Unsupported, "'mlp_only_layers': [1]");
  EXPECT_ERROR(changed("gemma3", "/attn_logit_softcapping", 50.0), Unsupported,
               "'attn_logit_softcapping': 50");
  EXPECT_ERROR(changed("gemma3", "/use_bidirectional_attention", true), Unsupported,
               "'use_bidirectional_attention': true");
  EXPECT_ERROR(changed("llama", "/partial_rotary_factor", 0.5), Unsupported, "'partial_rotary_factor': 0.5");
  EXPECT_ERROR(changed("llama", "/rope_parameters/partial_rotary_factor", 0.5), Unsupported,
               "'partial_rotary_factor' is 0.5, which llama models");
  EXPECT_ERROR(changed("llama", "/rope_parameters/rope_type", "dynamic"), Unsupported,
               "scales positions by 'dynamic'; this version has: default, linear, llama3, yarn, longrope");
  EXPECT_ERROR(changed("llama", "/rope_parameters/mrope_section", {1, 2}), Unsupported,
               "'mrope_section': [1, 2] in 'rope_parameters'");
  EXPECT_ERROR(changed("qwen2_yarn", "/rope_parameters/truncate", false), Unsupported, "'truncate'");
  EXPECT_ERROR(changed("gemma3", "/rope_parameters/sliding_attention/rope_type", "linear"), Unsupported,
               "positions of layers with a window by 'linear'");
  EXPECT_ERROR(changed("gemma3", "/rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}), Unsupported,
               " beside 'rope_parameters'; this version reads one of them for a gemma3_text model");
  EXPECT_ERROR(changed("gemma3", "/rope_parameters", {{"rope_type", "linear"}, {"factor", 8.0}}), Unsupported,
               "this version reads 'full_attention' and 'sliding_attention' in it for a gemma3_text model");
  EXPECT_NO_THROW(Damaged("llama").set("/_anything", 3).set("/tf_legacy_loss", false).open());
}

TEST(Folders, ThoseThatContradictThemselvesAreRefused) {
  const auto changed = [](const std::string& name, const std::string& pointer, const json& value) {
    Damaged(name).set(pointer, value).open();
  };
  EXPECT_ERROR(changed("llama", "/hidden_size", "64"), Format,
               "config.json: 'hidden_size' is \"64\", not a whole number below 2^31");
  EXPECT_ERROR(changed("llama", "/rms_norm_eps", true), Format, "'rms_norm_eps' is true, not a number");
  EXPECT_ERROR(changed("llama", "/tie_word_embeddings", 1), Format, "'tie_word_embeddings' is 1, not true");
  EXPECT_ERROR(Damaged("llama").remove("model_type").open(), Format, "has no text 'model_type'");
  EXPECT_ERROR(Damaged("llama").remove("hidden_size").open(), Format, "has no 'hidden_size'");
  EXPECT_ERROR(changed("llama", "/num_attention_heads", 0), Format, "'num_attention_heads' is 0");
  EXPECT_ERROR(changed("llama", "/vocab_size", 65), Format,
               "'model.embed_tokens.weight' is [64, 64] for 65 tokens");
  EXPECT_ERROR(changed("llama", "/num_hidden_layers", 4), Format, "has no tensor 'blk.3.");
  EXPECT_ERROR(changed("llama", "/num_hidden_layers", 2), Unsupported, "holds the tensor 'blk.2.");
  EXPECT_ERROR(changed("gemma3", "/layer_types", {"full_attention"}), Format, "a list of 7 kinds");
  EXPECT_ERROR(changed("llama3", "/rope_parameters/high_freq_factor", 0.5), Format, "above the low one, 1");
  EXPECT_ERROR(changed("llama_linear", "/rope_parameters/factor", 0), Format, "must be positive");
  EXPECT_ERROR(changed("llama_linear", "/rope_parameters/factor", "4"), Format,
               "config.json: 'factor' in 'rope_parameters' is \"4\", not a number");
  EXPECT_ERROR(changed("phi3_long", "/rope_parameters/long_factor", 3), Format, "has no list 'long_factor'");
  EXPECT_ERROR(changed("phi3_long", "/rope_parameters/long_factor", {1.0, 2.0}), Format,
               "'rope_factors_long.weight' is [2], not [8]");
  EXPECT_ERROR(changed("qwen3moe", "/num_experts", 8), InvalidArgument, "expert_count");
}

TEST(Folders, TensorsAreThoseThatTheConfigAsksFor) {
  const Tensor zeros = Tensor::zeros({64}, DType::F32);
  EXPECT_ERROR(Damaged("llama").drop("lm_head.weight").open(), Format,
               "the/folder has no tensor 'lm_head.weight', and config.json does not tie it");
  EXPECT_NO_THROW(Damaged("llama").drop("lm_head.weight").set("/tie_word_embeddings", true).open());
  EXPECT_ERROR(
      Damaged("llama").put("model.layers.1.self_attn.q_proj.bias", zeros).open(), Unsupported,
      "'model.layers.1.self_attn.q_proj.bias', but a llama model with this config.json has no such bias");
  EXPECT_ERROR(Damaged("llama_biases").drop("model.layers.1.self_attn.q_proj.bias").open(), Format,
               "has no bias for the tensor 'model.layers.1.self_attn.q_proj.weight'");
  EXPECT_ERROR(Damaged("qwen2").drop("model.layers.0.self_attn.v_proj.bias").open(), Format,
               "has no bias for the tensor 'model.layers.0.self_attn.v_proj.weight'");
  EXPECT_ERROR(Damaged("llama").put("score.weight", zeros).open(), Unsupported,
               "holds the tensor 'score.weight', which llama models do not have here");
  EXPECT_ERROR(Damaged("llama").put("model.norm.scale", zeros).open(), Unsupported, "'model.norm.scale'");
  EXPECT_ERROR(Damaged("llama").put("model.layers..input_layernorm.weight", zeros).open(), Unsupported,
               "'model.layers..input_layernorm.weight'");
  EXPECT_NO_THROW(Damaged("llama").put("model.layers.0.self_attn.rotary_emb.inv_freq", zeros).open());
  EXPECT_ERROR(Damaged("llama").drop("model.layers.1.mlp.up_proj.weight").open(), Format,
               "has no tensor 'blk.1.ffn_up.weight'");
  EXPECT_ERROR(Damaged("llama").put("model.norm.weight", zeros.to_dtype(DType::U8)).open(), Unsupported,
               "'model.norm.weight' is of type U8; this version loads F32, F16, BF16 and F64");
  EXPECT_ERROR(Damaged("llama").put("model.norm.weight", Tensor::zeros({65}, DType::F32)).open(), Format,
               "'output_norm.weight' is [65], not [64]");
}

// Whatever the config says, a folder loads or is refused; nothing large is allocated on its word.
TEST(Folders, AnyConfigLoadsOrIsRefused) {
  const std::vector<json> values = {nullptr, 0,    1,     2147483646u, 4294967295u, -1.0,     0.5,
                                    1e-30,   1e30, false, true,        "text",      {1, "a"}, json::object()};
  for (const std::string name : {"llama3", "qwen2_yarn", "qwen3moe", "phi4_long", "gemma2", "gemma3"}) {
    Folder folder(name);
    const json config = folder.config;
    const json flat = config.flatten();
    std::vector<std::string> pointers;
    for (const auto& [pointer, unused] : flat.items()) pointers.push_back(pointer);
    for (const auto& [key, unused] : config.items()) pointers.push_back("/" + key);
    for (const std::string& pointer : pointers) {
      for (const json& value : values) {
        folder.config = config;
        folder.config[json::json_pointer(pointer)] = value;
        try {
          const auto file = folder.open();
          models::check_model(*file);
          models::load_model(*file, 4)->make_cache(4);
        } catch (const Error& error) {
          EXPECT_NE(error.kind(), ErrorKind::Internal) << pointer << " " << value << ": " << error.what();
        }
      }
    }
  }
}

// On disk, in one file and in two that an index lists.
TEST(Folders, OnDisk) {
  Folder folder("llama_all_bf16");
  const auto in_memory = folder.open();
  const fs::path path = fs::temp_directory_path() / "beeswax_folders_test" / "llama";
  fs::remove_all(path.parent_path());
  fs::create_directories(path);
  EXPECT_ERROR(models::open_model(path.string()), Io, "config.json");
  std::ofstream(path / "config.json") << folder.config;
  EXPECT_ERROR(models::open_model(path.string()), Io, "model.safetensors");
  const auto write = [&](const std::string& name, const test::HfTensors& tensors) {
    const auto bytes = test::safetensors_bytes(tensors);
    std::ofstream out(path / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  const auto expect_same = [&] {
    const auto file = models::open_model(path.string());
    EXPECT_EQ(file->get_string("general.name"), "llama");
    ASSERT_EQ(file->tensors().size(), in_memory->tensors().size());
    for (const io::GgufTensor& tensor : in_memory->tensors()) {
      const io::GgufTensor* found = file->find_tensor(tensor.name);
      ASSERT_NE(found, nullptr) << tensor.name;
      EXPECT_TRUE(std::ranges::equal(found->bytes, tensor.bytes)) << tensor.name;
    }
    const auto model = models::load_model(*file, 24);
    models::Cache past = model->make_cache(24);
    const auto ids = folder.one["ids"].get<std::vector<int32_t>>();
    EXPECT_LE(test::error_of_logits(folder.one, model->forward(ids, past), ids.size()), folder.bound());
  };
  write("model.safetensors", folder.tensors);
  expect_same();
  fs::remove(path / "model.safetensors");
  const size_t half = folder.tensors.size() / 2;
  json index = {{"metadata", {{"total_size", 1}}}, {"weight_map", json::object()}};
  std::vector<test::HfTensors> parts(2);
  for (const auto& [name, tensor] : folder.tensors) {
    const size_t part = parts[0].size() < half ? 0 : 1;
    parts[part][name] = tensor;
    index["weight_map"][name] = "part" + std::to_string(part) + ".safetensors";
  }
  for (size_t i = 0; i < 2; ++i) write("part" + std::to_string(i) + ".safetensors", parts[i]);
  std::ofstream(path / "model.safetensors.index.json") << index;
  expect_same();
  std::ofstream(path / "config.json") << std::string(1 << 20, ' ') << folder.config;
  EXPECT_ERROR(models::open_model(path.string()), Format, "at most 1048576 are expected");
  fs::remove_all(path.parent_path());
}

}  // namespace
}  // namespace beeswax
