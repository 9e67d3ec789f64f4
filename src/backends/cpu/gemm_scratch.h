// SPDX-License-Identifier: Apache-2.0
// Scratch memory of matrix products: two grow-only buffers per thread, freed with the thread.
#pragma once

#include <cstddef>

namespace beeswax::cpu {

/// What a buffer is for: `shared` is filled by the calling thread's product and read by all its tasks,
/// `local` belongs to the task that runs on the thread.
enum class GemmScratch { shared, local };

/// At least `bytes` bytes, aligned to 64, valid until the thread asks for the same buffer again.
/// Throws OutOfMemory.
void* gemm_scratch(GemmScratch which, size_t bytes);

}  // namespace beeswax::cpu
