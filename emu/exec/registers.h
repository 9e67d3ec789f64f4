// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace emu::exec {

/// In Row::dst_words and src_words of the form Custom: as many registers as the text names.
inline constexpr uint8_t kAsWritten = 255;

}  // namespace emu::exec
