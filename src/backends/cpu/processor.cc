// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/processor.h"

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/fail.h"

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

struct Named {
  Maker maker;
  std::string_view name;
};
constexpr Named kNames[] = {{Maker::other, "other"}, {Maker::intel, "intel"}, {Maker::zen5, "zen5"}};

std::string_view forced() {
  const char* name = std::getenv("BEESWAX_CPU_MAKER");
  return name == nullptr ? std::string_view() : name;
}

Maker choose() {
  for (const Named& named : kNames)
    if (named.name == forced()) return named.maker;
  return is_intel() ? Maker::intel : is_zen5_or_later() ? Maker::zen5 : Maker::other;
}

}  // namespace

const Maker kMaker = choose();
const int64_t kBytesAhead = kMaker == Maker::intel ? 4096 : 0;
const int64_t kReadAhead = kMaker == Maker::zen5 ? 8192 : kBytesAhead;
const int64_t kPanelBytes = kMaker == Maker::intel ? 768 << 10 : 0;
const int64_t kResultsKept = kMaker == Maker::zen5 ? 64 << 10 : 8 << 10;
const int64_t kShortPlacesKept = kMaker == Maker::zen5 ? 16 << 10 : 0;
const int64_t kRowsTogether = kMaker == Maker::zen5 ? 2 : 4;

void check_maker() {
  if (forced().empty()) return;
  for (const Named& named : kNames)
    if (named.name == forced()) return;
  fail(ErrorKind::InvalidArgument, "cpu", "BEESWAX_CPU_MAKER=", forced(),
       " is not one of intel, zen5 (and later ones of AMD), other");
}

}  // namespace beeswax::cpu
