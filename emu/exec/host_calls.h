// SPDX-License-Identifier: Apache-2.0
// The device library's functions that allocate and free: handlers take their place.
#pragma once
#include <unordered_map>
#include <vector>

#include "emu/code_object.h"
#include "emu/exec/machine.h"

namespace emu::exec {

/// Puts handlers into the library's functions, as far as these operations hold them. The n-th operation is at
/// index_of[its offset from base].
void replace_heap_functions(const Image& image, uint64_t base, size_t bytes,
                            const std::unordered_map<uint32_t, uint32_t>& index_of, std::vector<Op>& ops);

}  // namespace emu::exec
