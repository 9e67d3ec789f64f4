// SPDX-License-Identifier: Apache-2.0
// What a model takes of a device's memory, by what its file says; no weights are read.
#pragma once

#include <cstdint>

#include "beeswax/dtype.h"
#include "io/gguf.h"

namespace beeswax::models {

struct MemoryNeed {
  uint64_t weights = 0;  ///< as they are once they are loaded
  uint64_t cache = 0;    ///< keys and values of the context
};

/// With a context of `positions`, kept in `cache_type`. What a pass computes comes on top.
BW_API MemoryNeed memory_need(const io::GgufFile& file, int64_t positions, DType cache_type);

}  // namespace beeswax::models
