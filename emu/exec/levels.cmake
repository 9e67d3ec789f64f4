# SPDX-License-Identifier: Apache-2.0
# The instruction handlers (exec/ops) once for each instruction-set level; exec/table.cc chooses one at run time.
# EMU_LEVEL_OBJECTS gets their objects.
file(GLOB EMU_OPS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/ops/*.cc)
set(EMU_LEVEL_OBJECTS "")
set(emu_levels base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT BW_ONE_ISA)
  list(APPEND emu_levels v3 v4)
endif()
set(emu_flags_base "")
set(emu_flags_v3 -march=x86-64-v3)
set(emu_flags_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(emu_optimize_base -O1)
set(emu_optimize_v3 -O2 -ftree-vectorize -fvect-cost-model=dynamic)
set(emu_optimize_v4 -O3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A function of one lane that stays a call keeps the loop over the lanes from becoming SIMD.
  foreach(level v3 v4)
    list(APPEND emu_optimize_${level} --param=max-inline-insns-single=2000)
  endforeach()
endif()
foreach(level IN LISTS emu_levels)
  add_library(emu_ops_${level} OBJECT ${EMU_OPS})
  target_include_directories(emu_ops_${level} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(emu_ops_${level} PRIVATE bw_flags)
  target_compile_definitions(emu_ops_${level} PRIVATE EMU_ISA=isa_${level})
  # Comparisons may become selects; results do not change. Exceptions of the host's floating-point unit are not looked at.
  target_compile_options(emu_ops_${level} PRIVATE ${emu_flags_${level}} -fno-trapping-math)
  if(NOT BW_SANITIZE)
    # Below AVX-512 -O3 mostly unrolls what it does not vectorize: slow to compile and no faster.
    target_compile_options(emu_ops_${level} PRIVATE "$<$<CONFIG:Release,RelWithDebInfo>:${emu_optimize_${level}}>")
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 aligns frames that it keeps for uses after return less than vector registers need (its bug 110027).
    target_compile_options(emu_ops_${level} PRIVATE "SHELL:--param asan-use-after-return=0")
  endif()
  list(APPEND EMU_LEVEL_OBJECTS $<TARGET_OBJECTS:emu_ops_${level}>)
endforeach()
