// SPDX-License-Identifier: Apache-2.0
// Blocks of types that nothing computes with, as blocks of one that holds their values exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/gguf.h"

namespace beeswax::models {

/// The blocks of `type.wider` (which must be there) with the values of these, whole ones.
BW_API std::vector<std::byte> wider_blocks(const io::GgmlType& type, std::span<const std::byte> blocks);
/// The bytes of a tensor as it is computed with, in wider blocks where its own are not.
BW_API uint64_t computed_bytes(const io::GgufTensor& tensor);

}  // namespace beeswax::models
