// SPDX-License-Identifier: Apache-2.0
// `beeswax inspect`: what a GGUF file or a Hugging Face folder holds, and whether it runs here.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "beeswax/error.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/shown.h"
#include "io/gguf.h"
#include "models/hf_folder.h"
#include "models/model.h"

namespace beeswax::cli {
namespace {

// The reason why the file does not run; empty where it does.
std::string reason_against(const io::GgufFile& file) {
  try {
    models::check_model(file);
    static_cast<void>(models::open_tokenizer(file.name(), file));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

struct TypeSum {
  int64_t tensors = 0, elements = 0;
  uint64_t bytes = 0;
};

std::map<std::string, TypeSum> sums_by_type(const io::GgufFile& file) {
  std::map<std::string, TypeSum> sums;
  for (const io::GgufTensor& tensor : file.tensors()) {
    TypeSum& sum = sums[std::string(tensor.type->name)];
    ++sum.tensors;
    sum.elements += tensor.shape.elem_count();
    sum.bytes += tensor.bytes.size();
  }
  return sums;
}

void print_json(const io::GgufFile& file) {
  nlohmann::json metadata = nlohmann::json::object(), tensors = nlohmann::json::array();
  for (const auto& [key, value] : file.metadata())
    metadata[std::string(key)] = {{"type", io::gguf_type_name(value.type())}, {"value", value.to_string()}};
  for (const io::GgufTensor& tensor : file.tensors())
    tensors.push_back({{"name", tensor.name},
                       {"shape", tensor.shape.to_string()},
                       {"type", tensor.type->name},
                       {"bytes", tensor.bytes.size()}});
  const std::string reason = reason_against(file);
  const nlohmann::json out = {{"file", file.name()},
                              {"folder", models::is_folder(file.name())},
                              {"version", file.version()},
                              {"other_byte_order", file.reversed()},
                              {"file_bytes", file.file_bytes()},
                              {"metadata", metadata},
                              {"tensors", tensors},
                              {"runs", reason.empty()},
                              {"reason", reason}};
  std::printf("%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_text(const io::GgufFile& file, bool tensors_too) {
  const std::string kind = models::is_folder(file.name()) ? "Hugging Face folder"
                                                          : "GGUF version " + std::to_string(file.version());
  std::printf("%s: %s, %s, %zu tensors, %zu metadata values%s\n\n", file.name().c_str(), kind.c_str(),
              size_text(file.file_bytes()).c_str(), file.tensors().size(), file.metadata().size(),
              file.reversed() ? ", in the other byte order" : "");
  size_t widest = 0;
  for (const auto& [key, value] : file.metadata()) widest = std::max(widest, key.size());
  for (const auto& [key, value] : file.metadata())
    std::printf("  %-*s  %s\n", static_cast<int>(std::min<size_t>(widest, 50)), shown(key).c_str(),
                value.to_string().c_str());
  std::printf("\n  %-8s %8s %16s %12s\n", "type", "tensors", "elements", "size");
  for (const auto& [type, sum] : sums_by_type(file))
    std::printf("  %-8s %8s %16s %12s\n", type.c_str(), std::to_string(sum.tensors).c_str(),
                std::to_string(sum.elements).c_str(), size_text(sum.bytes).c_str());
  if (tensors_too) {
    std::printf("\n");
    for (const io::GgufTensor& tensor : file.tensors())
      std::printf("  %-36s %-8s %-20s %12s\n", shown(tensor.name).c_str(),
                  std::string(tensor.type->name).c_str(), tensor.shape.to_string().c_str(),
                  size_text(tensor.bytes.size()).c_str());
  }
  const std::string reason = reason_against(file);
  std::printf("\n%s\n", reason.empty() ? "runs here: beeswax run"
                                       : ("does not run here: " + shown(reason, true)).c_str());
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand("inspect", "Show what a model file holds, and whether it runs here");
  struct Options {
    std::string file;
    bool json = false, tensors = false;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("file", o->file, "A GGUF file or a Hugging Face folder")->required();
  command->add_flag("--tensors", o->tensors, "List every tensor");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "\nA folder is shown as the GGUF file that it would be.\n"
      "\nExamples:\n"
      "  beeswax inspect model.gguf\n"
      "  beeswax inspect folder\n"
      "  beeswax inspect model.gguf --tensors\n"
      "  beeswax inspect model.gguf --json\n");
  command->callback([o] {
    const auto file = models::open_model(o->file);
    o->json ? print_json(*file) : print_text(*file, o->tensors);
  });
}

}  // namespace beeswax::cli
