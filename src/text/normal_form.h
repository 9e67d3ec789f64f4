// SPDX-License-Identifier: Apache-2.0
// The normal forms of Unicode (UAX #15).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "beeswax/export.h"

namespace beeswax::text {

enum class NormalForm : uint8_t { Nfc, Nfd, Nfkc, Nfkd };

/// `text` is valid UTF-8.
BW_API std::string normal_form(std::string_view text, NormalForm form);

}  // namespace beeswax::text
