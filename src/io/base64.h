// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, section 4), in which JSON files hold bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::io {

/// The bytes; nothing where `text` is not base64. Padding may be missing, but nothing else: no line ends,
/// no bits beyond the last byte.
BW_API std::optional<std::vector<std::byte>> base64_decode(std::string_view text);

}  // namespace beeswax::io
