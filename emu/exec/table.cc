// SPDX-License-Identifier: Apache-2.0
// Finds rows by name, for the instruction-set level that this processor runs.
#include "emu/exec/table.h"

#include <cstdlib>
#include <string_view>
#include <unordered_map>

namespace emu::exec {

#define EMU_LEVEL(level)                    \
  namespace isa_##level {                   \
    extern const RowGroup* const kGroups[]; \
    extern const unsigned kGroupCount;      \
  }
EMU_LEVEL(base)
#if defined(EMU_ALL_LEVELS)
EMU_LEVEL(v3)
EMU_LEVEL(v4)
#endif
#undef EMU_LEVEL

namespace {

using Rows = std::unordered_map<std::string_view, const Row*>;

Rows collect() {
  const RowGroup* const* groups = isa_base::kGroups;
  unsigned count = isa_base::kGroupCount;
#if defined(EMU_ALL_LEVELS)
  // BEESWAX_EMU_ISA lowers the level: base, v3 or v4.
  const char* wish = std::getenv("BEESWAX_EMU_ISA");
  const std::string_view wanted = wish != nullptr ? wish : "v4";
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4 && wanted == "v4") {
    groups = isa_v4::kGroups;
    count = isa_v4::kGroupCount;
  } else if (v3 && wanted != "base") {
    groups = isa_v3::kGroups;
    count = isa_v3::kGroupCount;
  }
#endif
  Rows rows;
  for (unsigned g = 0; g < count; ++g)
    for (size_t i = 0; i < groups[g]->count; ++i) rows[groups[g]->rows[i].name] = &groups[g]->rows[i];
  return rows;
}

}  // namespace

const Row* find_row(const char* mnemonic) {
  static const Rows& rows = *new Rows(collect());  // workers may look while the process ends
  const auto found = rows.find(mnemonic);
  return found == rows.end() ? nullptr : found->second;
}

}  // namespace emu::exec
