// SPDX-License-Identifier: Apache-2.0
// What tests see of the fake drivers: libraries that export the functions of cuda_api.def and hip_api.def and
// answer like one working device. Memory is the host's, everything happens at the call, and a launch does
// nothing or calls a function of the test. They count what is alive and fail where they are told to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake {

/// A launch, for the function that a test registers.
struct Launch {
  const char* kernel;
  unsigned blocks[3];
  unsigned threads;
  const void* arguments;
  bool programmatic;  ///< CUDA's: it may start while the kernel before it ends
};

/// What was submitted to a stream, for the function that a test registers: a kernel's name, "copy", "fill",
/// "graph", "record" (an event), "wait 2" (for an event that stream 2 recorded), "send 1" (a copy to device
/// 1). Not what a graph records.
struct Submitted {
  int64_t stream;  ///< streams count from 0 as they are made
  const char* what;
};

struct Control {
  // What is alive
  int64_t allocations, pinned, streams, events, modules, graphs, instances;
  // What happened
  int64_t calls;     ///< of any function that the fault counts
  int64_t launches;  ///< those of graphs included
  int64_t loads;     ///< modules that were asked for
  int64_t misuses;   ///< handles that are not alive, copies outside of allocations
  char misuse[96];   ///< the last of them
  char failed[64];   ///< the function that the fault hit; empty before

  // The device
  char arch[16];                                 ///< "sm_90" or "gfx1100"; FAKE_DRIVER_ARCH
  int devices;                                   ///< FAKE_DRIVER_DEVICES; 1 by default
  int version;                                   ///< as the library gives it; FAKE_DRIVER_VERSION
  int cluster_blocks;                            ///< in clusters at once; 0 refuses them
  unsigned static_shared;                        ///< bytes that every kernel declares
  size_t memory_bytes;                           ///< more than this, and allocating fails
  void (*run)(const Launch& launch);             ///< called for each launch, if set
  void (*submitted)(const Submitted& work);      ///< likewise
  bool apart;                                    ///< no device can reach another one's memory
  bool loses_copies;                             ///< between devices: a byte of each does not arrive
  bool busy;                                     ///< streams that are asked say that work is left
  size_t (*argument_bytes)(const char* kernel);  ///< what a graph keeps of a launch's arguments

  // The fault: the nth call from now of `fail_call` (empty: of any) answers fail_error;
  // FAKE_DRIVER_FAIL=name:n:error. Functions that release something other than the device's memory do so
  // all the same: drivers report earlier failures there.
  char fail_call[64];
  int64_t fail_nth;  ///< 0: none
  int fail_error;
  bool fail_on;  ///< and every call after it: a lost device
  // What loading an image answers: finished code for one chip, or text that the driver compiles.
  int refuse_finished, refuse_text;
};

/// Every fake driver exports this under its name: dlsym(library, "fake_driver_control").
using ControlOf = Control* (*)();

}  // namespace fake
