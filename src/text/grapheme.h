// SPDX-License-Identifier: Apache-2.0
// Extended grapheme clusters (UAX #29): what a reader takes for one character.
#pragma once

#include <cstddef>
#include <string_view>

#include "beeswax/export.h"

namespace beeswax::text {

/// Bytes of the first cluster of `text`, which is valid UTF-8 and not empty.
BW_API size_t cluster_length(std::string_view text);

}  // namespace beeswax::text
