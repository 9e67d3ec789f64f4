# SPDX-License-Identifier: Apache-2.0
# GPU kernels: each src/kernels/*.cc is one module, compiled by clang for every target and packed into one file that
# the library embeds. Neither ROCm nor CUDA is needed; with ptxas, NVIDIA cards get finished code instead of PTX.
set(BW_GPU_TARGETS "default" CACHE STRING
    "GPU targets: default, all, none, or a list (gfx90a;gfx942;gfx1030;gfx1100;gfx1200;ptx_80;sm_90 ...)")
set(BW_AMD_DEFAULT gfx90a gfx942 gfx1030 gfx1100 gfx1200)
set(BW_AMD_ALL gfx900 gfx906 gfx908 ${BW_AMD_DEFAULT} gfx1102 gfx1151)
# In `all` where the compiler knows them: clang 19 does not.
set(BW_AMD_NEWER gfx950 gfx1250)
# Chips that run another one's code, by LLVM's generic targets (gfx9, gfx10-3, gfx11 and gfx12-generic in its guide to
# the AMDGPU backend) and because it compiles the same for them (tests/tools/stamps_test.py).
set(BW_AMD_STAMPS_gfx900 gfx902 gfx90c)
set(BW_AMD_STAMPS_gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036)
set(BW_AMD_STAMPS_gfx1102 gfx1101 gfx1103 gfx1150 gfx1152)
set(BW_AMD_STAMPS_gfx1200 gfx1201)
# All chips of AMD's that a build with all targets has code for.
set(BW_AMD_CHIPS ${BW_AMD_ALL} ${BW_AMD_NEWER})
foreach(chip IN LISTS BW_AMD_ALL)
  list(APPEND BW_AMD_CHIPS ${BW_AMD_STAMPS_${chip}})
endforeach()
# Modules that only targets with the matrix units for them have, as matrix_units of src/backends/gpu/matrix_units.cc
# and src/kernels/mma tell (tests/tools/matrix_units_test.py).
set(BW_ONLY_gemm_mma "^(gfx908|gfx90a|gfx94[012]|gfx950|gfx110[0123]|gfx115[012]|gfx120[01]|ptx_.*|sm_.*)$")
set(BW_ONLY_conv_mma ${BW_ONLY_gemm_mma})
set(BW_ONLY_gemm_mma_bytes ${BW_ONLY_gemm_mma})
set(BW_ONLY_gemm_mma_f64 "^(gfx90a|gfx94[012]|gfx950|ptx_.*|sm_.*)$")
set(BW_ONLY_gemm_mma_tf32 "^(gfx94[012]|ptx_.*|sm_.*)$")
# Modules whose code for sm_90 and newer is compiled from PTX of its own: instructions there convert f8e4m3.
set(BW_PTX_90 "^(affine|binary_float|cast_float|norm|reduce_f8e4m3|softmax|unary_f8e4m3)$")
find_program(BW_PTXAS ptxas HINTS /usr/local/cuda/bin)
set(BW_PTXAS_LEAST 12.1)  # the first that knows PTX 8.1, which src/kernels/sm_90/rows_spread.cc is
find_program(BW_DEVICE_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19)
find_program(BW_ZSTD zstd)

# bw_clang_knows(CHIP OUT): whether the compiler of kernels compiles for a chip; it is asked once.
function(bw_clang_knows chip output)
  set(known BW_CLANG_KNOWS_${chip})
  if(NOT "${BW_CLANG_ASKED_${chip}}" STREQUAL "${BW_DEVICE_CLANG}")
    set(source ${PROJECT_BINARY_DIR}/kernels/empty.cc)
    file(WRITE ${source} "")
    execute_process(COMMAND ${BW_DEVICE_CLANG} -x hip --cuda-device-only --offload-arch=${chip} -nogpuinc -nogpulib
                            -fsyntax-only ${source} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    set(answer OFF)
    if(status EQUAL 0)
      set(answer ON)
    endif()
    set(${known} ${answer} CACHE INTERNAL "Whether BW_DEVICE_CLANG compiles for ${chip}")
    set(BW_CLANG_ASKED_${chip} ${BW_DEVICE_CLANG} CACHE INTERNAL "Who was asked for ${chip}")
  endif()
  set(${output} ${${known}} PARENT_SCOPE)
endfunction()

# bw_ptxas_serves(OUT): whether there is an assembler for NVIDIA's cards that knows all that our kernels use.
function(bw_ptxas_serves output)
  set(${output} OFF PARENT_SCOPE)
  if(NOT BW_PTXAS)
    return()
  endif()
  execute_process(COMMAND ${BW_PTXAS} --version OUTPUT_VARIABLE said ERROR_QUIET)
  if(said MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL BW_PTXAS_LEAST)
    set(${output} ON PARENT_SCOPE)
  else()
    message(STATUS "NVIDIA's cards get PTX: ${BW_PTXAS} is not of CUDA ${BW_PTXAS_LEAST} or newer")
  endif()
endfunction()

function(bw_gpu_targets output)
  set(targets ${BW_GPU_TARGETS})
  if(targets STREQUAL "none")
    set(targets "")
  elseif(targets STREQUAL "default" OR targets STREQUAL "all")
    if(targets STREQUAL "default")
      set(targets ${BW_AMD_DEFAULT} ptx_80)
      set(cubins sm_90)
    else()
      set(targets ${BW_AMD_ALL} ptx_80)
      foreach(chip IN LISTS BW_AMD_NEWER)
        bw_clang_knows(${chip} known)
        if(known)
          list(APPEND targets ${chip})
        elseif(BW_DEVICE_CLANG)
          message(STATUS "No kernels for ${chip}: ${BW_DEVICE_CLANG} does not know it")
        endif()
      endforeach()
      set(cubins sm_80 sm_90 sm_100 sm_120)
    endif()
    bw_ptxas_serves(finished)
    if(finished)
      list(APPEND targets ${cubins})
    endif()
  elseif(targets MATCHES "sm_[0-9]")
    bw_ptxas_serves(finished)
    if(NOT finished)
      message(FATAL_ERROR "BW_GPU_TARGETS=${targets}: finished code for NVIDIA's cards needs ptxas of CUDA ${BW_PTXAS_LEAST} "
                          "or newer; configure with ptx_80 instead, which their driver compiles")
    endif()
    # Of which finished code is made, and which cards take that have none.
    if(NOT "ptx_80" IN_LIST targets)
      list(APPEND targets ptx_80)
    endif()
  endif()
  if(targets AND (NOT BW_DEVICE_CLANG OR NOT BW_ZSTD))
    message(FATAL_ERROR "GPU kernels need clang++-19 or newer with its lld, and zstd: install clang-19, lld-19 and zstd, "
                        "or configure with -DBW_GPU_TARGETS=none")
  endif()
  set(${output} ${targets} PARENT_SCOPE)
endfunction()

# bw_compile_kernel(MODULE TARGET SOURCE STAMP...): how clang makes MODULE.TARGET in the folder of kernels.
function(bw_compile_kernel module target source)
  set(tools ${PROJECT_SOURCE_DIR}/tools/kernels)
  set(object ${PROJECT_BINARY_DIR}/kernels/${module}.${target})
  add_custom_command(OUTPUT ${object} BYPRODUCTS ${object}.json
    COMMAND ${Python3_EXECUTABLE} ${tools}/compile.py --clang ${BW_DEVICE_CLANG} --target ${target} --source ${source}
            --include ${PROJECT_SOURCE_DIR}/src --include ${PROJECT_SOURCE_DIR}/include
            --depfile ${object}.d --out ${object} ${ARGN}
    DEPENDS ${source} ${tools}/compile.py ${tools}/code_object.py DEPFILE ${object}.d
    COMMENT "Kernel ${module} for ${target}" VERBATIM)
endfunction()

# bw_assemble_kernel(MODULE TARGET PTX CHIP): how ptxas makes MODULE.TARGET of MODULE.PTX, for CHIP.
function(bw_assemble_kernel module target ptx chip)
  set(tools ${PROJECT_SOURCE_DIR}/tools/kernels)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  set(object ${folder}/${module}.${target})
  add_custom_command(OUTPUT ${object} BYPRODUCTS ${object}.json
    COMMAND ${Python3_EXECUTABLE} ${tools}/compile.py --ptxas ${BW_PTXAS} --target ${chip} --ptx ${folder}/${module}.${ptx}
            --out ${object}
    DEPENDS ${folder}/${module}.${ptx} ${tools}/compile.py COMMENT "Kernel ${module} for ${chip}" VERBATIM)
endfunction()

# bw_add_gpu_kernels(OUT): OUT gets the path of the packed file. Sources in sm_90/ are modules for Hopper alone, compiled
# for sm_90a: cubins of sm_90, and PTX in the target ptx_90a, which has those of ptx_80 beside them.
function(bw_add_gpu_kernels output)
  bw_gpu_targets(targets)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/*.cc)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  file(MAKE_DIRECTORY ${folder})
  set(tools ${PROJECT_SOURCE_DIR}/tools/kernels)
  set(objects "")
  set(own_objects "")
  set(ptx_90 "")
  foreach(target IN LISTS targets)
    set(stamps ${BW_AMD_STAMPS_${target}})
    list(TRANSFORM stamps PREPEND "--stamp=")
    foreach(source IN LISTS sources)
      get_filename_component(module ${source} NAME_WE)
      if(DEFINED BW_ONLY_${module} AND NOT target MATCHES "${BW_ONLY_${module}}")
        continue()
      endif()
      set(object ${folder}/${module}.${target})
      if(NOT target MATCHES "^sm_")
        bw_compile_kernel(${module} ${target} ${source} ${stamps})
      elseif(module MATCHES "${BW_PTX_90}" AND NOT target STREQUAL "sm_80")
        if(NOT module IN_LIST ptx_90)
          bw_compile_kernel(${module} ptx_90 ${source})
          list(APPEND ptx_90 ${module})
        endif()
        bw_assemble_kernel(${module} ${target} ptx_90 ${target})
      else()
        bw_assemble_kernel(${module} ${target} ptx_80 ${target})
      endif()
      if(DEFINED BW_ONLY_${module})
        list(APPEND own_objects ${object})
      else()
        list(APPEND objects ${object})
      endif()
    endforeach()
  endforeach()
  set(beside "")
  if("ptx_80" IN_LIST targets)
    set(beside --beside ptx_90a=ptx_80)
    file(GLOB own CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/sm_90/*.cc)
    foreach(source IN LISTS own)
      get_filename_component(module ${source} NAME_WE)
      bw_compile_kernel(${module} ptx_90a ${source})
      list(APPEND own_objects ${folder}/${module}.ptx_90a)
      if("sm_90" IN_LIST targets)
        bw_assemble_kernel(${module} sm_90 ptx_90a sm_90a)
        list(APPEND own_objects ${folder}/${module}.sm_90)
      endif()
    endforeach()
  endif()
  set(packed ${folder}/kernels.bwk)
  add_custom_command(OUTPUT ${packed} BYPRODUCTS ${folder}/registers.txt
    COMMAND ${Python3_EXECUTABLE} ${tools}/pack.py --out ${packed} --table ${folder}/registers.txt ${objects}
            ${beside} --own ${own_objects}
    DEPENDS ${objects} ${own_objects} ${tools}/pack.py COMMENT "Packing GPU kernels" VERBATIM)
  set(${output} ${packed} PARENT_SCOPE)
endfunction()

# bw_add_kernel_sources(OUT): OUT gets the path of the packed sources of kernels and of their headers.
function(bw_add_kernel_sources output)
  set(packed ${PROJECT_BINARY_DIR}/kernels/sources.bwk)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/kernels)
  set(pack ${PROJECT_SOURCE_DIR}/tools/kernels/pack_sources.py)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/*.cc)
  set(compress "")
  if(BW_ZSTD AND BW_ZSTD_LIBRARY)
    set(compress --zstd ${BW_ZSTD})
  endif()
  add_custom_command(OUTPUT ${packed}
    COMMAND ${Python3_EXECUTABLE} ${pack} --root ${PROJECT_SOURCE_DIR} --out ${packed} --depfile ${packed}.d ${compress}
    DEPENDS ${pack} ${sources} DEPFILE ${packed}.d COMMENT "Packing kernel sources" VERBATIM)
  set(${output} ${packed} PARENT_SCOPE)
endfunction()
