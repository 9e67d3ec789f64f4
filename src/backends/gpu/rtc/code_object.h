// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/rtc/code_info.h"

namespace beeswax::gpu::rtc {

/// The kernels of an AMD code object, without their source names. Throws Format where it is damaged.
std::vector<KernelInfo> code_object_kernels(std::span<const std::byte> file);

}  // namespace beeswax::gpu::rtc
