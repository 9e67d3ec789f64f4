// SPDX-License-Identifier: Apache-2.0
// Device variables that fat binaries registered.
#pragma once

#include "emu/code_object.h"
#include "emu/hip/abi.h"

namespace emu::hip {

/// Throws hipErrorInvalidSymbol.
Image::Global find_registered_variable(const void* host_address, Device& device);

}  // namespace emu::hip
