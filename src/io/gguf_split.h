// SPDX-License-Identifier: Apache-2.0
// The names of the parts of a split GGUF file: PREFIX-00001-of-00003.gguf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace beeswax::io {

struct SplitName {
  std::string prefix;              ///< with the folder, as it was given
  uint32_t number = 0, count = 0;  ///< part `number` (from 1) of `count`
  std::string to_string() const;
};

/// Nothing unless the path ends as parts do and the number is one of 1 to count.
std::optional<SplitName> split_name(std::string_view path);

}  // namespace beeswax::io
