// SPDX-License-Identifier: Apache-2.0
// Instruction-set levels of the CPU loops. Each file in backends/cpu/kernels is compiled once per level, into
// the namespace BW_ISA (isa_base, isa_v3, isa_v4); the level is chosen once, at run time. The variable
// BEESWAX_CPU_ISA=base|v3|v4 forces a level (an unavailable one is an error). All levels give the same bits
// except where docs/numerics.md promises bounds instead.
#pragma once

#include <string_view>

namespace beeswax::cpu {

enum class Isa { base, v3, v4 };

/// The level in use.
Isa isa();
std::string_view isa_name(Isa level);
/// The best level this machine runs.
Isa best_isa();
/// For tests: use this level from now on. Not for use while operations run.
void set_isa(Isa level);
/// Whether the CPU has the 8-bit dot-product instructions of a level's vectors: AVX-512 VNNI at v4, AVX-VNNI
/// at v3, none at base.
bool has_vnni(Isa level);
/// Whether, beside those of v4, it has products of tiles of bytes (AMX) that this process may use; asks the
/// system once (os::may_use_tiles). The variable BEESWAX_CPU_AMX=off says no.
bool has_amx();
/// Whether the variable allows it; InvalidArgument where it says something else.
bool wants_amx();

#if defined(__x86_64__) && !defined(BW_ONE_ISA)
#define BW_ISA_LEVELS 1
#endif

// BW_KERNEL_TABLE(Type, name): declares, for every level, `const Type& name()` inside the level's namespace
// (defined by kernels/<name>.cc) and, here, `const Type& name()` which picks the level in use.
#if defined(BW_ISA_LEVELS)
#define BW_KERNEL_TABLE(Type, name) \
  namespace isa_base {              \
  const Type& name();               \
  }                                 \
  namespace isa_v3 {                \
  const Type& name();               \
  }                                 \
  namespace isa_v4 {                \
  const Type& name();               \
  }                                 \
  inline const Type& name() {       \
    switch (isa()) {                \
      case Isa::v4:                 \
        return isa_v4::name();      \
      case Isa::v3:                 \
        return isa_v3::name();      \
      case Isa::base:               \
        break;                      \
    }                               \
    return isa_base::name();        \
  }
#else
// Builds of one level alone say which.
#if !defined(BW_ONE_ISA)
#define BW_ONE_ISA base
#endif
#define BW_ISA_OF_LEVEL_(level) isa_##level
#define BW_ISA_OF_LEVEL(level) BW_ISA_OF_LEVEL_(level)
#define BW_KERNEL_TABLE(Type, name)       \
  namespace BW_ISA_OF_LEVEL(BW_ONE_ISA) { \
  const Type& name();                     \
  }                                       \
  inline const Type& name() { return BW_ISA_OF_LEVEL(BW_ONE_ISA)::name(); }
#endif

}  // namespace beeswax::cpu
