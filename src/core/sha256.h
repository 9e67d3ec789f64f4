// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for names of what is kept on disk and for finding damage there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace beeswax {

using Sha256Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  Sha256& add(std::span<const std::byte> bytes);
  /// A text with its length before it, so that texts after each other never read as others.
  Sha256& add_text(std::string_view text);
  /// The digest of everything added; the object is of no use afterwards.
  Sha256Digest finish();

  static Sha256Digest of(std::span<const std::byte> bytes) { return Sha256().add(bytes).finish(); }

 private:
  void take_block(const std::byte* block);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> waiting_{};  // the first total_ % 64 bytes of it
  uint64_t total_ = 0;
};

/// 64 small hexadecimal digits.
std::string hex(const Sha256Digest& digest);

}  // namespace beeswax
