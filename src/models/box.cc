// SPDX-License-Identifier: Apache-2.0
#include "models/box.h"

#include <cstddef>
#include <span>

// The assembler copies the file; CMake gives its path and rebuilds this object when it changes.
#ifndef __ELF__
#error "the model in the box needs its bytes here: say how this system's objects take a file"
#endif
__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    ".hidden bw_box_begin\n"
    ".globl bw_box_begin\n"
    "bw_box_begin:\n"
    ".incbin \"" BW_BOX_FILE
    "\"\n"
    ".hidden bw_box_end\n"
    ".globl bw_box_end\n"
    "bw_box_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the assembler's names
extern const std::byte bw_box_begin[];
extern const std::byte bw_box_end[];
// NOLINTEND(readability-identifier-naming)
}

namespace beeswax::models {

std::shared_ptr<const io::GgufFile> open_box() {
  // The program keeps these bytes: an owner that frees nothing.
  const std::shared_ptr<const void> owner(std::shared_ptr<const void>(), bw_box_begin);
  return io::GgufFile::from_bytes({bw_box_begin, bw_box_end}, "the model in the box", owner);
}

std::string box_question(std::string_view question) {
  return "Question: " + std::string(question) + "\nAnswer:";
}

}  // namespace beeswax::models
