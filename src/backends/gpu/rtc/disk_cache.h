// SPDX-License-Identifier: Apache-2.0
// DiskCache: compiled kernels between runs of programs, by a key of everything that decides them. Several
// processes may share one; a damaged entry counts as missing, and those used longest ago make room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "core/os/folders.h"
#include "core/sha256.h"

namespace beeswax::gpu::rtc {

class DiskCache {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;

  /// `folder` is made if it is missing. Where it cannot be written, one in the system's temporary folder
  /// takes its place, and a warning on standard error says why; where that cannot be either, nothing is kept.
  /// Entries take `most_bytes` at most, or there is only one.
  explicit DiskCache(const std::filesystem::path& folder, uint64_t most_bytes = kMostBytes);
  /// The one of this user: BEESWAX_CODE_CACHE, or beeswax/code in the user's cache folder.
  static DiskCache& of_user();

  /// Where entries lie; empty where nothing is kept.
  const std::filesystem::path& folder() const { return folder_; }
  /// The value kept under a key; nothing where there is none or it is damaged.
  std::optional<std::vector<std::byte>> find(const Sha256Digest& key) const;
  /// Keeps a value; readers of other processes see it whole or not at all. A full disk is no error. Removes
  /// what is beyond the limit, and what processes that ended while they wrote left behind.
  void keep(const Sha256Digest& key, std::span<const std::byte> value) const;
  /// Held while the value of a key is made, so that processes wait for each other instead of making it twice.
  os::FileLock lock(const Sha256Digest& key) const;

  /// The file of a key's entry.
  std::filesystem::path file(const Sha256Digest& key) const;

 private:
  void make_room(const std::filesystem::path& kept) const;
  std::filesystem::path folder_;
  uint64_t most_bytes_;
};

}  // namespace beeswax::gpu::rtc
