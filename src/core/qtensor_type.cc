// SPDX-License-Identifier: Apache-2.0
#include "beeswax/qtensor_type.h"

#include <algorithm>
#include <array>

#include "core/fail.h"

namespace beeswax {
namespace {

constexpr bool Yes = true;
constexpr bool No = false;
constexpr std::array<QuantTraits, kQuantTypeCount> kTraits{{
#define BW_QUANT(Name, name, id, elements, bytes, partner, imatrix) \
  {QuantType::Name, #name, id, elements, bytes, QuantType::partner, imatrix},
#include "tables/quants.def"
}};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const QuantTraits& quant_traits(QuantType type) { return kTraits[static_cast<size_t>(type)]; }

std::string_view quant_name(QuantType type) { return quant_traits(type).name; }

QuantType parse_quant_type(std::string_view name) {
  std::string known;
  for (const QuantTraits& traits : kTraits) {
    if (same_ignoring_case(traits.name, name)) return traits.type;
    known.append(known.empty() ? "" : ", ").append(traits.name);
  }
  fail(ErrorKind::InvalidArgument, "quant_type", "'", name, "' is not a quantized format (known: ", known,
       ")");
}

std::optional<QuantType> quant_type_from_ggml_id(uint32_t id) {
  for (const QuantTraits& traits : kTraits)
    if (traits.ggml_id == id) return traits.type;
  return std::nullopt;
}

}  // namespace beeswax
