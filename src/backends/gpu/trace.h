// SPDX-License-Identifier: Apache-2.0
// BEESWAX_TRACE=file.json: every launch with its time on the device, as Chrome's trace events
// (chrome://tracing, ui.perfetto.dev). The file is whole JSON after each write, however the process ends.
#pragma once

namespace beeswax::gpu {

/// Sets launch_hooks where the variable asks for a file; once for the process. Throws Io where the file
/// cannot be written.
void start_trace();

}  // namespace beeswax::gpu
