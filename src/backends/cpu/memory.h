// SPDX-License-Identifier: Apache-2.0
// The CPU's pool of freed blocks.
#pragma once

namespace beeswax::cpu {

/// Gives every cached block back to the system: the shared ones and those of the calling thread.
void trim_memory();

}  // namespace beeswax::cpu
