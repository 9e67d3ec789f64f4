// SPDX-License-Identifier: Apache-2.0
// SafetensorsFile: the tensors and metadata of a safetensors file, or of a folder of them that an index
// lists, checked and without copies. Numbers are little-endian, as everywhere we run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/dtype.h"
#include "beeswax/shape.h"
#include "beeswax/tensor.h"

namespace beeswax::io {

/// Bytes of a header, as the format's own library has it.
inline constexpr uint64_t kLongestSafetensorsHeader = 100'000'000;

/// An element type of safetensors files (tables/safetensors_types.def).
struct SafetensorsType {
  std::string_view name;
  uint32_t bits;
  std::optional<DType> dtype;  ///< of tensors of ours
};
/// Null for a name that no known type has.
BW_API const SafetensorsType* safetensors_type(std::string_view name);

struct BW_API SafetensorsTensor {
  std::string name;
  Shape shape;
  const SafetensorsType* type;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the bytes; null where that is the caller's part

  /// The tensor on the CPU, looking into a mapped file where it is aligned there (beeswax/shared_bytes.h),
  /// else copied. UnsupportedDType for a type without a dtype of ours.
  Tensor to_tensor() const;
};

class BW_API SafetensorsFile {
 public:
  /// `path`: a file; or a folder, which stands for its model.safetensors, or where there is none for its
  /// model.safetensors.index.json; or an index (*.json) and the files beside it that it lists. Io where a
  /// file cannot be opened, Format where it is not sound.
  static std::shared_ptr<const SafetensorsFile> open(const std::string& path);
  /// One file from memory that outlives the object; `name` stands in messages.
  static std::shared_ptr<const SafetensorsFile> from_bytes(std::span<const std::byte> bytes,
                                                           std::string_view name);

  const std::string& name() const { return name_; }
  uint64_t file_bytes() const { return file_bytes_; }  ///< of all files together
  /// Text by name; what several files say differently has the first one's value.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// In the order of the data.
  const std::vector<SafetensorsTensor>& tensors() const { return tensors_; }
  const SafetensorsTensor* find(std::string_view name) const;  ///< null where absent

 private:
  SafetensorsFile() = default;
  void read(std::span<const std::byte> bytes, const std::string& file,
            const std::shared_ptr<const void>& owner);
  void read_mapped(const std::string& path);
  void read_index(const std::string& path);

  std::string name_;
  uint64_t file_bytes_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<SafetensorsTensor> tensors_;
  std::map<std::string, size_t, std::less<>> names_;
};

}  // namespace beeswax::io
