// SPDX-License-Identifier: Apache-2.0
// What bw_gpu_bench measures beside operations. Both print a table, and write JSON where a path is given.
#pragma once

#include <string>

#include "beeswax/device.h"

namespace beeswax::bench {

/// What a whole Tensor call on 1 KiB operands costs the host, beside the driver's bare launch of the same
/// kernel with the same arguments.
int run_host_cost(const Device& device, const std::string& json_path);
/// How long a device takes to use each kernel module for the first time, and the bytes of each target's.
int run_modules(const Device& device, const std::string& json_path);

}  // namespace beeswax::bench
