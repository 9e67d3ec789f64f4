// SPDX-License-Identifier: Apache-2.0
// What the JSON header of a safetensors file says, compared with the number of bytes that follow it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"

namespace beeswax::io {

/// A tensor by its place in the data, bytes [begin, end).
struct SafetensorsEntry {
  std::string name;
  Shape shape;
  const SafetensorsType* type = nullptr;
  uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< in the order of the data, which they fill without gaps
  std::map<std::string, std::string> metadata;
};

/// Format, naming `file`, where the header is not sound or does not fit `data_bytes` of data.
SafetensorsHeader read_safetensors_header(std::string_view json, uint64_t data_bytes, std::string_view file);

}  // namespace beeswax::io
