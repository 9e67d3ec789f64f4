// SPDX-License-Identifier: Apache-2.0
// Copies between GPUs.
#pragma once

#include <cstddef>

namespace beeswax::gpu {

class Gpu;

/// Copies memory of one GPU to memory of another, which the calling thread's stream there took: behind what
/// the thread's stream here holds, and before what its stream there is given later. Where one driver serves
/// both, it goes from device to device and the host waits for nothing, but once for each two: a first copy
/// must arrive whole, which not every board manages (256 KiB of each device's memory; where there is not so
/// much, the copy goes by way of the host and the next one tries again). Else it goes by way of the host,
/// behind a wait for the thread's stream here. Throws Unsupported while the thread records a graph of either.
void copy_between(Gpu& source, const void* from, Gpu& target, void* to, size_t bytes);

}  // namespace beeswax::gpu
