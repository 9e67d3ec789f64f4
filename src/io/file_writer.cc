// SPDX-License-Identifier: Apache-2.0
#include "io/file_writer.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/fail.h"
#include "core/os/folders.h"
#include "core/os/streams.h"

namespace beeswax::io {

namespace {

// Where a file is made that takes the path's name: what a link leads to, so that the link stays. Links of the
// system to what a process has open (/dev/stdout) stay as they are, to be refused.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code none;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, none); ++i) {
    const std::filesystem::path folder = std::filesystem::canonical(path.parent_path() / ".", none);
    if (folder.string().starts_with("/proc/") || folder == "/dev") break;
    path = path.parent_path() / std::filesystem::read_symlink(path, none);
  }
  return path;
}

}  // namespace

FileWriter::FileWriter(const std::string& path)
    : path_(path), place_(behind_links(path).string()), partial_(os::name_beside(place_) + ".partial") {
  std::error_code unknown;
  const auto there = std::filesystem::status(place_, unknown);
  if (std::filesystem::is_directory(there)) {
    errno = EISDIR;
    fail_io("cannot be created");
  }
  // A device would give way to a file.
  if ((std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) ||
      std::filesystem::is_symlink(place_, unknown))
    fail(ErrorKind::Io, "write", path_, " is no regular file; write to another one");
  file_.reset(os::create_file(partial_));
  if (file_ == nullptr) fail_io("cannot be created");
  // What takes a file's place has its permissions, where the file system has any.
  if (std::filesystem::exists(there)) std::filesystem::permissions(partial_, there.permissions(), unknown);
}

FileWriter::~FileWriter() {
  if (file_ == nullptr) return;
  file_.reset();
  std::remove(partial_.c_str());
}

void FileWriter::put(std::span<const std::byte> bytes) {
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    fail_io("cannot be written");
}

void FileWriter::finish() {
  // Some file systems say only when a file is closed what they could not write.
  const bool whole = std::fclose(file_.release()) == 0;
  if (whole && std::rename(partial_.c_str(), place_.c_str()) == 0) return;
  const int reason = errno;
  std::remove(partial_.c_str());
  errno = reason;
  fail_io(whole ? "cannot be put in place" : "cannot be written");
}

void FileWriter::fail_io(std::string_view what) const {
  fail(ErrorKind::Io, "write", path_, " ", what, ": ", std::generic_category().message(errno));
}

}  // namespace beeswax::io
