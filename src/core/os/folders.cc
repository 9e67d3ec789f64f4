// SPDX-License-Identifier: Apache-2.0
#include "core/os/folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/fail.h"

namespace beeswax::os {
namespace {

constexpr mode_t kMine = 0700;

// Writes all bytes to a new file; false where that fails.
bool write_new(const std::string& path, std::span<const std::byte> bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool good = true;
  while (good && !bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
    good = count > 0 || (count < 0 && errno == EINTR);
  }
  return ::close(file) == 0 && good;
}

}  // namespace

std::optional<std::filesystem::path> user_cache_folder() {
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/') return given;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache";
  return std::nullopt;
}

std::string make_own_folder(const std::filesystem::path& folder) {
  const auto last_error = [] { return std::generic_category().message(errno); };
  std::error_code error;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), kMine) != 0 && errno != EEXIST) return error ? error.message() : last_error();
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) return last_error();
  // In a folder that all may write to, another user could lead us elsewhere.
  if (S_ISLNK(status.st_mode)) return "it is a symbolic link; name the folder that it leads to";
  if (!S_ISDIR(status.st_mode)) return "it is no folder";
  if (status.st_uid != ::geteuid())
    return join_text("it belongs to user ", status.st_uid, ", and this is user ", ::geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others may write to it; take that from them with chmod go-w";
  return ::access(folder.c_str(), R_OK | W_OK | X_OK) == 0 ? "" : last_error();
}

std::filesystem::path own_temporary_folder(const std::string& name) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = ".";
  return folder / join_text(name, "-", ::geteuid());
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "beeswax-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr)
    fail(ErrorKind::Io, "temporary folder", name, ": ",
         error ? error.message() : std::generic_category().message(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

FileLock::FileLock(const std::filesystem::path& path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return std::nullopt;
  std::vector<std::byte> out;
  constexpr size_t kPart = size_t{1} << 16;
  size_t count = 0;
  do {
    out.resize(out.size() + kPart);
    count = std::fread(out.data() + out.size() - kPart, 1, kPart, file);
    out.resize(out.size() - kPart + count);
  } while (count == kPart);
  const bool good = std::ferror(file) == 0;
  std::fclose(file);
  if (!good) return std::nullopt;
  return out;
}

std::string name_beside(const std::filesystem::path& path) {
  static std::atomic<uint64_t> counter{0};
  return join_text(path.string(), ".", ::getpid(), ".", counter.fetch_add(1));
}

bool replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::string mine = name_beside(path);
  if (write_new(mine, bytes) && ::rename(mine.c_str(), path.c_str()) == 0) return true;
  ::unlink(mine.c_str());
  return false;
}

std::string file_stamp(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  struct stat status{};
  if (error || ::stat(real.c_str(), &status) != 0) return "";
  return join_text(real.string(), " ", status.st_size, " ", status.st_mtim.tv_sec, ".",
                   status.st_mtim.tv_nsec);
}

std::string stamps_in(const std::filesystem::path& folder,
                      std::initializer_list<std::string_view> beginnings) {
  std::vector<std::string> stamps;
  std::error_code ignored;  // a folder that cannot be read has none
  for (std::filesystem::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (std::ranges::any_of(beginnings, [&](std::string_view begin) { return name.starts_with(begin); }))
      stamps.push_back(file_stamp(it->path()));
  }
  std::ranges::sort(stamps);
  std::string out;
  for (const std::string& stamp : stamps) out += stamp + "\n";
  return out;
}

}  // namespace beeswax::os
