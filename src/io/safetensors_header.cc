// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "io/json_events.h"

namespace beeswax::io {
namespace {

constexpr int kDeepest = 3;  // the header, a tensor, its shape

/// Fills the entries while it reads: {"name": {"dtype": .., "shape": [..], "data_offsets": [.., ..]}}
class HeaderReader final : public JsonHandler {
 public:
  HeaderReader(std::string_view file, SafetensorsHeader& out) : JsonHandler(file), out_(out) {}

  void begin_object() override {
    if (depth_ == 2 || in_list_) refuse_kind("an object");
    ++depth_;
    if (depth_ == 2 && !in_metadata_) {
      out_.entries.emplace_back().name = name_;
      seen_ = 0;
    }
  }
  void end_object() override {
    if (depth_ == 2 && !in_metadata_) finish_entry();
    --depth_;
  }
  void begin_array() override {
    if (depth_ != 2 || in_metadata_ || in_list_ || (field_ != kShape && field_ != kOffsets))
      refuse_kind("a list");
    in_list_ = true;
    list_size_ = 0;
  }
  void end_array() override {
    in_list_ = false;
    seen_ |= 1u << field_;
    if (field_ == kShape) {
      entry().shape = Shape(std::span(sizes_).first(list_size_));
    } else if (list_size_ != 2) {
      refuse(place(), " are ", list_size_, " numbers, not where the data begins and where it ends");
    }
  }
  void key(std::string& name) override {
    if (depth_ == 1) {
      name_ = std::move(name);
      in_metadata_ = name_ == "__metadata__";
    } else if (in_metadata_) {
      metadata_name_ = std::move(name);
    } else {
      field_ = static_cast<uint32_t>(std::ranges::find(kFields, name) - kFields.begin());
      if (field_ == kFields.size())
        refuse("tensor '", shown_name(name_), "' has an unknown field '", shown_name(name), "'");
    }
  }
  void text(std::string& value) override {
    if (depth_ == 2 && in_metadata_) {
      out_.metadata[metadata_name_] = std::move(value);
      return;
    }
    if (depth_ != 2 || field_ != kDtype || in_list_) refuse_kind("text");
    entry().type = safetensors_type(value);
    if (entry().type == nullptr)
      refuse("tensor '", shown_name(name_), "' is of the unknown type '", shown_name(value), "'");
    seen_ |= 1u << kDtype;
  }
  void whole(uint64_t value) override {
    if (!in_list_) refuse_kind("a number");
    if (field_ == kOffsets) {
      if (list_size_ < 2) (list_size_ == 0 ? entry().begin : entry().end) = value;
      ++list_size_;
      return;
    }
    if (list_size_ == sizes_.size())
      refuse("tensor '", shown_name(name_), "' has more than ", kMaxRank, " axes");
    if (value > INT64_MAX) refuse_elements();
    sizes_[list_size_++] = static_cast<int64_t>(value);
  }
  std::string place() const override {
    if (depth_ == 0) return "at the top of its header";
    std::string name = "'" + shown_name(name_) + "'";
    if (depth_ == 1) return name;
    if (in_metadata_) return name + ", '" + shown_name(metadata_name_) + "'";
    return field_ < kFields.size() ? name + ", '" + std::string(kFields[field_]) + "'" : name;
  }

 private:
  static constexpr std::array<std::string_view, 3> kFields = {"dtype", "shape", "data_offsets"};
  static constexpr uint32_t kDtype = 0, kShape = 1, kOffsets = 2;

  SafetensorsEntry& entry() { return out_.entries.back(); }

  [[noreturn]] void refuse_elements() const {
    refuse("tensor '", shown_name(name_), "' has more elements than any memory holds");
  }

  void finish_entry() {
    for (uint32_t field = 0; field < kFields.size(); ++field)
      if ((seen_ >> field & 1u) == 0)
        refuse("tensor '", shown_name(name_), "' has no '", kFields[field], "'");
    // An empty axis does not excuse the others: strides are made of them.
    int64_t reach = 1;
    for (const int64_t size : entry().shape)
      if (__builtin_mul_overflow(reach, std::max<int64_t>(size, 1), &reach)) refuse_elements();
    const auto elements = static_cast<uint64_t>(entry().shape.elem_count());
    uint64_t bits = 0;
    if (__builtin_mul_overflow(elements, uint64_t{entry().type->bits}, &bits)) refuse_elements();
    const uint64_t begin = entry().begin, end = entry().end;
    if (bits % 8 != 0)
      refuse("tensor '", shown_name(name_), "' ", entry().shape, " of ", entry().type->name,
             " does not fill whole bytes");
    if (end < begin || end - begin != bits / 8)
      refuse("tensor '", shown_name(name_), "' ", entry().shape, " of ", entry().type->name, " takes ",
             bits / 8, " bytes, but its data_offsets are ", begin, " and ", end);
  }

  SafetensorsHeader& out_;
  int depth_ = 0;
  bool in_metadata_ = false, in_list_ = false;
  std::string name_, metadata_name_;
  uint32_t field_ = kFields.size(), seen_ = 0;
  std::array<int64_t, kMaxRank> sizes_{};
  size_t list_size_ = 0;
};

}  // namespace

SafetensorsHeader read_safetensors_header(std::string_view json, uint64_t data_bytes, std::string_view file) {
  SafetensorsHeader header;
  HeaderReader reader(file, header);
  if (!json.starts_with('{')) reader.refuse("has a header that does not begin with '{'");
  read_json(json, kDeepest, reader);
  std::ranges::sort(header.entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.begin != at)
      reader.refuse(
          "has tensor '", shown_name(entry.name), "' at offset ", entry.begin,
          entry.begin < at ? ", inside the one before, which ends at " : ", behind a hole that begins at ",
          at);
    at = entry.end;
  }
  if (at != data_bytes)
    reader.refuse("describes ", at, " bytes of data, but ", data_bytes, " follow its header");
  return header;
}

}  // namespace beeswax::io
