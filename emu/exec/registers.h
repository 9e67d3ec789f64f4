// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace emu::exec {

/// In Row::dst_words and src_words of the form Custom: as many registers as the text names.
inline constexpr uint8_t kAsWritten = 255;
/// In Row::src_words[0] of the form Flat: lanes have no address of their own.
inline constexpr uint8_t kNoAddress = 254;
/// A vector register that no instruction can name: for results on their way.
inline constexpr uint16_t kSpareRegister = 512;

}  // namespace emu::exec
