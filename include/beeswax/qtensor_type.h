// SPDX-License-Identifier: Apache-2.0
// QuantType: the block formats of quantized weights, made from tables/quants.def.
#pragma once

#include <cstdint>

namespace beeswax {

enum class QuantType : uint8_t {
#define BW_QUANT(Name, ...) Name,
#include "tables/quants.def"
};

inline constexpr int kQuantTypeCount = 0
#define BW_QUANT(...) +1
#include "tables/quants.def"
    ;

}  // namespace beeswax
