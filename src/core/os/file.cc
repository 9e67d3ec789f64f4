// SPDX-License-Identifier: Apache-2.0
#include "core/os/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/fail.h"

namespace beeswax::os {
namespace {

[[noreturn]] void fail_io(const std::string& path) {
  fail(ErrorKind::Io, "open", path, ": ", std::generic_category().message(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // Without waiting: a pipe's other end may never come.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail_io(path);
  struct stat status{};
  if (::fstat(file, &status) != 0) {
    ::close(file);
    fail_io(path);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    fail(ErrorKind::Io, "open", path, " is not a regular file");
  }
  size_ = static_cast<size_t>(status.st_size);
  void* data = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (data == MAP_FAILED) fail_io(path);
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace beeswax::os
