// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "beeswax/export.h"

namespace beeswax::os {

enum class Stream { Input, Output, Error };

/// Whether a person sits at this standard stream: not a file, not a pipe.
BW_API bool is_terminal(Stream stream);

}  // namespace beeswax::os
