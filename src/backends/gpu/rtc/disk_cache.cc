// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rtc/disk_cache.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace beeswax::gpu::rtc {
namespace {

namespace fs = std::filesystem;

// An entry: this mark, the digest of key and value, the value.
constexpr std::array<char, 8> kMark = {'B', 'W', 'C', 'O', 'D', 'E', '1', '\n'};

Sha256Digest seal(const Sha256Digest& key, std::span<const std::byte> value) {
  return Sha256().add(key).add(value).finish();
}

fs::path folder_of_user() {
  if (const char* given = std::getenv("BEESWAX_CODE_CACHE"); given != nullptr && *given != 0) return given;
  const std::optional<fs::path> caches = os::user_cache_folder();
  return caches.has_value() ? *caches / "beeswax" / "code" : fs::path();
}

// Nobody writes a file for so long: whoever began one has ended.
constexpr std::chrono::hours kLongestWrite{1};
constexpr std::string_view kDigits = "0123456789abcdef";

// Whether a file of a cache's folder is an entry, or was to become one; others are not ours to remove.
bool begins_with_key(std::string_view name) {
  constexpr size_t kKeyDigits = 2 * sizeof(Sha256Digest);
  return name.size() >= kKeyDigits && name.substr(0, kKeyDigits).find_first_not_of(kDigits) == name.npos &&
         (name.size() == kKeyDigits || name[kKeyDigits] == '.');
}

struct Entry {
  fs::file_time_type used;
  uint64_t bytes;
  fs::path path;
};

// Adds a folder's entries to `out`, and removes what writers that ended left there.
void sweep(const fs::path& folder, std::vector<Entry>& out) {
  const fs::file_time_type oldest_write = fs::file_time_type::clock::now() - kLongestWrite;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!begins_with_key(name)) continue;
    std::error_code gone;  // another process was faster
    const fs::file_time_type used = at->last_write_time(gone);
    const uint64_t bytes = gone ? 0 : at->file_size(gone);
    if (gone) continue;
    if (name.find('.') == name.npos) {
      out.push_back({used, bytes, at->path()});
    } else if (used < oldest_write) {
      fs::remove(at->path(), gone);
    }
  }
}

}  // namespace

DiskCache::DiskCache(const fs::path& folder, uint64_t most_bytes) : folder_(folder), most_bytes_(most_bytes) {
  const std::string why = folder_.empty() ? "HOME is not set" : os::make_own_folder(folder_);
  if (why.empty()) return;
  folder_ = os::own_temporary_folder("beeswax-code");
  const std::string why_not_there = os::make_own_folder(folder_);
  const std::string instead = why_not_there.empty()
                                  ? "they go to " + folder_.string()
                                  : "they are compiled anew in every process, for " + folder_.string() +
                                        " does not serve either: " + why_not_there;
  if (!why_not_there.empty()) folder_.clear();
  std::fprintf(stderr,
               "beeswax: compiled kernels cannot be kept in %s: %s; %s (BEESWAX_CODE_CACHE may name another "
               "folder)\n",
               folder.empty() ? "a cache folder" : folder.c_str(), why.c_str(), instead.c_str());
}

DiskCache& DiskCache::of_user() {
  static DiskCache cache(folder_of_user());
  return cache;
}

fs::path DiskCache::file(const Sha256Digest& key) const {
  const std::string name = hex(key);
  return folder_ / name.substr(0, 2) / name;
}

std::optional<std::vector<std::byte>> DiskCache::find(const Sha256Digest& key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = file(key);
  std::optional<std::vector<std::byte>> entry = os::read_file(path);
  constexpr size_t kHead = kMark.size() + sizeof(Sha256Digest);
  if (!entry.has_value() || entry->size() < kHead ||
      std::memcmp(entry->data(), kMark.data(), kMark.size()) != 0)
    return std::nullopt;
  const Sha256Digest expected = seal(key, std::span(*entry).subspan(kHead));
  if (std::memcmp(entry->data() + kMark.size(), expected.data(), expected.size()) != 0) return std::nullopt;
  entry->erase(entry->begin(), entry->begin() + kHead);
  std::error_code error;  // an entry's time is that of its last use; where it cannot be set, it goes sooner
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return entry;
}

void DiskCache::keep(const Sha256Digest& key, std::span<const std::byte> value) const {
  if (folder_.empty()) return;
  const Sha256Digest digest = seal(key, value);
  std::vector<std::byte> entry(kMark.size() + digest.size() + value.size());
  std::memcpy(entry.data(), kMark.data(), kMark.size());
  std::ranges::copy(digest, entry.begin() + kMark.size());
  std::ranges::copy(value, entry.begin() + kMark.size() + digest.size());
  const fs::path path = file(key);
  os::make_own_folder(path.parent_path());
  os::replace_file(path, entry);
  make_room(path);
}

// Without a lock on the whole folder: of two processes both remove the same files, and a reader has its file
// open or makes the entry again.
void DiskCache::make_room(const fs::path& kept) const {
  std::vector<Entry> entries;
  for (const char high : kDigits)
    for (const char low : kDigits) sweep(folder_ / std::string{high, low}, entries);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= most_bytes_) return;
    if (entry.path == kept) continue;
    std::error_code error;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

os::FileLock DiskCache::lock(const Sha256Digest& key) const {
  // One lock for all keys of a folder: there are never many, and none is left behind for each key.
  const fs::path path = file(key).parent_path();
  if (!folder_.empty()) os::make_own_folder(path);
  return os::FileLock(folder_.empty() ? fs::path() : path / "lock");
}

}  // namespace beeswax::gpu::rtc
