// SPDX-License-Identifier: Apache-2.0
#include "core/os/device_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace beeswax::os {

FileAccess access_to(const char* path) {
  // Opened, not asked for its mode: a container may refuse what the mode allows.
  const int file = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) {
    ::close(file);
    return FileAccess::Granted;
  }
  const bool absent = errno == ENOENT || errno == ENOTDIR || errno == ENXIO || errno == ENODEV;
  return absent ? FileAccess::Absent : FileAccess::Refused;
}

}  // namespace beeswax::os
