// SPDX-License-Identifier: Apache-2.0
// backend_for: from a device to the backend that serves it.
#include "backends/backend.h"
#include "backends/cpu/backend.h"
#include "core/fail.h"

namespace beeswax {

Backend& backend_for(const Device& device) {
  if (device.is_cpu()) return cpu::CpuBackend::instance();
  fail(ErrorKind::Unsupported, "device", device, ": this version of Beeswax runs on the CPU only; the ",
       device.to_string().substr(0, device.to_string().find(':')), " backend comes in a later one. Use cpu");
}

}  // namespace beeswax
