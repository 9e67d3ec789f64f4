// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "core/divide.h"
#include "core/fail.h"
#include "core/storage.h"
#include "io/file_writer.h"
#include "io/json_events.h"
#include "io/safetensors.h"

namespace beeswax::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr int64_t kDataAlignment = 64;
constexpr std::string_view kMetadata = "__metadata__";

std::span<const std::byte> bytes_of(const Tensor& x) {
  const size_t offset = dtype_bytes(x.dtype(), static_cast<size_t>(x.layout().offset()));
  return {x.storage().data() + offset, dtype_bytes(x.dtype(), static_cast<size_t>(x.elem_count()))};
}

std::string_view type_name(DType dtype) {
  constexpr std::nullopt_t None = std::nullopt;
  using enum DType;
  static const std::pair<std::string_view, std::optional<DType>> types[] = {
#define BW_SAFETENSORS_TYPE(NAME, bits, type) {#NAME, type},
#include "tables/safetensors_types.def"
  };
  return std::ranges::find(types, std::optional(dtype), [](const auto& one) { return one.second; })->first;
}

}  // namespace

void SafetensorsWriter::set_metadata(std::string_view key, std::string_view value) {
  if (!metadata_.emplace(key, value).second)
    fail(ErrorKind::InvalidArgument, "write", "the metadata value '", key, "' is there already");
}

void SafetensorsWriter::add(std::string_view name, const Tensor& x) {
  if (name == kMetadata || tensors_.contains(std::string(name)))
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name,
         "' is there already, or has the name that stands for metadata");
  const auto bits = static_cast<int64_t>(dtype_bits(x.dtype()));
  if (x.elem_count() % 8 * bits % 8 != 0)
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name, "' ", x.describe(),
         " does not fill whole bytes, as the format demands");
  const Tensor here = x.to_device(Device::cpu());
  tensors_.emplace(name, bits % 8 == 0 ? here.contiguous() : here.copy());  // a copy begins with a byte
}

std::vector<const std::pair<const std::string, Tensor>*> SafetensorsWriter::sorted() const {
  std::vector<const std::pair<const std::string, Tensor>*> order;
  for (const auto& one : tensors_) order.push_back(&one);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const auto* one) { return dtype_bits(one->second.dtype()); });
  return order;
}

// The length and the JSON, which spaces fill up to where the data begins.
std::string SafetensorsWriter::head() const {
  std::string json = "{";
  const auto comma = [&] { return json.size() > 1 ? "," : ""; };
  if (!metadata_.empty()) {
    json += "\"" + std::string(kMetadata) + "\":{";
    const char* between = "";
    for (const auto& [key, value] : metadata_) {
      json += between + json_text(key) + ":" + json_text(value);
      between = ",";
    }
    json += "}";
  }
  size_t at = 0;
  for (const auto* one : sorted()) {
    const auto& [name, x] = *one;
    const size_t end = at + bytes_of(x).size();
    json += join_text(comma(), json_text(name), ":{\"dtype\":\"", type_name(x.dtype()), "\",\"shape\":[");
    for (int axis = 0; axis < x.rank(); ++axis) json += join_text(axis > 0 ? "," : "", x.dim(axis));
    json += join_text("],\"data_offsets\":[", at, ",", end, "]}");
    at = end;
  }
  json += "}";
  const auto size = static_cast<int64_t>(json.size()) + 8;
  json.append(static_cast<size_t>(round_up(size, kDataAlignment) - size), ' ');
  if (json.size() > kLongestSafetensorsHeader)
    fail(ErrorKind::TooLarge, "write", "a header of ", json.size(), " bytes; at most ",
         kLongestSafetensorsHeader);
  const uint64_t length = json.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + json;
}

// Calls put(bytes) with the parts of the file in order.
template <class F>
void SafetensorsWriter::emit(F&& put) const {
  const std::string first = head();
  put(std::as_bytes(std::span(first)));
  for (const auto* one : sorted()) put(bytes_of(one->second));
}

std::vector<std::byte> SafetensorsWriter::to_bytes() const {
  std::vector<std::byte> out;
  emit([&](std::span<const std::byte> part) { out.insert(out.end(), part.begin(), part.end()); });
  return out;
}

void SafetensorsWriter::write(const std::string& path) const {
  FileWriter file(path);
  emit([&](std::span<const std::byte> part) { file.put(part); });
  file.finish();
}

}  // namespace beeswax::io
