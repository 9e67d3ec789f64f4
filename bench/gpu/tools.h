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
/// How far results are from the CPU's: each operation of the tables over the floating-point dtypes, and the
/// benchmark's cases on small tensors. Counts elements that differ at all (NaN equals NaN), and gives the
/// largest difference as a share of the largest number in its result.
int run_differences(const Device& device, const std::string& filter, const std::string& json_path);
/// What copies between two devices take, of 4 KiB to 1 GiB: there, back, and both at once. Rates count the
/// bytes that arrive.
int run_between(const Device& device, const Device& other, const std::string& json_path);

}  // namespace beeswax::bench
