// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

// AMD's family of Zen 5, which compilers of before it do not name, and what may follow it.
bool is_zen5_or_later() {
#if defined(__x86_64__)
  constexpr unsigned kZen5 = 0x1a, kExtended = 0xf;
  __builtin_cpu_init();
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_is("amd") == 0 || __get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  const unsigned family = a >> 8 & 0xf;
  return family == kExtended && family + (a >> 20 & 0xff) >= kZen5;
#else
  return false;
#endif
}

}  // namespace

const int64_t kBytesAhead = is_intel() ? 4096 : 0;
const int64_t kReadAhead = is_zen5_or_later() ? 8192 : kBytesAhead;
const int64_t kPanelBytes = is_intel() ? 768 << 10 : 0;
const int64_t kResultsKept = is_zen5_or_later() ? 64 << 10 : 8 << 10;
const int64_t kShortPlacesKept = is_zen5_or_later() ? 16 << 10 : 0;
const int64_t kRowsTogether = is_zen5_or_later() ? 2 : 4;

}  // namespace beeswax::cpu
