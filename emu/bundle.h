// SPDX-License-Identifier: Apache-2.0
// What a program hands over as a module: a bare code object, an offload bundle with one for each target, or a
// compressed bundle. The formats are those of LLVM's clang-offload-bundler.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emu/chips.h"

namespace emu {

struct SelectedCode {
  std::vector<std::byte> storage;  // of a compressed bundle, unpacked
  std::span<const std::byte> bytes;
};

/// The code object that fits the chip best. Throws LoadError: Invalid, or WrongTarget with the targets there
/// are.
SelectedCode select_code(std::span<const std::byte> image, const Chip& chip);

/// The size of an image by its own headers, for calls that are told none; 0 when it is none of the three
/// kinds.
size_t image_size(const void* image);

/// How well code for `target` ("gfx90a:xnack-") fits: 0 not at all; more features named is better.
int target_fit(std::string_view target, const Chip& chip);

}  // namespace emu
