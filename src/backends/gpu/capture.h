// SPDX-License-Identifier: Apache-2.0
// Capture: what a thread is recording for a graph. Its work goes to a stream of its own, so that other
// threads' work on the device is not recorded.
#pragma once

#include "backends/gpu/driver.h"
#include "backends/gpu/pool.h"

namespace beeswax::gpu {

struct Capture {
  const Pool* pool;  ///< of the device
  StreamHandle stream;
  GraphMemory& memory;
  ErrorSlot* slot;      ///< the graph's, as kernels see it
  size_t commands = 0;  ///< that were recorded
};

/// The calling thread's, or null.
inline constinit thread_local Capture* capturing = nullptr;

}  // namespace beeswax::gpu
