// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/isa.h"

#include <atomic>
#include <cstdlib>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "beeswax/export.h"
#include "core/fail.h"
#include "core/os/cpu.h"

namespace beeswax::cpu {
namespace {

#if defined(BW_ISA_LEVELS)
Isa detect() {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::v4 : v3 ? Isa::v3 : Isa::base;
}
#else
Isa detect() { return Isa::BW_ONE_ISA; }
#endif

Isa choose() {
  const char* forced = std::getenv("BEESWAX_CPU_ISA");
  if (forced == nullptr || *forced == '\0') return best_isa();
  for (Isa level : {Isa::base, Isa::v3, Isa::v4}) {
    if (isa_name(level) != forced) continue;
    if (level > best_isa())
      fail(ErrorKind::InvalidArgument, "cpu", "BEESWAX_CPU_ISA=", forced, ": this machine runs up to ",
           isa_name(best_isa()));
    return level;
  }
  fail(ErrorKind::InvalidArgument, "cpu", "BEESWAX_CPU_ISA=", forced, " is not one of base, v3, v4");
}

/// Tiles of bytes in the processor.
bool processor_has_amx() {
#if defined(__x86_64__)
  constexpr unsigned kTiles = 1u << 24, kBytes = 1u << 25;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0 && (d & kBytes) != 0;
#else
  return false;
#endif
}

std::atomic<Isa>& current() {
  static std::atomic<Isa> level{choose()};
  return level;
}

}  // namespace

Isa best_isa() {
  static const Isa level = detect();
  return level;
}

// The ceilings beside the command ask too (bench/loops.cc).
BW_API Isa isa() { return current().load(std::memory_order_relaxed); }

void set_isa(Isa level) {
  if (level > best_isa())
    fail(ErrorKind::InvalidArgument, "cpu", "this machine does not run ", isa_name(level), " code");
  current().store(level, std::memory_order_relaxed);
}

std::string_view isa_name(Isa level) {
  switch (level) {
    case Isa::v4:
      return "v4";
    case Isa::v3:
      return "v3";
    case Isa::base:
      break;
  }
  return "base";
}

BW_API bool has_vnni([[maybe_unused]] Isa level) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx512vnni") != 0;
  static const bool narrow = __builtin_cpu_supports("avxvnni") != 0;
  return level == Isa::v4 ? wide : level == Isa::v3 && narrow;
#else
  return false;
#endif
}

bool wants_amx() {
  const char* said = std::getenv("BEESWAX_CPU_AMX");
  const std::string_view wanted = said == nullptr ? "" : said;
  if (!wanted.empty() && wanted != "off")
    fail(ErrorKind::InvalidArgument, "cpu", "BEESWAX_CPU_AMX=", wanted, " is not off");
  return wanted.empty();
}

BW_API bool has_amx() {
  static const bool amx = wants_amx() && has_vnni(Isa::v4) && processor_has_amx() && os::may_use_tiles();
  return amx;
}

}  // namespace beeswax::cpu
