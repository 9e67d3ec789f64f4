// SPDX-License-Identifier: Apache-2.0
// The groups of one instruction-set level.
#include "emu/exec/table.h"

namespace emu::exec {
namespace EMU_ISA {

#define EMU_GROUP_NAME(name) extern const RowGroup k_##name;
#include "emu/exec/groups.def"

extern const RowGroup* const kGroups[];
extern const unsigned kGroupCount;
const RowGroup* const kGroups[] = {
#define EMU_GROUP_NAME(name) &k_##name,
#include "emu/exec/groups.def"
};
const unsigned kGroupCount = sizeof(kGroups) / sizeof(kGroups[0]);

}  // namespace EMU_ISA
}  // namespace emu::exec
