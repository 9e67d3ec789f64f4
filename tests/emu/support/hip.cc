// SPDX-License-Identifier: Apache-2.0
#include "emu/support/hip.h"

#include <atomic>
#include <cstdlib>

namespace emu::test {

Environment::Environment(const char* devices, const char* check, const char* threads) {
  setenv("BEESWAX_EMU_DEVICES", devices, 1);
  setenv("BEESWAX_EMU_CHECK", check, 1);
  setenv("BEESWAX_EMU_MEMORY", "268435456", 1);
  setenv("BEESWAX_EMU_THREADS", threads, 1);
}

void Gate::open() {
  __atomic_store_n(&open_, 1, __ATOMIC_RELEASE);
  std::atomic_ref(open_).notify_all();
}

void Gate::wait(void* gate) {
  auto& open = static_cast<Gate*>(gate)->open_;
  std::atomic_ref(open).wait(0, std::memory_order_acquire);
}

}  // namespace emu::test
