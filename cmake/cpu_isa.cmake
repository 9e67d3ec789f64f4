# SPDX-License-Identifier: Apache-2.0
# The CPU loops (src/backends/cpu/kernels) are compiled once for each instruction-set level; the level is
# chosen at run time (backends/cpu/isa.h). Each level's code lives in its own namespace, BW_ISA.
option(BW_ONE_ISA "Compile the plain loops only: a quick build for tools and for tests of threads and parsers" OFF)
if(BW_ONE_ISA)
  target_compile_definitions(bw_flags INTERFACE BW_ONE_ISA)
endif()
function(bw_add_cpu_kernels prefix)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cpu/kernels/*.cc)
  bw_add_isa_objects(${prefix} objects ${sources})
  set(BW_CPU_KERNEL_OBJECTS ${objects} PARENT_SCOPE)
endfunction()

# The sources after `output` once per level, as object libraries <prefix>_<level>; `output` gets their objects.
function(bw_add_isa_objects prefix output)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT BW_ONE_ISA)
    set(levels base v3 v4)
  else()
    set(levels base)
  endif()
  set(flags_base "")
  set(flags_v3 -march=x86-64-v3)
  set(flags_v4 -march=x86-64-v4 -mprefer-vector-width=512)
  set(objects "")
  foreach(level IN LISTS levels)
    add_library(${prefix}_${level} OBJECT ${ARGN})
    target_link_libraries(${prefix}_${level} PUBLIC bw_flags)
    target_compile_definitions(${prefix}_${level} PRIVATE BW_ISA=isa_${level} BW_ISA_${level}=1)
    # -fno-trapping-math lets comparisons become selects; results do not change.
    target_compile_options(${prefix}_${level} PRIVATE ${flags_${level}} -fno-trapping-math)
    # With sanitizers the loops stay at the preset's -O1: -O3 multiplies their instrumented code.
    if(NOT BW_SANITIZE)
      target_compile_options(${prefix}_${level} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O3>)
    endif()
    # GCC 12 aligns the frames that it keeps for uses after return less than vector registers need (its bug
    # 110027): loads from the stack then fault.
    if(BW_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${prefix}_${level} PRIVATE "SHELL:--param asan-use-after-return=0")
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${prefix}_${level}>)
  endforeach()
  set(${output} ${objects} PARENT_SCOPE)
endfunction()
