# SPDX-License-Identifier: Apache-2.0
# bw_flags: what every object of ours is compiled with.
add_library(bw_flags INTERFACE)
target_include_directories(bw_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(bw_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Werror
  -ffp-contract=off     # a*b+c is two roundings unless fma is written (promise: the same bits everywhere)
  -fwrapv               # integer arithmetic wraps
  -fno-math-errno       # sqrt is an instruction, not a call
  # Branch-free code joins conditions with & and |; clang asks for && and for parentheses. The stable_sort of
  # libstdc++ 12 calls a function that its header deprecates, and clang blames the caller.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical -Wno-bitwise-conditional-parentheses>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=  # no path of the building machine in the binary
)
if(BW_SANITIZE)
  target_compile_options(bw_flags INTERFACE -fsanitize=${BW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(bw_flags INTERFACE -fsanitize=${BW_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code makes GCC see uninitialized members of variants that are not read; the release build checks.
    target_compile_options(bw_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(BW_FUZZ)
  target_compile_options(bw_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
