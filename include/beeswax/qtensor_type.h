// SPDX-License-Identifier: Apache-2.0
// QuantType: the block formats of quantized weights, made from tables/quants.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "beeswax/export.h"

namespace beeswax {

enum class QuantType : uint8_t {
#define BW_QUANT(Name, ...) Name,
#include "tables/quants.def"
};

inline constexpr int kQuantTypeCount = 0
#define BW_QUANT(...) +1
#include "tables/quants.def"
    ;

/// One row of tables/quants.def.
struct QuantTraits {
  QuantType type;
  std::string_view name;  ///< "q4_k"
  uint32_t ggml_id;       ///< the number GGUF files know the format by
  int block_elements;
  int block_bytes;
  QuantType dot_partner;  ///< what activations are quantized to before an integer dot product
  bool imatrix;           ///< whether importance-matrix quantization exists
};

BW_API const QuantTraits& quant_traits(QuantType type);

/// "q4_k", ...
BW_API std::string_view quant_name(QuantType type);

/// The format of that name, in any case ("Q4_K" or "q4_k"). Throws InvalidArgument naming the known ones.
BW_API QuantType parse_quant_type(std::string_view name);

/// The format of that GGUF number, if it is one of ours.
BW_API std::optional<QuantType> quant_type_from_ggml_id(uint32_t id);

/// Bytes that `elements` elements take; `elements` is a multiple of the block.
inline size_t quant_bytes(QuantType type, size_t elements) {
  const QuantTraits& traits = quant_traits(type);
  return elements / static_cast<size_t>(traits.block_elements) * static_cast<size_t>(traits.block_bytes);
}

}  // namespace beeswax
