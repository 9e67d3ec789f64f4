// SPDX-License-Identifier: Apache-2.0
// Standard streams, which a process may be started without, and files that are not taken for them.
#pragma once

#include <cstdio>
#include <string>

#include "beeswax/export.h"

namespace beeswax::os {

/// Gives each standard stream that is closed (2>&-) a place that can neither be read nor written, so that no
/// file opened later gets its number and, with it, what is printed.
BW_API void hold_standard_streams();

/// A new file for writing, which no child inherits and which is never a standard stream, whether these are
/// held or not. Null with errno where it cannot be made, or where there is one.
std::FILE* create_file(const std::string& path);

}  // namespace beeswax::os
