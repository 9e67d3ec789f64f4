// SPDX-License-Identifier: Apache-2.0
#include "text/unicode.h"

#include <algorithm>
#include <iterator>

namespace beeswax::text {
namespace {

struct CategoryRange {
  uint32_t first, last;
  Category category;
};
constexpr CategoryRange kCategories[] = {
#define BW_CATEGORY(first, last, category) {first, last, Category::category},
#define BW_LOWER(...)
#include "text/unicode_tables.inc"
};

struct LowerRange {
  uint32_t first, last, step;
  int32_t difference;
};
constexpr LowerRange kLower[] = {
#define BW_CATEGORY(...)
#define BW_LOWER(first, last, step, difference) {first, last, step, difference},
#include "text/unicode_tables.inc"
};

// The range that holds `code`, or null. Ranges are in order and do not overlap.
template <class Range, size_t N>
const Range* find_range(const Range (&ranges)[N], uint32_t code) {
  const Range* it = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                     [](uint32_t c, const Range& range) { return c < range.first; });
  if (it == std::begin(ranges)) return nullptr;
  --it;
  return code <= it->last ? it : nullptr;
}

constexpr std::string_view kNames[] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                       "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                       "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

}  // namespace

Category category_of(uint32_t code) {
  const CategoryRange* range = find_range(kCategories, code);
  return range == nullptr ? Category::Cn : range->category;
}

std::optional<CategorySet> categories_named(std::string_view name) {
  CategorySet set = 0;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name || (name.size() == 1 && kNames[i][0] == name[0]))
      set |= category_bit(static_cast<Category>(i));
  return set == 0 ? std::nullopt : std::optional(set);
}

bool is_space(uint32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  if (code == 0x85) return true;
  const Category category = category_of(code);
  return category == Category::Zs || category == Category::Zl || category == Category::Zp;
}

bool is_word(uint32_t code) {
  if (code == 0x200c || code == 0x200d) return true;  // joiners
  // Letters in circles and squares are alphabetic by a property of their own.
  if ((code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
      (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189))
    return true;
  static const CategorySet kWord = *categories_named("L") | *categories_named("M") |
                                   category_bit(Category::Nd) | category_bit(Category::Nl) |
                                   category_bit(Category::Pc);
  return (kWord & category_bit(category_of(code))) != 0;
}

bool is_numeric(uint32_t code) {
  static const CategorySet kNumbers = *categories_named("N");
  return (kNumbers & category_bit(category_of(code))) != 0;
}

bool is_punctuation(uint32_t code) {
  if (code < 0x80)
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') || (code >= '[' && code <= '`') ||
           (code >= '{' && code <= '~');
  static const CategorySet kPunctuation = *categories_named("P");
  return (kPunctuation & category_bit(category_of(code))) != 0;
}

uint32_t to_lower(uint32_t code) {
  const LowerRange* range = find_range(kLower, code);
  if (range == nullptr || (code - range->first) % range->step != 0) return code;
  return code + static_cast<uint32_t>(range->difference);
}

}  // namespace beeswax::text
