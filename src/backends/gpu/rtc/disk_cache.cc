// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rtc/disk_cache.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace beeswax::gpu::rtc {
namespace {

// An entry: this mark, the digest of key and value, the value.
constexpr std::array<char, 8> kMark = {'B', 'W', 'C', 'O', 'D', 'E', '1', '\n'};

Sha256Digest seal(const Sha256Digest& key, std::span<const std::byte> value) {
  return Sha256().add(key).add(value).finish();
}

std::filesystem::path folder_of_user() {
  if (const char* given = std::getenv("BEESWAX_CODE_CACHE"); given != nullptr && *given != 0) return given;
  const std::optional<std::filesystem::path> caches = os::user_cache_folder();
  return caches.has_value() ? *caches / "beeswax" / "code" : std::filesystem::path();
}

}  // namespace

DiskCache::DiskCache(const std::filesystem::path& folder) : folder_(folder) {
  if (!folder_.empty() && os::make_own_folder(folder_)) return;
  folder_ = os::own_temporary_folder("beeswax-code");
  const bool usable = os::make_own_folder(folder_);
  if (!usable) folder_.clear();
  std::fprintf(stderr, "beeswax: compiled kernels cannot be kept in %s: %s%s\n",
               folder.empty() ? "a cache folder (HOME is not set)" : folder.c_str(),
               usable ? "they go to " : "they are compiled anew in every process", folder_.c_str());
}

DiskCache& DiskCache::of_user() {
  static DiskCache cache(folder_of_user());
  return cache;
}

std::filesystem::path DiskCache::file(const Sha256Digest& key) const {
  const std::string name = hex(key);
  return folder_ / name.substr(0, 2) / name;
}

std::optional<std::vector<std::byte>> DiskCache::find(const Sha256Digest& key) const {
  if (folder_.empty()) return std::nullopt;
  std::optional<std::vector<std::byte>> entry = os::read_file(file(key));
  constexpr size_t kHead = kMark.size() + sizeof(Sha256Digest);
  if (!entry.has_value() || entry->size() < kHead ||
      std::memcmp(entry->data(), kMark.data(), kMark.size()) != 0)
    return std::nullopt;
  const Sha256Digest expected = seal(key, std::span(*entry).subspan(kHead));
  if (std::memcmp(entry->data() + kMark.size(), expected.data(), expected.size()) != 0) return std::nullopt;
  entry->erase(entry->begin(), entry->begin() + kHead);
  return entry;
}

void DiskCache::keep(const Sha256Digest& key, std::span<const std::byte> value) const {
  if (folder_.empty()) return;
  const Sha256Digest digest = seal(key, value);
  std::vector<std::byte> entry(kMark.size() + digest.size() + value.size());
  std::memcpy(entry.data(), kMark.data(), kMark.size());
  std::ranges::copy(digest, entry.begin() + kMark.size());
  std::ranges::copy(value, entry.begin() + kMark.size() + digest.size());
  const std::filesystem::path path = file(key);
  os::make_own_folder(path.parent_path());
  os::replace_file(path, entry);
}

os::FileLock DiskCache::lock(const Sha256Digest& key) const {
  // One lock for all keys of a folder: there are never many, and none is left behind for each key.
  const std::filesystem::path path = file(key).parent_path();
  if (!folder_.empty()) os::make_own_folder(path);
  return os::FileLock(folder_.empty() ? std::filesystem::path() : path / "lock");
}

}  // namespace beeswax::gpu::rtc
