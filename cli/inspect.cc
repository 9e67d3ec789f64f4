// SPDX-License-Identifier: Apache-2.0
// `beeswax inspect`: what a GGUF file or a Hugging Face folder holds, and whether it runs here.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beeswax/error.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "core/shown.h"
#include "io/gguf.h"
#include "models/hf_folder.h"
#include "models/model.h"
#include "text/utf8.h"

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

void put(const nlohmann::json& json) { std::fputs(json_text(json, -1).c_str(), stdout); }

// The whole value, element by element: a vocabulary has hundreds of thousands, an array as many as the file
// has bytes.
void put_value(const io::GgufValue& value) {
  if (const io::GgufArray* array = value.as_array()) {
    std::printf("[");
    for (uint64_t i = 0; i < array->count; ++i) {
      if (i > 0) std::printf(", ");
      put_value(io::gguf_element(*array, i));
    }
    std::printf("]");
  } else if (value.type() == io::GgufType::Bool) {
    put(*value.as_bool());
  } else if (value.type() == io::GgufType::U64) {
    put(value.as_unsigned());
  } else if (const auto text = value.as_string()) {
    put(*text);
  } else if (const auto whole = value.as_int()) {
    put(*whole);
  } else {
    put(*value.as_float());  // null where it is not finite
  }
}

void put_metadata(const io::GgufFile& file) {
  std::printf("  \"metadata\": {");
  const char* before = "\n    ";
  for (const auto& [key, value] : file.metadata()) {
    std::printf("%s", before);
    before = ",\n    ";
    put(key);
    std::printf(": {\"type\": \"%s\"", std::string(io::gguf_type_name(value.type())).c_str());
    if (const io::GgufArray* array = value.as_array())
      std::printf(", \"of\": \"%s\"", std::string(io::gguf_type_name(array->type)).c_str());
    std::printf(", \"value\": ");
    put_value(value);
    std::printf("}");
  }
  std::printf("\n  },\n");
}

void put_tensors(const io::GgufFile& file) {
  std::printf("  \"tensors\": [");
  const char* before = "\n    ";
  for (const io::GgufTensor& tensor : file.tensors()) {
    std::printf("%s", before);
    before = ",\n    ";
    put({{"name", tensor.name},
         {"shape", std::vector<int64_t>(tensor.shape.dims().begin(), tensor.shape.dims().end())},
         {"type", tensor.type->name},
         {"bytes", tensor.bytes.size()}});
  }
  std::printf("\n  ],\n");
}

void print_json(const io::GgufFile& file) {
  const auto field = [](const char* name, const nlohmann::json& value, const char* end) {
    std::printf("  \"%s\": ", name);
    put(value);
    std::printf("%s\n", end);
  };
  const std::string reason = reason_against(file);
  std::printf("{\n");
  field("file", file.name(), ",");
  field("folder", models::is_folder(file.name()), ",");
  field("version", file.version(), ",");
  field("other_byte_order", file.reversed(), ",");
  field("file_bytes", file.file_bytes(), ",");
  put_metadata(file);
  put_tensors(file);
  field("runs", reason.empty(), ",");
  field("reason", reason, "");
  std::printf("}\n");
}

// A path as one word for a shell, and no option.
std::string shell_word(std::string path) {
  if (path.starts_with('-')) path.insert(0, "./");
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  // zsh takes a = in front as a command's name.
  if (path.find_first_not_of(kPlain) == std::string::npos && !path.starts_with('=')) return path;
  // What a terminal would not show as it is can be written in bash, ksh and zsh.
  const bool numbers = shown(path) != path || text::valid_utf8(path) != path;
  std::string out = numbers ? "$'" : "'";
  for (const char c : path) {
    char number[8];
    std::snprintf(number, sizeof(number), "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
    if (numbers && kPlain.find(c) == std::string_view::npos) {
      out += number;
    } else if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

void print_text(const io::GgufFile& file, bool tensors_too) {
  const std::string kind = models::is_folder(file.name()) ? "Hugging Face folder"
                                                          : "GGUF version " + std::to_string(file.version());
  std::printf("%s: %s, %s, %zu tensors, %zu metadata values%s\n\n", shown(file.name()).c_str(), kind.c_str(),
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
  std::printf("\n%s\n", (reason.empty() ? "runs here: beeswax run " + shell_word(file.name())
                                        : "does not run here: " + shown(reason, true))
                            .c_str());
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand("inspect", "Show what a model file holds, and whether it runs here");
  struct Options {
    std::string file;
    bool json = false, tensors = false;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("file", o->file, "A GGUF file or a Hugging Face folder")
      ->required()
      ->check(not_empty());
  command->add_flag("--tensors", o->tensors, "List every tensor");
  command->add_flag("--json", o->json, "Print JSON: every value and every tensor, whole");
  command->footer(
      "\nA folder is shown as the GGUF file that it would be.\n"
      "\nExamples:\n"
      "  beeswax inspect model.gguf\n"
      "  beeswax inspect folder\n"
      "  beeswax inspect model.gguf --tensors\n"
      "  beeswax inspect model.gguf --json\n");
  command->callback([o] {
    const auto file = open_model(o->file);
    o->json ? print_json(*file) : print_text(*file, o->tensors);
  });
}

}  // namespace beeswax::cli
