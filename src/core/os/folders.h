// SPDX-License-Identifier: Apache-2.0
// Folders of the user and of the system, and files that several processes share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beeswax::os {

/// Where this user's programs keep what they can make again: XDG_CACHE_HOME, or .cache at home; nothing where
/// neither is known.
std::optional<std::filesystem::path> user_cache_folder();

/// Makes the folder, with those above it, for this user alone. Empty where it is this user's, closed to
/// writing by others, and takes files; else why it is not.
std::string make_own_folder(const std::filesystem::path& folder);

/// A folder's name in the system's temporary folder that belongs to this user.
std::filesystem::path own_temporary_folder(const std::string& name);

/// A new empty folder that is removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder();  ///< Throws Io
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The exclusive lock on a file, made if it is missing: held by one holder among all threads and processes,
/// until it is destroyed or the process ends. A file that cannot be locked (on a file system without locks)
/// counts as locked: holders then only do work twice.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

/// "PATH.<process>.<number>": a name that no other call returns, for what is to become the file `path`.
std::string name_beside(const std::filesystem::path& path);
/// All bytes of a file, or nothing where it cannot be read.
std::optional<std::vector<std::byte>> read_file(const std::filesystem::path& path);
/// Replaces a file so that readers see the old one whole or the new one whole. Tells whether it could.
bool replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// A text that changes when the file does: where it really lies, its size and its time of change. Empty where
/// there is none.
std::string file_stamp(const std::filesystem::path& path);
/// The stamps of the files in a folder whose names begin with one of these, in an order of their own.
std::string stamps_in(const std::filesystem::path& folder,
                      std::initializer_list<std::string_view> beginnings);

}  // namespace beeswax::os
