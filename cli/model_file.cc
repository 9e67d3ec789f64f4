// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/system.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "core/fail.h"
#include "models/hf_folder.h"
#include "models/memory_need.h"

namespace beeswax::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> gguf_files_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code ignored;  // only a hint depends on it
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored))
    if (it->path().extension() == ".gguf") out.push_back(it->path().string());
  std::ranges::sort(out);  // of a split file the first part comes first
  return out;
}

bool begins_as_gguf(const std::string& path) {
  char magic[4] = {};
  return std::ifstream(path, std::ios::binary).read(magic, sizeof(magic)) &&
         std::string_view(magic, 4) == "GGUF";
}

// People give a part of what is a model, or the folder around it: where that is so, says what to give
// instead.
void fail_with_hint(const std::string& given, ErrorKind kind) {
  const fs::path path(given);
  std::error_code ignored;
  if (kind == ErrorKind::Format && (path.extension() == ".safetensors" || path.extension() == ".json") &&
      !models::is_folder(given) && !begins_as_gguf(given))
    fail(kind, "open", given,
         " is not a GGUF file; if it belongs to a Hugging Face folder, give the folder: ",
         path.has_parent_path() ? path.parent_path().string() : ".");
  if (kind != ErrorKind::Io || !models::is_folder(given) || fs::exists(path / "config.json", ignored)) return;
  const std::vector<std::string> files = gguf_files_in(path);
  if (!files.empty())
    fail(kind, "open", given, " has no config.json, so it is not a Hugging Face folder; give ",
         files.size() == 1 ? "the GGUF file in it: " : "one of the GGUF files in it: ", files[0],
         files.size() == 1 ? "" : ", ...");
}

}  // namespace

void use_threads(int threads) {
  if (threads > 0)
    set_num_threads(threads);
  else
    static_cast<void>(num_threads());
}

std::shared_ptr<const io::GgufFile> open_model(const std::string& path) {
  try {
    return models::open_model(path);
  } catch (const Error& error) {
    fail_with_hint(path, error.kind());
    throw;
  }
}

void check_memory(const io::GgufFile& file, const Context& context, const DeviceInfo& device) {
  const models::MemoryNeed need = models::memory_need(file, context.positions, context.cache_type);
  const uint64_t has = device.memory_free_bytes != 0 ? device.memory_free_bytes : device.memory_bytes;
  if (need.weights + need.cache <= has) return;
  fail(ErrorKind::TooLarge, context.command, "the model takes ", size_text(need.weights + need.cache),
       " (weights ", size_text(need.weights), ", cache ", size_text(need.cache), " for ", context.positions,
       " positions in ", dtype_name(context.cache_type), "), and ", device.device, " has ",
       size_text(device.memory_bytes),
       has < device.memory_bytes ? join_text(", ", size_text(has), " of it free") : "",
       "; what helps: ", need.weights < has ? join_text(context.smaller, ", ") : "",
       "a smaller quantization, another device");
}

}  // namespace beeswax::cli
