// SPDX-License-Identifier: Apache-2.0
// What the parts of the API tell each other besides devices and streams.
#pragma once

#include <cstdint>

#include "emu/hip/abi.h"

namespace emu::hip {

class Device;

/// Null for a number that is no error.
const char* error_name(int code);
const char* error_text(int code);
Error last_error_of_thread(bool clear) noexcept;

/// Has the shutdown run before the destructors of statics that exist by now.
void register_exit();

/// Ends everything that programs left behind: events, modules, graphs, pools.
void clear_tables();
void clear_events();
void clear_graphs();
void clear_modules();
void clear_fat_binaries();
void clear_pools();

/// hipDeviceReset: pools that programs made on the device are gone, its default one is as in the beginning,
/// and so are the variables of modules and of fat binaries.
void reset_pools(Device& device);
void reset_modules(Device& device);
void reset_fat_binaries(Device& device);

/// Throws hipErrorStreamCaptureUnsupported, and spoils the captures, where a capture forbids calls that could
/// wait.
void forbid_while_capturing();

}  // namespace emu::hip
