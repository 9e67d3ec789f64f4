// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/ahead.h"

namespace beeswax::cpu {

int64_t bytes_ahead() {
#if defined(__x86_64__)
  static const int64_t bytes = __builtin_cpu_is("intel") ? 4096 : 0;
  return bytes;
#else
  return 0;
#endif
}

}  // namespace beeswax::cpu
