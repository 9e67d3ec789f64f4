// SPDX-License-Identifier: Apache-2.0
// Code objects and bundles from anywhere: every input is loaded or refused, and nothing is read outside it.
#include <span>

#include "emu/bundle.h"
#include "emu/code_object.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static emu::Memory memory(uint64_t{1} << 28);
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const char* name : {"gfx90a", "gfx1100"}) {
    try {
      const emu::Chip& chip = *emu::find_chip(name);
      const emu::SelectedCode selected = emu::select_code(bytes, chip);
      // Images that claim gigabytes are legal, and slow to clear.
      if (emu::CodeObject::read(selected.bytes).memory_bytes > (size_t{1} << 24)) continue;
      const emu::Image image(selected.bytes, chip, memory);
      for (const emu::Kernel& kernel : image.kernels())
        beeswax::fuzz::require(kernel.code >= image.text() && kernel.code_bytes > 0,
                               "a kernel's code lies in the image");
    } catch (const emu::LoadError&) {
      continue;  // refused
    }
  }
  beeswax::fuzz::require(memory.live_blocks() == 0, "a refused image leaves no memory behind");
  return 0;
}
