// SPDX-License-Identifier: Apache-2.0
// backend_for: from a device to the backend that serves it.
#include "backends/backend.h"
#include "backends/cpu/backend.h"
#include "backends/gpu/backend.h"

namespace beeswax {

Backend& backend_for(const Device& device) {
  if (device.is_cpu()) return cpu::CpuBackend::instance();
  return gpu::GpuBackend::of(device);
}

}  // namespace beeswax
