// SPDX-License-Identifier: Apache-2.0
#include "models/hf_folder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "core/fail.h"
#include "io/json_events.h"
#include "models/gguf_tokenizer.h"
#include "models/hf_tokens.h"

namespace beeswax::models {
namespace {

constexpr std::string_view kWeight = ".weight", kBias = ".bias";
constexpr uint32_t kF32 = 0;

struct Row {
  std::string_view models, hf, gguf, bias;
};
constexpr Row kRows[] = {
#define BW_HF_TENSOR(models, hf, gguf, bias) {models, hf, gguf, bias},
#include "tables/hf_tensors.def"
};

// The numbers in `name` where `pattern` has "{}"; nothing where they do not match.
std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view name) {
  std::vector<std::string_view> numbers;
  while (!pattern.empty()) {
    if (pattern.starts_with("{}")) {
      const size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
      if (end == 0) return std::nullopt;
      numbers.push_back(name.substr(0, end));
      name.remove_prefix(end);
      pattern.remove_prefix(2);
    } else if (!name.empty() && name[0] == pattern[0]) {
      name.remove_prefix(1);
      pattern.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  return name.empty() ? std::optional(numbers) : std::nullopt;
}

std::string filled(std::string_view pattern, const std::vector<std::string_view>& numbers) {
  std::string out;
  size_t next = 0;
  while (!pattern.empty()) {
    const bool number = pattern.starts_with("{}");
    out += number ? numbers[next++] : pattern.substr(0, 1);
    pattern.remove_prefix(number ? 2 : 1);
  }
  return out;
}

const io::GgmlType* type_of(DType dtype) {
  for (const io::GgmlType& type : io::ggml_types())
    if (type.dtype == dtype) return &type;
  return nullptr;
}

// What the text model does not need: towers for images, and angles that follow from the config.
bool is_superfluous(std::string_view name) {
  constexpr std::string_view kTowers[] = {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                          "model.multi_modal_projector."};
  return name.ends_with(".rotary_emb.inv_freq") ||
         std::ranges::any_of(kTowers, [&](std::string_view tower) { return name.starts_with(tower); });
}

// The name that a tensor would have in a folder of the text model alone.
std::string plain_name(std::string_view name) {
  constexpr std::string_view kPrefix = "language_model.", kInner = "model.language_model.";
  if (name.starts_with(kPrefix)) return std::string(name.substr(kPrefix.size()));
  if (name.starts_with(kInner)) return "model." + std::string(name.substr(kInner.size()));
  return std::string(name);
}

std::shared_ptr<const std::vector<std::byte>> keep(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

class Assembler {
 public:
  Assembler(const HfConfig& config, const io::SafetensorsFile& in, const std::string& name)
      : config_(config), in_(in), name_(name), tied_(config.flag("tie_word_embeddings", false)) {}

  std::vector<io::ForeignTensor> tensors(const HfMetadata& metadata) {
    for (const io::SafetensorsTensor& tensor : in_.tensors()) add(tensor);
    if (tied_) check_tied_head();
    if (!tied_ && head_ == nullptr)
      fail(ErrorKind::Format, "load", name_,
           " has no tensor 'lm_head.weight', and config.json does not tie it to the embedding");
    for (const auto& [name, values] : metadata.factors) {
      const auto bytes =
          keep(Tensor::from_vec(values, {static_cast<int64_t>(values.size())}, Device::cpu()).to_bytes());
      out_.push_back({name, {static_cast<int64_t>(values.size())}, io::ggml_type(kF32), *bytes, bytes});
    }
    return std::move(out_);
  }

 private:
  void add(const io::SafetensorsTensor& tensor) {
    if (is_superfluous(tensor.name)) return;
    const std::string name = plain_name(tensor.name);
    const bool bias = name.ends_with(kBias);
    if (bias || name.ends_with(kWeight)) {
      const std::string_view stem(name.data(), name.size() - (bias ? kBias : kWeight).size());
      for (const Row& row : kRows) {
        if (!is_model_of(row.models, config_.model())) continue;
        const auto numbers = match(row.hf, stem);
        if (numbers) return add(tensor, name, row, filled(row.gguf, *numbers), bias);
      }
    }
    fail(ErrorKind::Unsupported, "load", name_, " holds the tensor '", io::shown_name(tensor.name),
         "', which ", config_.model(), " models do not have here; without it the results would be wrong");
  }

  void add(const io::SafetensorsTensor& tensor, const std::string& name, const Row& row,
           const std::string& gguf, bool bias) {
    const bool has_bias = row.bias == "always" || (row.bias != "never" && config_.flag(row.bias, false));
    if (bias && !has_bias)
      fail(ErrorKind::Unsupported, "load", name_, " holds the tensor '", io::shown_name(tensor.name),
           "', but a ", config_.model(), " model with this config.json has no such bias");
    if (!bias && has_bias && !has_sibling(tensor.name))
      fail(ErrorKind::Format, "load", name_, " has no bias for the tensor '", io::shown_name(tensor.name),
           "'; by config.json there is one");
    if (row.gguf == "token_embd") embedding_ = &tensor;
    if (row.gguf == "output") {
      head_ = &tensor;
      if (tied_) return;  // a copy of the embedding, which check_tied_head makes sure of
    }
    if (row.gguf == "token_embd" && config_.find("vocab_size") != nullptr &&
        (tensor.shape.rank() == 0 || tensor.shape[0] != config_.size("vocab_size")))
      fail(ErrorKind::Format, "load", name_, ": tensor '", tensor.name, "' is ", tensor.shape, " for ",
           config_.size("vocab_size"), " tokens by config.json");
    const io::GgmlType* type = tensor.type->dtype ? type_of(*tensor.type->dtype) : nullptr;
    if (type == nullptr || !dtype_is_float(*type->dtype))
      fail(ErrorKind::Unsupported, "load", name_, ": tensor '", io::shown_name(tensor.name), "' is of type ",
           tensor.type->name, "; this version loads F32, F16, BF16 and F64");
    const std::string full = gguf + std::string(bias ? kBias : kWeight);
    if (config_.model().starts_with("gemma") && name.ends_with("norm.weight") && tensor.shape.rank() == 1) {
      // Gemma's norms multiply by 1 + w, which is what GGUF files hold.
      const auto bytes = keep((tensor.to_tensor().to_dtype(DType::F32) + 1.0).to_bytes());
      out_.push_back({full, tensor.shape, io::ggml_type(kF32), *bytes, bytes});
    } else {
      out_.push_back({full, tensor.shape, type, tensor.bytes, tensor.owner});
    }
  }

  // Version 4 of transformers takes the embedding in any case, version 5 a head that differs from it.
  void check_tied_head() const {
    if (head_ == nullptr || embedding_ == nullptr) return;
    const std::span<const std::byte> head = head_->bytes, rows = embedding_->bytes;
    if (head_->shape == embedding_->shape && head_->type == embedding_->type && head.size() == rows.size() &&
        (head.empty() || std::memcmp(head.data(), rows.data(), head.size()) == 0))
      return;
    fail(ErrorKind::Unsupported, "load", name_, ": the tensor '", io::shown_name(head_->name),
         "' is no copy of '", io::shown_name(embedding_->name),
         "', to which config.json ties it; with \"tie_word_embeddings\": false there it is used");
  }

  bool has_sibling(std::string_view weight) const {
    return in_.find(join_text(weight.substr(0, weight.size() - kWeight.size()), kBias)) != nullptr;
  }

  const HfConfig& config_;
  const io::SafetensorsFile& in_;
  const std::string& name_;
  const bool tied_;
  const io::SafetensorsTensor *head_ = nullptr, *embedding_ = nullptr;
  std::vector<io::ForeignTensor> out_;
};

std::string base_name(const std::string& path) {
  const std::filesystem::path full(path);
  return (full.has_filename() ? full : full.parent_path()).filename().string();
}

}  // namespace

std::shared_ptr<const io::GgufFile> assemble_hf(const io::JsonValue& json, const io::SafetensorsFile& tensors,
                                                const std::string& name) {
  const std::string file = (std::filesystem::path(name) / "config.json").string();
  const HfConfig config(text_config(json, file), file);
  const HfMetadata metadata = translate_config(config, base_name(name));
  return io::GgufFile::assemble(name, metadata.values, Assembler(config, tensors, name).tensors(metadata),
                                tensors.file_bytes());
}

namespace {

// Older tools wrote other files, which are not read: says what makes those that are.
void refuse_older_files(const std::string& folder, std::string_view older, std::string_view wanted,
                        std::string_view maker) {
  const auto has = [&](std::string_view name, std::string_view end = "") {
    std::error_code ignored;  // what cannot be looked at is reported when it is opened
    return std::filesystem::exists(std::filesystem::path(folder) / join_text(name, end), ignored);
  };
  constexpr std::string_view kIndex = ".index.json";
  if (has(wanted) || has(wanted, kIndex) || (!has(older) && !has(older, kIndex))) return;
  fail(ErrorKind::Io, "open", folder, " has ", older, ", which is not read, and no ", wanted,
       "; transformers makes one: ", maker, ".from_pretrained(FOLDER).save_pretrained(FOLDER)");
}

std::string tokenizer_path(const std::string& folder) {
  refuse_older_files(folder, "tokenizer.model", "tokenizer.json", "AutoTokenizer");
  return (std::filesystem::path(folder) / "tokenizer.json").string();
}

}  // namespace

std::shared_ptr<const io::GgufFile> open_hf_folder(const std::string& path) {
  const io::JsonValue config =
      read_folder_json(path, "config.json");  // first, to be what a missing folder lacks
  refuse_older_files(path, "pytorch_model.bin", "model.safetensors", "AutoModelForCausalLM");
  return assemble_hf(config, *io::SafetensorsFile::open(path), path);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at is reported when it is opened
  return std::filesystem::is_directory(path, ignored);
}

std::shared_ptr<const io::GgufFile> open_model(const std::string& path) {
  return is_folder(path) ? open_hf_folder(path) : io::GgufFile::open(path);
}

std::unique_ptr<text::Tokenizer> open_tokenizer(const std::string& path, const io::GgufFile& file) {
  if (is_folder(path)) {
    auto tokenizer = load_tokenizer_json(tokenizer_path(path), read_token_roles(path));
    check_vocabulary(file, tokenizer->vocabulary());
    return tokenizer;
  }
  return load_tokenizer(file);
}

HfTokenizer read_tokenizer(const std::string& folder, const io::GgufFile& file) {
  static_cast<void>(open_tokenizer(folder, file));
  const os::MappedFile json(tokenizer_path(folder));
  return {std::string(reinterpret_cast<const char*>(json.bytes().data()), json.bytes().size()),
          read_token_roles(folder)};
}

void write_tokenizer(const HfTokenizer& tokenizer, io::GgufWriter* out) {
  out->set_string(kTokenizerJson, tokenizer.json);
  const auto role = [&](std::string_view key, int32_t id) {
    if (id >= 0) out->set_u32(key, static_cast<uint32_t>(id));
  };
  role("tokenizer.ggml.bos_token_id", tokenizer.roles.bos);
  role("tokenizer.ggml.eos_token_id", tokenizer.roles.eos);
  role("tokenizer.ggml.padding_token_id", tokenizer.roles.pad);
  if (tokenizer.roles.stop.size() > 1) out->set_i32s(kStopTokens, tokenizer.roles.stop);
}

}  // namespace beeswax::models
