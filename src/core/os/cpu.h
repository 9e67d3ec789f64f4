// SPDX-License-Identifier: Apache-2.0
// What the operating system says about the processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "beeswax/export.h"

namespace beeswax::os {

/// BEESWAX_THREADS, or else the processors this process may run on, counting one per physical core.
/// Throws InvalidArgument for a variable that is not a number from 1 to 1024.
int default_threads();

/// "Intel(R) Xeon(R) ...", or the machine's architecture where the system has no better name.
std::string cpu_name();

/// The processor that the calling thread runs on; -1 where the system does not say.
int current_processor();

/// Processors that a thread may run on.
class ProcessorSet {
 public:
  /// Those of the calling thread; none where the system does not say.
  static ProcessorSet of_this_thread();
  static ProcessorSet of_main_thread();
  int count() const;
  bool has(int processor) const;
  ProcessorSet without(int processor) const;
  /// Lets `thread` run on these only. The system may refuse, which changes nothing.
  void give_to(std::thread& thread) const;

 private:
  static ProcessorSet of_thread(int id);

  std::array<uint64_t, 16> words_{};
};

/// Bytes of the last-level caches of the processors that the process's main thread may run on, all together,
/// at most those of a socket (8 MiB where the system does not say).
BW_API size_t last_level_cache_bytes();
/// The same of these processors, as files below `folder` describe them; 0 where they do not.
size_t last_level_cache_bytes(const ProcessorSet& processors, const std::string& folder);

/// Asks the system to keep the tile registers of AMX for this process's threads; whether it does. It has to
/// be asked before the first use. Afterwards it refuses stacks for signals (sigaltstack) that are too small
/// for these registers, and where a thread has such a one already it says no.
bool may_use_tiles();

/// Tells the processor that this is a spin-wait loop.
inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace beeswax::os
