// SPDX-License-Identifier: Apache-2.0
// LaunchHooks: what happens around every launch where somebody asked for it; else one branch that is never
// taken.
#pragma once

#include <atomic>

#include "backends/gpu/driver.h"

namespace beeswax::gpu {

class DeviceStream;
class Gpu;
struct Kernel;

/// A launch, or a copy of `bytes`, whose kernel is only a name and whose shape says nothing.
struct Submitted {
  const Kernel& kernel;
  const LaunchShape& shape;
  size_t bytes = 0;
};

class LaunchHooks {
 public:
  virtual ~LaunchHooks() = default;
  /// Around a launch or a copy, on the thread that submits it, to its stream; a device's come one at a time,
  /// so that one thread's read keeps the others' launches waiting.
  /// `taken`: whether the driver took it. What a graph records comes only when the graph runs, as one.
  virtual void begin(Gpu& gpu, const Submitted& work) noexcept = 0;
  virtual void end(Gpu& gpu, const Submitted& work, bool taken) noexcept = 0;
  /// Everything that was submitted to the stream is done.
  virtual void waited(Gpu& gpu, const DeviceStream& stream) noexcept = 0;
};

/// The process's hooks, or null; they stay alive once they are set.
inline std::atomic<LaunchHooks*> launch_hooks{nullptr};

}  // namespace beeswax::gpu
