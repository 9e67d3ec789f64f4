// SPDX-License-Identifier: Apache-2.0
// What Unicode says about characters: general categories and simple lower case.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "beeswax/export.h"

namespace beeswax::text {

enum class Category : uint8_t {
  Cn,  // not assigned
  Lu,
  Ll,
  Lt,
  Lm,
  Lo,
  Mn,
  Mc,
  Me,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Ps,
  Pe,
  Pi,
  Pf,
  Po,
  Sm,
  Sc,
  Sk,
  So,
  Zs,
  Zl,
  Zp,
  Cc,
  Cf,
  Cs,
  Co,
};

/// A set of categories, one bit each.
using CategorySet = uint32_t;
constexpr CategorySet category_bit(Category category) {
  return CategorySet{1} << static_cast<unsigned>(category);
}

BW_API Category category_of(uint32_t code);
/// "L" (all letters), "Lu", ...; nothing for a name that Unicode does not have.
BW_API std::optional<CategorySet> categories_named(std::string_view name);
/// White_Space
BW_API bool is_space(uint32_t code);
/// Alphabetic, marks, decimal digits, connectors, joiners (\w of Unicode's UTS 18, annex C)
BW_API bool is_word(uint32_t code);
/// The categories N
BW_API bool is_numeric(uint32_t code);
/// ASCII punctuation and symbols, and the categories P
BW_API bool is_punctuation(uint32_t code);
/// The simple lower-case form; the character itself where it has none.
BW_API uint32_t to_lower(uint32_t code);

}  // namespace beeswax::text
