// SPDX-License-Identifier: Apache-2.0
#include "core/os/terminal.h"

#include <unistd.h>

namespace beeswax::os {

bool is_terminal(Stream stream) { return isatty(static_cast<int>(stream)) == 1; }

}  // namespace beeswax::os
