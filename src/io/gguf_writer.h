// SPDX-License-Identifier: Apache-2.0
// GgufWriter: writes GGUF version 3, little-endian, tensors aligned as general.alignment says (32 by
// default).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "beeswax/shape.h"
#include "io/gguf_value.h"

namespace beeswax::io {

class BW_API GgufWriter {
 public:
  /// InvalidArgument unless `alignment` is a power of two up to kLargestGgufAlignment.
  explicit GgufWriter(uint64_t alignment = 32);

  /// Metadata, in the order of the calls. InvalidArgument for a key that is there already, for what is beyond
  /// the limits of io/gguf.h, and for a general.alignment other than the writer's own. What is refused
  /// changes nothing.
  void set_u32(std::string_view key, uint32_t value);
  void set_u64(std::string_view key, uint64_t value);
  void set_i32(std::string_view key, int32_t value);
  void set_f32(std::string_view key, float value);
  void set_bool(std::string_view key, bool value);
  void set_string(std::string_view key, std::string_view value);
  void set_strings(std::string_view key, std::span<const std::string> values);
  void set_f32s(std::string_view key, std::span<const float> values);
  void set_i32s(std::string_view key, std::span<const int32_t> values);
  /// A value as another file holds it; that may be the general.alignment that the writer has said itself.
  void set(std::string_view key, const GgufValue& value);

  /// `type` is a number of tables/ggml_types.def; the bytes must live until the file is written.
  /// InvalidArgument for a name that is there already, rows that are no whole number of blocks, or bytes that
  /// do not fit the shape.
  void add_tensor(std::string_view name, uint32_t type, const Shape& shape, std::span<const std::byte> bytes);
  /// A tensor whose bytes come later, when the file is written.
  void add_tensor(std::string_view name, uint32_t type, const Shape& shape);

  /// The whole file in memory.
  std::vector<std::byte> to_bytes() const;
  /// What stands before the tensors' data, and how much that is.
  std::vector<std::byte> head() const;
  uint64_t data_bytes() const;
  /// To a file that appears under its name only once it is whole. Io where that fails.
  void write(const std::string& path) const;
  /// The same; `bytes_of` is asked for each tensor in order, and its answer used before it is asked again, so
  /// that a file larger than memory can be written. What it throws leaves no file.
  using BytesOf = std::function<std::span<const std::byte>(size_t index)>;
  void write(const std::string& path, const BytesOf& bytes_of) const;

 private:
  struct Tensor {
    std::string name;
    uint32_t type;
    Shape shape;
    uint64_t size;
    std::span<const std::byte> bytes;
  };
  /// What arrays take of the limits of a file.
  struct ArrayRoom {
    uint64_t strings = 0, inner_arrays = 0;
  };
  static ArrayRoom room_of(std::string_view key, const GgufArray& array, int depth);
  /// `integer` is the value where it is one.
  void begin(std::string_view key, GgufType type, std::optional<int64_t> integer = std::nullopt);
  void begin_array(std::string_view key, const ArrayRoom& room);
  uint64_t aligned(uint64_t size) const;
  void emit(const BytesOf& bytes_of, const std::function<void(std::span<const std::byte>)>& put) const;
  BytesOf own_bytes() const;

  uint64_t alignment_;
  std::unordered_set<std::string> keys_, names_;  // of values, of tensors
  ArrayRoom taken_;
  std::vector<std::byte> metadata_;
  std::vector<Tensor> tensors_;
};

}  // namespace beeswax::io
