// SPDX-License-Identifier: Apache-2.0
// GgufFile: metadata and tensors of a GGUF file (versions 1 to 3, either byte order), checked and without
// copies. Views into it live as long as the object.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beeswax/dtype.h"
#include "beeswax/qtensor_type.h"
#include "beeswax/shape.h"
#include "core/os/file.h"
#include "io/gguf_value.h"

namespace beeswax::io {

/// Limits of what is read and written: far beyond the largest published files (fewer than 100 values, 50 000
/// tensors, 800 000 strings). A thing of a file can take many times its bytes in memory, and a sparse file
/// has bytes for nothing.
inline constexpr uint64_t kMostGgufValues = 1 << 16, kMostGgufTensors = 1 << 18;
inline constexpr uint64_t kMostGgufStrings = 1 << 22;      ///< in all arrays
inline constexpr uint64_t kMostGgufInnerArrays = 1 << 16;  ///< in all arrays
inline constexpr int kDeepestGgufArray = 8;                ///< arrays in arrays in ..., the outermost counted
inline constexpr uint64_t kLongestGgufKey = 65535, kLargestGgufAlignment = 1 << 20;

/// A tensor type of GGUF files (tables/ggml_types.def).
struct GgmlType {
  uint32_t id;
  std::string_view name;
  uint32_t block_elements, block_bytes;
  std::optional<DType> dtype;      ///< of plain elements that we have
  std::optional<QuantType> quant;  ///< of blocks that we have
  std::optional<QuantType> wider;  ///< of blocks that we have not: what holds the same values
  bool in_blocks() const { return quant.has_value() || wider.has_value(); }
  bool usable() const { return dtype.has_value() || in_blocks(); }
};
/// All that are known.
BW_API std::span<const GgmlType> ggml_types();
/// Null for a number that no known type has.
BW_API const GgmlType* ggml_type(uint32_t id);

struct GgufTensor {
  std::string_view name;
  Shape shape;  ///< outermost axis first (files store it last)
  const GgmlType* type;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the bytes; null where that is the caller's part
};

class GgufWriter;

/// A tensor that some other file holds.
struct ForeignTensor {
  std::string name;
  Shape shape;
  const GgmlType* type;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the bytes; null where that is the caller's part
};

class BW_API GgufFile {
 public:
  /// Maps and checks a file, or all parts of a split one (NAME-00001-of-0000N.gguf) where the first is named.
  /// Io where one cannot be opened, Format where it is not a sound GGUF file, Unsupported where a tensor is
  /// of a type that no row of tables/ggml_types.def has.
  static std::shared_ptr<const GgufFile> open(const std::string& path);
  /// The same from memory that outlives the object; `name` stands in messages. Weights look into the memory
  /// where it has an owner that keeps it, and are copied where it has none.
  static std::shared_ptr<const GgufFile> from_bytes(std::span<const std::byte> bytes, std::string_view name,
                                                    std::shared_ptr<const void> owner = nullptr);
  /// What another format holds, as a GGUF file would: `metadata` gives the values, and none of its tensors.
  /// Format where two tensors have one name, or bytes do not fit a shape.
  static std::shared_ptr<const GgufFile> assemble(std::string_view name, const GgufWriter& metadata,
                                                  std::vector<ForeignTensor> tensors, uint64_t file_bytes);

  const std::string& name() const { return name_; }
  uint32_t version() const { return version_; }
  /// The file's byte order is not this machine's. Metadata is converted; tensor bytes are as in the file.
  bool reversed() const { return reversed_; }
  uint64_t alignment() const { return alignment_; }
  uint64_t file_bytes() const { return file_bytes_; }  ///< of all parts
  size_t parts() const { return maps_.empty() ? 1 : maps_.size(); }
  /// Whether another format holds it all.
  bool assembled() const { return !head_.empty(); }

  /// In the order of the file; metadata are the first part's.
  const std::vector<std::pair<std::string_view, GgufValue>>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufValue* find(std::string_view key) const;           ///< null where absent
  const GgufTensor* find_tensor(std::string_view name) const;  ///< null where absent

  /// Values by key: `fallback` where absent, Format where of another kind.
  int64_t get_int(std::string_view key, std::optional<int64_t> fallback = std::nullopt) const;
  double get_float(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  bool get_bool(std::string_view key, std::optional<bool> fallback = std::nullopt) const;
  std::string get_string(std::string_view key,
                         const std::optional<std::string>& fallback = std::nullopt) const;
  /// A number for each layer, from one number or an array of `count`.
  std::vector<int64_t> get_ints(std::string_view key, int64_t count,
                                std::optional<int64_t> fallback = std::nullopt) const;

 private:
  GgufFile() = default;
  friend class GgufParser;
  static std::shared_ptr<GgufFile> open_one(const std::string& path);
  int64_t split_count() const;
  void check_part(int64_t number, int64_t count) const;
  void append_parts();
  void append(const GgufFile& part, int64_t number);

  std::vector<std::shared_ptr<const os::MappedFile>> maps_;
  std::vector<std::byte> head_;         // of an assembled file, for what points into it
  std::vector<ForeignTensor> foreign_;  // the same
  uint64_t file_bytes_ = 0;
  std::string name_;
  uint32_t version_ = 0;
  bool reversed_ = false;
  uint64_t alignment_ = 32;
  std::vector<std::pair<std::string_view, GgufValue>> metadata_;
  std::map<std::string_view, size_t> keys_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, size_t> names_;
};

}  // namespace beeswax::io
