// SPDX-License-Identifier: Apache-2.0
// PatternClass: the set of characters that one element of a Pattern takes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/unicode.h"

namespace beeswax::text {

class PatternClass {
 public:
  /// Reads one element (a character, an escape, a dot or a [class]) at `at` and moves behind it. Throws as
  /// Pattern.
  static PatternClass parse(std::string_view text, size_t& at, bool ignore_case);
  bool holds(uint32_t code) const;

 private:
  struct Range {
    uint32_t first, last;
  };
  void add_escape(std::string_view text, size_t& at, bool inside);
  void add_class(std::string_view text, size_t& at);
  void add_property(std::string_view text, size_t& at, bool negative);
  bool holds_exactly(uint32_t code) const;

  std::vector<Range> ranges_;
  CategorySet categories_ = 0;
  std::vector<CategorySet> not_categories_;  // \P{..}: everything outside the set
  bool spaces_ = false, not_spaces_ = false;
  bool negative_ = false;
  bool ignore_case_ = false;
};

}  // namespace beeswax::text
