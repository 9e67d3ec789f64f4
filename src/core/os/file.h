// SPDX-License-Identifier: Apache-2.0
// Files of the operating system.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace beeswax::os {

/// A whole file mapped read-only; pages are read when they are first touched. Movable.
class MappedFile {
 public:
  /// Throws Io with the path and the system's reason. An empty file gives an empty span.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace beeswax::os
