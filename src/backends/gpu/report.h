// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "beeswax/system.h"

namespace beeswax::gpu {

/// The devices that the driver of a kind finds, each with whether the library has kernels for it; one entry
/// that says why where there is none.
std::vector<DeviceInfo> report(DeviceKind kind, std::string_view prefix);
/// Bytes of a device's memory that are free, by its number in the driver, which becomes the thread's device;
/// 0 where the driver does not say, or says that it is the host's memory.
size_t free_memory(DeviceKind kind, int ordinal);
/// The vendors' libraries for devices of a kind, or that they are not there. Opens them.
std::string report_libraries(DeviceKind kind);

}  // namespace beeswax::gpu
