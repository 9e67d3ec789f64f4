// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <bit>
#include <filesystem>
#include <utility>

#include "beeswax/shared_bytes.h"
#include "core/fail.h"
#include "core/os/file.h"
#include "io/byte_reader.h"
#include "io/json_events.h"
#include "io/safetensors_header.h"
#include "io/widened.h"

namespace beeswax::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are used as they lie in the file");

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::string_view kFileName = "model.safetensors";
constexpr int kDeepestIndex = 8;

/// The files that an index names, each with the tensors it is to hold.
/// {"metadata": {..}, "weight_map": {"tensor": "file", ..}}
class IndexReader final : public JsonHandler {
 public:
  using JsonHandler::JsonHandler;
  void begin_object() override {
    if (depth_ == 1 && map_is_next_)
      in_map_ = had_map_ = true;
    else if (in_map_)
      refuse_kind("an object");
    ++depth_;
  }
  void end_object() override {
    --depth_;
    if (depth_ == 1) in_map_ = map_is_next_ = false;
  }
  void begin_array() override {
    if (expected_here()) refuse_kind("a list");
    ++depth_;
  }
  void end_array() override { --depth_; }
  void key(std::string& name) override {
    if (depth_ == 1) map_is_next_ = name == "weight_map";
    name_ = std::move(name);
  }
  void text(std::string& value) override {
    if (!in_map_) {
      if (expected_here()) refuse_kind("text");
      return;
    }
    // Files lie beside the index: a name that leads elsewhere is no honest one.
    const bool plain = !value.empty() && value != "." && value != ".." &&
                       value.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos;
    if (!plain)
      refuse("has tensor '", shown_name(name_), "' in '", shown_name(value),
             "', which is not the name of a file beside it");
    files_[value].push_back(name_);
  }
  void whole(uint64_t /*value*/) override { other("a number"); }
  void other(std::string_view what) override {
    if (expected_here()) refuse_kind(what);
  }
  std::string place() const override { return "'" + shown_name(name_) + "'"; }

  const std::map<std::string, std::vector<std::string>>& files() const {
    if (!had_map_) refuse("has no 'weight_map'");
    return files_;
  }

 private:
  bool expected_here() const { return depth_ == 0 || in_map_ || (depth_ == 1 && map_is_next_); }

  int depth_ = 0;
  bool map_is_next_ = false, in_map_ = false, had_map_ = false;
  std::string name_;
  std::map<std::string, std::vector<std::string>> files_;
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const SafetensorsType> all_types() {
  constexpr std::nullopt_t None = std::nullopt;
  using enum DType;
  static const SafetensorsType types[] = {
#define BW_SAFETENSORS_TYPE(NAME, bits, dtype) {#NAME, bits, dtype},
#include "tables/safetensors_types.def"
  };
  return types;
}

}  // namespace

const SafetensorsType* safetensors_type(std::string_view name) {
  for (const SafetensorsType& type : all_types())
    if (type.name == name) return &type;
  return nullptr;
}

Tensor SafetensorsTensor::to_tensor() const {
  if (!type->dtype) {
    std::string accepted;
    for (const SafetensorsType& one : all_types())
      if (one.dtype) accepted += join_text(accepted.empty() ? "" : ", ", one.name);
    fail(ErrorKind::UnsupportedDType, "load", "tensor '", shown_name(name), "' is of type ", type->name,
         ", which this version does not compute with; accepted: ", accepted);
  }
  try {
    const bool same = static_cast<uint32_t>(dtype_bits(*type->dtype)) == type->bits;
    return same ? tensor_from_shared_bytes(bytes, owner, shape, *type->dtype)
                : widened<uint16_t, uint32_t>(bytes, shape);
  } catch (Error& error) {
    error.called("load");
    throw error.while_doing(join_text("loading tensor '", shown_name(name), "'"));
  }
}

void SafetensorsFile::read(std::span<const std::byte> bytes, const std::string& file,
                           const std::shared_ptr<const void>& owner) {
  ByteReader in(file, bytes);
  if (in.left() < 8) in.refuse("is ", in.left(), " bytes long: it is not a safetensors file");
  const auto length = in.number<uint64_t>("the length of the header");
  if (length > kLongestSafetensorsHeader)
    in.refuse("claims a header of ", length, " bytes, more than ", kLongestSafetensorsHeader,
              ": it is not a safetensors file");
  const std::string_view json = text_of(in.take(length, "the header"));
  const auto data = bytes.subspan(in.at());
  SafetensorsHeader header = read_safetensors_header(json, data.size(), file);
  file_bytes_ += bytes.size();
  metadata_.merge(header.metadata);
  tensors_.reserve(tensors_.size() + header.entries.size());
  for (SafetensorsEntry& entry : header.entries) {
    if (!names_.emplace(entry.name, tensors_.size()).second)
      in.refuse("holds tensor '", shown_name(entry.name), "', which another file holds too");
    tensors_.push_back({std::move(entry.name), entry.shape, entry.type,
                        data.subspan(entry.begin, entry.end - entry.begin), owner});
  }
}

void SafetensorsFile::read_mapped(const std::string& path) {
  const auto map = std::make_shared<const os::MappedFile>(path);
  read(map->bytes(), path, map);
}

void SafetensorsFile::read_index(const std::string& path) {
  const os::MappedFile index(path);
  IndexReader reader(path);
  if (index.bytes().size() > kLongestSafetensorsHeader)
    reader.refuse("is ", index.bytes().size(), " bytes long; an index has at most ",
                  kLongestSafetensorsHeader);
  read_json(text_of(index.bytes()), kDeepestIndex, reader);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const auto& [file, names] : reader.files()) {
    const size_t first = tensors_.size();
    const std::string file_path = (folder / file).string();
    read_mapped(file_path);
    for (const std::string& name : names) {
      const auto found = names_.find(name);
      if (found == names_.end() || found->second < first)
        reader.refuse("lists tensor '", shown_name(name), "' in ", file_path, ", which does not hold it");
    }
  }
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  const std::shared_ptr<SafetensorsFile> out(new SafetensorsFile());
  out->name_ = path;
  std::string file = path;
  std::error_code ignored;  // what cannot be looked at is reported when it is opened
  if (std::filesystem::is_directory(path, ignored)) {
    // The one file first, as transformers takes them: an index beside it is left from an older version.
    const std::filesystem::path folder = path;
    const bool parts = !std::filesystem::exists(folder / kFileName, ignored) &&
                       std::filesystem::exists(folder / kIndexName, ignored);
    file = (folder / (parts ? kIndexName : kFileName)).string();
  }
  if (file.ends_with(".json")) {
    out->read_index(file);
  } else {
    out->read_mapped(file);
  }
  return out;
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::from_bytes(std::span<const std::byte> bytes,
                                                                   std::string_view name) {
  const std::shared_ptr<SafetensorsFile> out(new SafetensorsFile());
  out->name_ = name;
  out->read(bytes, out->name_, nullptr);
  return out;
}

const SafetensorsTensor* SafetensorsFile::find(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : &tensors_[it->second];
}

}  // namespace beeswax::io
