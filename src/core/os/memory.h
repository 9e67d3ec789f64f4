// SPDX-License-Identifier: Apache-2.0
// Memory from the operating system.
#pragma once

#include <cstddef>

#include "beeswax/export.h"

namespace beeswax::os {

/// 64-byte aligned (page aligned from 1 MiB, on huge pages where the system has them); null when there is
/// none.
BW_API void* allocate_pages(size_t bytes);
BW_API void free_pages(void* data, size_t bytes);

/// Memory of the machine, or the limit this process runs under where that is lower.
BW_API size_t physical_memory_bytes();

}  // namespace beeswax::os
