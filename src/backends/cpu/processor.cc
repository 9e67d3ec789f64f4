// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/processor.h"

namespace beeswax::cpu {
namespace {

bool is_intel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

}  // namespace

const int64_t kBytesAhead = is_intel() ? 4096 : 0;
const int64_t kPanelBytes = is_intel() ? 768 << 10 : 0;

}  // namespace beeswax::cpu
