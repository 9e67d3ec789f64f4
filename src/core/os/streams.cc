// SPDX-License-Identifier: Apache-2.0
#include "core/os/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace beeswax::os {

void hold_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // All below are open: this gets the number. Opened the wrong way round, so that using it is an error
    // still.
    const int held = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (held != stream && held >= 0) ::close(held);
  }
}

std::FILE* create_file(const std::string& path) {
  constexpr mode_t kMode = 0666;  // less the user's mask
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (file >= 0 && file <= STDERR_FILENO) {
    const int above = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int reason = errno;
    ::close(file);
    errno = reason;
    file = above;
    if (file < 0) ::unlink(path.c_str());
  }
  return file < 0 ? nullptr : ::fdopen(file, "wb");
}

}  // namespace beeswax::os
