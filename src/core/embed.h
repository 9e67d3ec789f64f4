// SPDX-License-Identifier: Apache-2.0
// Files inside the library. CMake gives a source their paths and rebuilds it when they change.
#pragma once

#include <cstddef>

#ifndef __ELF__
#error "embedded files need their bytes here: say how this system's objects take a file"
#endif

// Declares name_begin and name_end around the bytes of a file, a string literal. Outside of namespaces.
#define BW_EMBED(name, file)                                                                          \
  __asm__(                                                                                            \
      ".section .rodata\n"                                                                            \
      ".balign 64\n"                                                                                  \
      ".hidden " #name                                                                                \
      "_begin\n"                                                                                      \
      ".globl " #name "_begin\n" #name                                                                \
      "_begin:\n"                                                                                     \
      ".incbin \"" file                                                                               \
      "\"\n"                                                                                          \
      ".hidden " #name                                                                                \
      "_end\n"                                                                                        \
      ".globl " #name "_end\n" #name                                                                  \
      "_end:\n"                                                                                       \
      ".byte 0\n"                                                                                     \
      ".previous\n");                                                                                 \
  extern "C" {                                                                                        \
  extern const std::byte name##_begin[]; /* NOLINT(readability-identifier-naming): the assembler's */ \
  extern const std::byte name##_end[];   /* NOLINT(readability-identifier-naming) */                  \
  }
