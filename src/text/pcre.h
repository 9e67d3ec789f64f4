// SPDX-License-Identifier: Apache-2.0
// Pcre: a regular expression of a tokenizer that is none of ours to know, matched by the library PCRE2. These
// expressions are written for Oniguruma: what the two read differently is translated or refused.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::text {

/// Bytes [from, to) of a text.
struct Span {
  size_t from, to;
};

class BW_API Pcre {
 public:
  /// Format, as expressions come from files, with PCRE2's words and the place for a broken one; Unsupported
  /// for what means something else in PCRE2, and in a build without it.
  explicit Pcre(std::string_view expression);
  ~Pcre();
  Pcre(Pcre&&) noexcept;
  Pcre& operator=(Pcre&&) noexcept;

  /// All matches in valid UTF-8 in order, also empty ones, but for those at the end of the match before, and
  /// none in an empty text. TooLarge where matching takes more steps or memory than any sensible expression
  /// needs.
  std::vector<Span> matches(std::string_view text) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

/// The expression as PCRE2 reads it: sets of characters that it has under the same name, but with other
/// members, are written out. Unsupported for what else it would read differently.
BW_API std::string to_pcre(std::string_view expression);

/// Whether PCRE2 has the script `name` under sc:. It then takes \p{name} for what is used with that script
/// too. (Before version 10.40 it does neither.)
bool pcre_has_script(std::string_view name);

}  // namespace beeswax::text
