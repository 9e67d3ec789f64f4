// SPDX-License-Identifier: Apache-2.0
#include "io/gguf_writer.h"

#include <bit>
#include <cstring>

#include "core/divide.h"
#include "core/fail.h"
#include "io/byte_reader.h"
#include "io/file_writer.h"
#include "io/gguf.h"

namespace beeswax::io {
namespace {

constexpr std::string_view kAlignmentKey = "general.alignment";

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

void append(std::vector<std::byte>& to, const void* data, size_t size) {
  if (size == 0) return;
  const size_t at = to.size();
  to.resize(at + size);
  std::memcpy(to.data() + at, data, size);
}

template <class T>
void put_number(std::vector<std::byte>& to, T value) {
  append(to, &value, sizeof(T));
}

void put_text(std::vector<std::byte>& to, std::string_view text) {
  put_number(to, uint64_t{text.size()});
  append(to, text.data(), text.size());
}

void put_array(std::vector<std::byte>& to, const GgufArray& array) {
  put_number(to, static_cast<uint32_t>(array.type));
  put_number(to, array.count);
  if (array.reverse) {
    const std::vector<std::byte> bytes = with_reversed_elements(array.bytes, gguf_type_bytes(array.type));
    append(to, bytes.data(), bytes.size());
  } else {
    append(to, array.bytes.data(), array.bytes.size());
  }
  for (const std::string_view text : array.strings) put_text(to, text);
  for (const GgufArray& inner : array.arrays) put_array(to, inner);
}

}  // namespace

GgufWriter::GgufWriter(uint64_t alignment) : alignment_(alignment) {
  if (!std::has_single_bit(alignment) || alignment > kLargestGgufAlignment)
    fail(ErrorKind::InvalidArgument, "write", "an alignment of ", alignment,
         " bytes; it must be a power of two up to ", kLargestGgufAlignment);
  if (alignment != 32) set_u32(kAlignmentKey, static_cast<uint32_t>(alignment));
}

GgufWriter::ArrayRoom GgufWriter::room_of(std::string_view key, const GgufArray& array, int depth) {
  if (depth > kDeepestGgufArray)
    fail(ErrorKind::InvalidArgument, "write", "'", key, "' nests arrays deeper than ", kDeepestGgufArray);
  ArrayRoom room = {array.strings.size(), array.arrays.size()};
  for (const GgufArray& inner : array.arrays) {
    const ArrayRoom more = room_of(key, inner, depth + 1);
    room.strings += more.strings;
    room.inner_arrays += more.inner_arrays;
  }
  return room;
}

void GgufWriter::begin_array(std::string_view key, const ArrayRoom& room) {
  if (room.strings > kMostGgufStrings - taken_.strings)
    fail(ErrorKind::InvalidArgument, "write", "with the ", room.strings, " strings of '", key,
         "' there are more than ", kMostGgufStrings, " strings in arrays");
  if (room.inner_arrays > kMostGgufInnerArrays - taken_.inner_arrays)
    fail(ErrorKind::InvalidArgument, "write", "with the ", room.inner_arrays, " arrays in '", key,
         "' there are more than ", kMostGgufInnerArrays, " arrays in arrays");
  begin(key, GgufType::Array);
  taken_.strings += room.strings;
  taken_.inner_arrays += room.inner_arrays;
}

void GgufWriter::begin(std::string_view key, GgufType type, std::optional<int64_t> integer) {
  if (key == kAlignmentKey && integer != static_cast<int64_t>(alignment_))
    fail(ErrorKind::InvalidArgument, "write", "'", key, "' must be the alignment of the writer, ",
         alignment_);
  if (key.empty() || key.size() > kLongestGgufKey)
    fail(ErrorKind::InvalidArgument, "write", "a metadata value has a name of ", key.size(), " bytes; 1 to ",
         kLongestGgufKey, " are allowed");
  if (keys_.size() == kMostGgufValues)
    fail(ErrorKind::InvalidArgument, "write", "more than ", kMostGgufValues, " metadata values");
  if (!keys_.emplace(key).second)
    fail(ErrorKind::InvalidArgument, "write", "the metadata value '", key, "' is there already");
  put_text(metadata_, key);
  put_number(metadata_, static_cast<uint32_t>(type));
}

void GgufWriter::set_u32(std::string_view key, uint32_t value) {
  begin(key, GgufType::U32, value);
  put_number(metadata_, value);
}
void GgufWriter::set_u64(std::string_view key, uint64_t value) {
  // What does not fit becomes negative, which no alignment is.
  begin(key, GgufType::U64, static_cast<int64_t>(value));
  put_number(metadata_, value);
}
void GgufWriter::set_i32(std::string_view key, int32_t value) {
  begin(key, GgufType::I32, value);
  put_number(metadata_, value);
}
void GgufWriter::set_f32(std::string_view key, float value) {
  begin(key, GgufType::F32);
  put_number(metadata_, value);
}
void GgufWriter::set_bool(std::string_view key, bool value) {
  begin(key, GgufType::Bool);
  put_number(metadata_, static_cast<uint8_t>(value));
}
void GgufWriter::set_string(std::string_view key, std::string_view value) {
  begin(key, GgufType::String);
  put_text(metadata_, value);
}
void GgufWriter::set_strings(std::string_view key, std::span<const std::string> values) {
  begin_array(key, {values.size(), 0});
  put_number(metadata_, static_cast<uint32_t>(GgufType::String));
  put_number(metadata_, uint64_t{values.size()});
  for (const std::string& value : values) put_text(metadata_, value);
}
void GgufWriter::set_f32s(std::string_view key, std::span<const float> values) {
  begin(key, GgufType::Array);
  put_number(metadata_, static_cast<uint32_t>(GgufType::F32));
  put_number(metadata_, uint64_t{values.size()});
  append(metadata_, values.data(), values.size_bytes());
}
void GgufWriter::set_i32s(std::string_view key, std::span<const int32_t> values) {
  begin(key, GgufType::Array);
  put_number(metadata_, static_cast<uint32_t>(GgufType::I32));
  put_number(metadata_, uint64_t{values.size()});
  append(metadata_, values.data(), values.size_bytes());
}

void GgufWriter::set(std::string_view key, const GgufValue& value) {
  if (const GgufArray* array = value.as_array(); array != nullptr) {
    begin_array(key, room_of(key, *array, 1));
    return put_array(metadata_, *array);
  }
  const std::optional<int64_t> integer = value.as_int();
  if (key == kAlignmentKey && integer == static_cast<int64_t>(alignment_) && keys_.contains(std::string(key)))
    return;
  begin(key, value.type(), integer);
  if (const auto text = value.as_string()) return put_text(metadata_, *text);
  if (value.type() == GgufType::F32) return put_number(metadata_, static_cast<float>(*value.as_float()));
  if (value.type() == GgufType::F64) return put_number(metadata_, *value.as_float());
  if (value.type() == GgufType::U64) {
    // The only integers that need not fit as_int().
    return put_number(metadata_, value.as_unsigned());
  }
  append(metadata_, &*integer, gguf_type_bytes(value.type()));
}

void GgufWriter::add_tensor(std::string_view name, uint32_t type, const Shape& shape) {
  const GgmlType* known = ggml_type(type);
  if (known == nullptr)
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name, "' is of the unknown type ", type);
  const int64_t row = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  if (row % known->block_elements != 0)
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name, "' ", shape, " has rows of ", row,
         " elements; ", known->name, " needs a multiple of ", known->block_elements);
  const auto blocks = static_cast<uint64_t>(shape.elem_count()) / known->block_elements;
  if (blocks > INT64_MAX / known->block_bytes)
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name, "' ", shape, " of ", known->name,
         " takes more bytes than any memory holds");
  if (tensors_.size() == kMostGgufTensors)
    fail(ErrorKind::InvalidArgument, "write", "more than ", kMostGgufTensors, " tensors");
  if (!names_.emplace(name).second)
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name, "' is there already");
  tensors_.push_back({std::string(name), type, shape, blocks * known->block_bytes, {}});
}

void GgufWriter::add_tensor(std::string_view name, uint32_t type, const Shape& shape,
                            std::span<const std::byte> bytes) {
  add_tensor(name, type, shape);
  Tensor& tensor = tensors_.back();
  if (bytes.size() != tensor.size) {
    const uint64_t expected = tensor.size;
    tensors_.pop_back();
    names_.erase(std::string(name));
    fail(ErrorKind::InvalidArgument, "write", "tensor '", name, "' ", shape, " of ", ggml_type(type)->name,
         " takes ", expected, " bytes, got ", bytes.size());
  }
  tensor.bytes = bytes;
}

uint64_t GgufWriter::aligned(uint64_t size) const {
  return static_cast<uint64_t>(round_up(static_cast<int64_t>(size), static_cast<int64_t>(alignment_)));
}

std::vector<std::byte> GgufWriter::head() const {
  std::vector<std::byte> head;
  append(head, "GGUF", 4);
  put_number(head, uint32_t{3});
  put_number(head, uint64_t{tensors_.size()});
  put_number(head, uint64_t{keys_.size()});
  append(head, metadata_.data(), metadata_.size());
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    put_text(head, tensor.name);
    put_number(head, static_cast<uint32_t>(tensor.shape.rank()));
    for (int axis = tensor.shape.rank() - 1; axis >= 0; --axis)
      put_number(head, static_cast<uint64_t>(tensor.shape[axis]));
    put_number(head, tensor.type);
    put_number(head, offset);
    offset += aligned(tensor.size);
  }
  head.resize(aligned(head.size()));
  return head;
}

uint64_t GgufWriter::data_bytes() const {
  uint64_t sum = 0;
  for (const Tensor& tensor : tensors_) sum += aligned(tensor.size);
  return sum;
}

GgufWriter::BytesOf GgufWriter::own_bytes() const {
  return [this](size_t index) { return tensors_[index].bytes; };
}

// Calls put(bytes) with the parts of the file in order.
void GgufWriter::emit(const BytesOf& bytes_of,
                      const std::function<void(std::span<const std::byte>)>& put) const {
  put(head());
  const std::vector<std::byte> zeros(alignment_);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const std::span<const std::byte> bytes = bytes_of(i);
    if (bytes.size() != tensors_[i].size)
      fail(ErrorKind::InvalidArgument, "write", "tensor '", tensors_[i].name, "' takes ", tensors_[i].size,
           " bytes, got ", bytes.size());
    put(bytes);
    put(std::span(zeros).first(aligned(bytes.size()) - bytes.size()));
  }
}

std::vector<std::byte> GgufWriter::to_bytes() const {
  std::vector<std::byte> out;
  emit(own_bytes(), [&](std::span<const std::byte> part) { append(out, part.data(), part.size()); });
  return out;
}

void GgufWriter::write(const std::string& path) const { write(path, own_bytes()); }

void GgufWriter::write(const std::string& path, const BytesOf& bytes_of) const {
  FileWriter file(path);
  emit(bytes_of, [&](std::span<const std::byte> part) { file.put(part); });
  file.finish();
}

}  // namespace beeswax::io
