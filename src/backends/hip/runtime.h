// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/hip/driver.h"
#include "core/os/library.h"

namespace beeswax::hip {

/// Why a library of ROCm may not share streams and memory with a driver, or "": it is linked with another HIP
/// runtime than the one that was opened.
std::string runtime_refusal(const os::Library& library, const gpu::DriverState& driver);

}  // namespace beeswax::hip
