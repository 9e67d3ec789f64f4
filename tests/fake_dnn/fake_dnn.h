// SPDX-License-Identifier: Apache-2.0
// What tests see of the stand-ins for MIOpen and cuDNN: libraries that export the functions by which
// convolutions are made, check every argument, answer as the real ones do, and compute on the CPU what the
// device's memory holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake_dnn {

struct Control {
  // What is alive
  int64_t handles, tensors, kernels, convolutions;
  // What happened
  int64_t runs;          ///< convolutions that were done
  int64_t transposed;    ///< of them
  int64_t compiled;      ///< solutions that were compiled
  int64_t in_workspace;  ///< bytes of workspaces that runs had
  int64_t misuses;       ///< what a real library would not have survived, or must not be asked
  char misuse[160];      ///< the last of them

  // The library
  int64_t version;         ///< as cudnnGetVersion tells it
  bool only_transforms;    ///< there are only solutions that keep no bound
  bool nothing;            ///< there are no solutions
  size_t workspace_bytes;  ///< more than a solution needs anyway

  // The fault: the nth call from now of `fail_call` (empty: of any) answers fail_status.
  char fail_call[64];
  int64_t fail_nth;  ///< 0: none
  int fail_status;
  char failed[64];  ///< the function that the fault hit; empty before
};

/// Every stand-in exports this under its name: dlsym(library, "fake_dnn_control"). The library of the driver
/// whose memory it computes on is named by FAKE_DNN_DRIVER.
using ControlOf = Control* (*)();

}  // namespace fake_dnn
