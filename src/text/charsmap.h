// SPDX-License-Identifier: Apache-2.0
// Charsmap: SentencePiece's table of texts and what they become, in the form in which its models carry it
// (`precompiled_charsmap`).
//
//   u32              bytes of the trie, a multiple of 4
//   u32 each         the trie: a double array over bytes (below)
//   the rest         UTF-8: what texts become, each ended by a zero byte
//
// All numbers are little-endian. A unit of the array that a byte leads to has, from its lowest bit: the byte
// (8), whether a text ends here (1), whether the offset counts 256 at a time (1), and the offset (21). The
// place of a unit, exclusive-or its offset, is the place of its end, whose unit is a place in the rest with
// the highest bit set; that, exclusive-or a byte, is the place of the unit the byte leads to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_steps.h"

namespace beeswax::text {

class BW_API Charsmap {
 public:
  /// Format where the bytes are no such table: cut, or with an end that leads outside the rest, or into a
  /// character of it.
  explicit Charsmap(std::span<const std::byte> bytes);
  /// What the shortest text of the table that `text` begins with becomes; nothing where there is none.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  void check() const;
  // The unit that `byte` leads to from the children's place `at`, and on to the children of that.
  std::optional<uint32_t> step(size_t& at, unsigned char byte) const;

  std::vector<uint32_t> units_;
  std::string texts_;
};

/// As the Python package tokenizers reads such a table: a cluster of fewer than six bytes becomes what the
/// shortest text it begins with does, as a whole; where there is none, and in longer clusters, that goes for
/// each character. (SentencePiece takes the longest text at each place.)
BW_API TextStep charsmap_step(std::span<const std::byte> bytes);

}  // namespace beeswax::text
