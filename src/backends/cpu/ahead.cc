// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/ahead.h"

namespace beeswax::cpu {
namespace {

int64_t for_this_processor() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") ? 4096 : 0;
#else
  return 0;
#endif
}

}  // namespace

const int64_t kBytesAhead = for_this_processor();

}  // namespace beeswax::cpu
