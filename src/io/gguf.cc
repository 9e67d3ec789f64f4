// SPDX-License-Identifier: Apache-2.0
#include "io/gguf.h"

#include <algorithm>
#include <bit>

#include "io/byte_reader.h"
#include "io/gguf_writer.h"

namespace beeswax::io {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF", least significant byte first
constexpr uint32_t kNewestVersion = 3;
constexpr uint32_t kMostAxes = 8;

std::optional<DType> dtype_named(std::string_view name) {
#define BW_DTYPE(Name, dtype_name, ...) \
  if (name == #dtype_name) return DType::Name;
#define BW_STORAGE_DTYPE(...)
#include "tables/dtypes.def"
  return std::nullopt;
}

}  // namespace

std::span<const GgmlType> ggml_types() {
  static const std::vector<GgmlType> types = [] {
    std::vector<GgmlType> list = {
#define BW_GGML_TYPE(id, name, elements, bytes) \
  {id, #name, elements, bytes, std::nullopt, std::nullopt, std::nullopt},
#include "tables/ggml_types.def"
    };
    for (GgmlType& type : list) {
      type.quant = quant_type_from_ggml_id(type.id);
      if (!type.quant) type.dtype = dtype_named(type.name);
#define BW_GGML_WIDER(of, Block, format) \
  if (type.name == #of) type.wider = QuantType::format;
#include "tables/ggml_types.def"
    }
    return list;
  }();
  return types;
}

const GgmlType* ggml_type(uint32_t id) {
  for (const GgmlType& type : ggml_types())
    if (type.id == id) return &type;
  return nullptr;
}

/// Reads once, front to back.
class GgufParser {
 public:
  GgufParser(GgufFile& file, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : out_(file), bytes_(bytes), owner_(std::move(owner)), in_(file.name_, bytes) {
    out_.file_bytes_ = bytes.size();
  }

  void parse() {
    read_header();
    for (uint64_t i = 0; i < value_count_; ++i) read_pair(i);
    if (const GgufValue* value = out_.find("general.alignment")) set_alignment(*value);
    read_tensors();
  }

 private:
  void read_header() {
    if (in_.left() < 4 || in_.number<uint32_t>("the magic number") != kMagic)
      in_.refuse("does not begin with \"GGUF\": it is not a GGUF file");
    const auto version = in_.number<uint32_t>("the version");
    out_.version_ = version;
    if (version > kNewestVersion && reversed(version) <= kNewestVersion) {
      out_.version_ = reversed(version);
      out_.reversed_ = true;
      in_.set_reverse(true);
    }
    if (out_.version_ == 0 || out_.version_ > kNewestVersion)
      in_.refuse("is of GGUF version ", out_.version_, "; this program reads 1 to ", kNewestVersion);
    tensor_count_ = count("the number of tensors");
    value_count_ = count("the number of metadata values");
    // A tensor takes at least a name's length, an axis count, a type and an offset; a value a length and a
    // type.
    expect_room(tensor_count_, 16 + length_bytes(), kMostGgufTensors, "tensors");
    expect_room(value_count_, 5 + length_bytes(), kMostGgufValues, "metadata values");
  }

  // Version 1 wrote counts and lengths as 32 bits.
  uint64_t length_bytes() const { return out_.version_ == 1 ? 4 : 8; }
  uint64_t count(std::string_view what) {
    return out_.version_ == 1 ? in_.number<uint32_t>(what) : in_.number<uint64_t>(what);
  }

  void expect_room(uint64_t many, uint64_t least_bytes, uint64_t most, std::string_view what) const {
    if (many > in_.left() / least_bytes)
      in_.refuse("claims ", many, " ", what, " at byte ", in_.at(), ", but only ", in_.left(),
                 " bytes follow");
    if (many > most)
      in_.refuse("claims ", many, " ", what, " at byte ", in_.at(), "; at most ", most, " are read");
  }

  std::string_view text(std::string_view what) {
    const uint64_t length = count(what);
    const auto bytes = in_.take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // Memory is taken once all are known to be there.
  std::vector<std::string_view> texts(uint64_t many, std::string_view what) {
    const size_t first = in_.at();
    for (uint64_t i = 0; i < many; ++i) text(what);
    in_.go_back_to(first);
    std::vector<std::string_view> out;
    out.reserve(many);
    for (uint64_t i = 0; i < many; ++i) out.push_back(text(what));
    return out;
  }

  void read_pair(uint64_t index) {
    const std::string_view key = text("the name of a metadata value");
    if (key.empty() || key.size() > kLongestGgufKey)
      in_.refuse("metadata value ", index, " has a name of ", key.size(), " bytes; 1 to ", kLongestGgufKey,
                 " are allowed");
    GgufValue value = read_value(read_type(key), key);
    if (!out_.keys_.emplace(key, out_.metadata_.size()).second)
      in_.refuse("names the metadata value '", key, "' twice");
    out_.metadata_.emplace_back(key, std::move(value));
  }

  GgufType read_type(std::string_view key) {
    const auto type = in_.number<uint32_t>(key);
    if (type >= kGgufTypeCount) in_.refuse("'", key, "' is of the unknown value type ", type);
    return static_cast<GgufType>(type);
  }

  GgufValue read_value(GgufType type, std::string_view key) {
    switch (type) {
      case GgufType::U8:
        return {type, uint64_t{in_.number<uint8_t>(key)}};
      case GgufType::U16:
        return {type, uint64_t{in_.number<uint16_t>(key)}};
      case GgufType::U32:
        return {type, uint64_t{in_.number<uint32_t>(key)}};
      case GgufType::U64:
        return {type, in_.number<uint64_t>(key)};
      case GgufType::I8:
        return {type, int64_t{in_.number<int8_t>(key)}};
      case GgufType::I16:
        return {type, int64_t{in_.number<int16_t>(key)}};
      case GgufType::I32:
        return {type, int64_t{in_.number<int32_t>(key)}};
      case GgufType::I64:
        return {type, in_.number<int64_t>(key)};
      case GgufType::F32:
        return {type, static_cast<double>(in_.number<float>(key))};
      case GgufType::F64:
        return {type, in_.number<double>(key)};
      case GgufType::Bool:
        return {type, in_.number<uint8_t>(key) != 0};
      case GgufType::String:
        return {type, text(key)};
      case GgufType::Array:
        return {type, read_array(key, 1)};
    }
    in_.refuse("'", key, "' is of an unknown value type");
  }

  GgufArray read_array(std::string_view key, int depth) {
    GgufArray array;
    array.type = read_type(key);
    array.count = count(key);
    array.reverse = in_.reverse();
    if (array.type == GgufType::Array) {
      if (depth == kDeepestGgufArray) in_.refuse("'", key, "' nests arrays deeper than ", kDeepestGgufArray);
      // Each is a type and a count.
      expect_room(array.count, 4 + length_bytes(), kMostGgufInnerArrays - inner_arrays_, "arrays in arrays");
      inner_arrays_ += array.count;
      for (uint64_t i = 0; i < array.count; ++i) array.arrays.push_back(read_array(key, depth + 1));
    } else if (array.type == GgufType::String) {
      expect_room(array.count, length_bytes(), kMostGgufStrings - strings_, "strings");
      strings_ += array.count;
      array.strings = texts(array.count, key);
    } else {
      const uint64_t bytes = gguf_type_bytes(array.type);
      expect_room(array.count, bytes, UINT64_MAX, "array elements");
      array.bytes = in_.take(array.count * bytes, key);
    }
    return array;
  }

  void set_alignment(const GgufValue& value) {
    const auto alignment = value.as_int();
    if (!alignment || *alignment <= 0 || static_cast<uint64_t>(*alignment) > kLargestGgufAlignment ||
        !std::has_single_bit(static_cast<uint64_t>(*alignment)))
      in_.refuse("general.alignment is ", value, "; it must be a power of two up to ", kLargestGgufAlignment);
    out_.alignment_ = static_cast<uint64_t>(*alignment);
  }

  void read_tensors() {
    std::vector<uint64_t> offsets;
    for (uint64_t i = 0; i < tensor_count_; ++i) offsets.push_back(read_tensor_head());
    const uint64_t data = (in_.at() + out_.alignment_ - 1) / out_.alignment_ * out_.alignment_;
    for (size_t i = 0; i < out_.tensors_.size(); ++i) place(out_.tensors_[i], offsets[i], data);
    refuse_overlap();
  }

  // Everything but the place in the data; returns the offset.
  uint64_t read_tensor_head() {
    const std::string_view name = text("the name of a tensor");
    const auto axes = in_.number<uint32_t>(name);
    if (axes > kMostAxes) in_.refuse("tensor '", name, "' has ", axes, " axes; at most ", kMostAxes);
    std::vector<int64_t> sizes(axes);
    uint64_t elements = 1, reach = 1;  // an empty axis does not excuse the others: strides are made of them
    for (uint32_t i = 0; i < axes; ++i) {
      const uint64_t size = count(name);
      elements = size == 0 ? 0 : elements;
      if (size > INT64_MAX || __builtin_mul_overflow(reach, std::max<uint64_t>(size, 1), &reach) ||
          reach > INT64_MAX)
        in_.refuse("tensor '", name, "' has more elements than any memory holds");
      sizes[axes - 1 - i] = static_cast<int64_t>(size);
    }
    elements *= reach;
    const auto id = in_.number<uint32_t>(name);
    const GgmlType* type = ggml_type(id);
    if (type == nullptr)
      fail(ErrorKind::Unsupported, "read", out_.name_, ": tensor '", name, "' is of the unknown type ", id,
           ", which is newer than this version or out of use; take a file of another type");
    const int64_t row = axes == 0 ? 1 : sizes.back();
    if (row % type->block_elements != 0)
      in_.refuse("tensor '", name, "' has rows of ", row, " elements; ", type->name, " needs a multiple of ",
                 type->block_elements);
    if (elements / type->block_elements > INT64_MAX / type->block_bytes)
      in_.refuse("tensor '", name, "' takes more bytes than any memory holds");
    if (!out_.names_.emplace(name, out_.tensors_.size()).second)
      in_.refuse("names the tensor '", name, "' twice");
    out_.tensors_.push_back({name, Shape(sizes), type, {}, owner_});
    return in_.number<uint64_t>(name);
  }

  void place(GgufTensor& tensor, uint64_t offset, uint64_t data) const {
    const auto elements = static_cast<uint64_t>(tensor.shape.elem_count());
    const uint64_t bytes = elements / tensor.type->block_elements * tensor.type->block_bytes;
    if (offset % out_.alignment_ != 0)
      in_.refuse("tensor '", tensor.name, "' begins at offset ", offset, ", not a multiple of the alignment ",
                 out_.alignment_);
    const uint64_t size = bytes_.size();
    if (data > size || offset > size - data || bytes > size - data - offset)
      in_.refuse("tensor '", tensor.name, "' takes ", bytes, " bytes at offset ", offset,
                 " of the data at byte ", data, ", but the file ends at byte ", size);
    tensor.bytes = bytes_.subspan(data + offset, bytes);
  }

  void refuse_overlap() const {
    std::vector<const GgufTensor*> order;
    for (const GgufTensor& tensor : out_.tensors_)
      if (!tensor.bytes.empty()) order.push_back(&tensor);
    std::sort(order.begin(), order.end(),
              [](const GgufTensor* a, const GgufTensor* b) { return a->bytes.data() < b->bytes.data(); });
    for (size_t i = 1; i < order.size(); ++i) {
      const auto& before = order[i - 1]->bytes;
      if (before.data() + before.size() > order[i]->bytes.data())
        in_.refuse("tensors '", order[i - 1]->name, "' and '", order[i]->name, "' overlap");
    }
  }

  GgufFile& out_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  ByteReader in_;
  uint64_t inner_arrays_ = 0, strings_ = 0;
  uint64_t tensor_count_ = 0, value_count_ = 0;
};

std::shared_ptr<GgufFile> GgufFile::open_one(const std::string& path) {
  const std::shared_ptr<GgufFile> file(new GgufFile());
  const auto map = file->maps_.emplace_back(std::make_shared<const os::MappedFile>(path));
  file->name_ = path;
  GgufParser(*file, map->bytes(), map).parse();
  return file;
}

std::shared_ptr<const GgufFile> GgufFile::open(const std::string& path) {
  const std::shared_ptr<GgufFile> file = open_one(path);
  if (file->split_count() > 1) file->append_parts();
  return file;
}

std::shared_ptr<const GgufFile> GgufFile::from_bytes(std::span<const std::byte> bytes, std::string_view name,
                                                     std::shared_ptr<const void> owner) {
  const std::shared_ptr<GgufFile> file(new GgufFile());
  file->name_ = name;
  GgufParser(*file, bytes, std::move(owner)).parse();
  return file;
}

std::shared_ptr<const GgufFile> GgufFile::assemble(std::string_view name, const GgufWriter& metadata,
                                                   std::vector<ForeignTensor> tensors, uint64_t file_bytes) {
  const std::shared_ptr<GgufFile> file(new GgufFile());
  file->name_ = name;
  file->head_ = metadata.head();
  GgufParser(*file, file->head_, nullptr).parse();
  file->file_bytes_ = file_bytes;
  file->foreign_ = std::move(tensors);
  for (const ForeignTensor& tensor : file->foreign_) {
    const auto elements = static_cast<uint64_t>(tensor.shape.elem_count());
    if (elements % tensor.type->block_elements != 0 ||
        elements / tensor.type->block_elements * tensor.type->block_bytes != tensor.bytes.size())
      fail(ErrorKind::Format, "read", name, ": tensor '", tensor.name, "' has ", tensor.bytes.size(),
           " bytes, which ", tensor.shape, " of ", tensor.type->name, " do not have");
    if (!file->names_.emplace(tensor.name, file->tensors_.size()).second)
      fail(ErrorKind::Format, "read", name, " holds two tensors for '", tensor.name, "'");
    file->tensors_.push_back({tensor.name, tensor.shape, tensor.type, tensor.bytes, tensor.owner});
  }
  return file;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? nullptr : &metadata_[it->second].second;
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : &tensors_[it->second];
}

namespace {

[[noreturn]] void fail_missing(const GgufFile& file, std::string_view key) {
  fail(ErrorKind::Format, "read", file.name(), " has no metadata value '", key, "'");
}

[[noreturn]] void fail_kind(const GgufFile& file, std::string_view key, const GgufValue& value,
                            std::string_view wanted) {
  fail(ErrorKind::Format, "read", file.name(), ": '", key, "' is ", value, " (", gguf_type_name(value.type()),
       "), not ", wanted);
}

// The value as `as` reads it.
template <class T, class F>
T get(const GgufFile& file, std::string_view key, const std::optional<T>& fallback, std::string_view wanted,
      F&& as) {
  const GgufValue* value = file.find(key);
  if (value == nullptr) return fallback ? *fallback : (fail_missing(file, key), T{});
  const auto found = as(*value);
  if (!found) fail_kind(file, key, *value, wanted);
  return T(*found);
}

}  // namespace

int64_t GgufFile::get_int(std::string_view key, std::optional<int64_t> fallback) const {
  return get(*this, key, fallback, "a whole number", [](const GgufValue& v) { return v.as_int(); });
}
double GgufFile::get_float(std::string_view key, std::optional<double> fallback) const {
  return get(*this, key, fallback, "a number", [](const GgufValue& v) { return v.as_float(); });
}
bool GgufFile::get_bool(std::string_view key, std::optional<bool> fallback) const {
  return get(*this, key, fallback, "true or false", [](const GgufValue& v) { return v.as_bool(); });
}
std::string GgufFile::get_string(std::string_view key, const std::optional<std::string>& fallback) const {
  return get(*this, key, fallback, "text", [](const GgufValue& v) { return v.as_string(); });
}
std::vector<int64_t> GgufFile::get_ints(std::string_view key, int64_t count,
                                        std::optional<int64_t> fallback) const {
  const GgufValue* value = find(key);
  if (value != nullptr && value->as_array() != nullptr) {
    const bool fits =
        value->as_array()->count == static_cast<uint64_t>(count);  // known before a copy is made
    const auto list = fits ? value->as_ints() : std::nullopt;
    if (!list) fail_kind(*this, key, *value, join_text(count, " whole numbers"));
    return *list;
  }
  return std::vector<int64_t>(static_cast<size_t>(count), get_int(key, fallback));
}

}  // namespace beeswax::io
