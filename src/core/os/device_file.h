// SPDX-License-Identifier: Apache-2.0
// Files of /dev, by which the kernel's drivers show devices.
#pragma once

#include <cstdint>

namespace beeswax::os {

enum class FileAccess : uint8_t {
  Granted,
  Refused,  ///< it is there, for others
  Absent,   ///< or there is no driver behind it
};
/// Whether this process may read and write a file.
FileAccess access_to(const char* path);

}  // namespace beeswax::os
