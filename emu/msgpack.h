// SPDX-License-Identifier: Apache-2.0
// MessagePack, as far as code object metadata goes. Views the bytes it was read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace emu {

struct MsgValue {
  enum class Type { Nil, Bool, Number, Real, Text, Binary, Array, Map };
  Type type = Type::Nil;
  uint64_t number = 0;  // also a bool, and negative numbers in two's complement
  std::string_view text;
  std::vector<MsgValue> items;  // of an array, or the values of a map
  std::vector<MsgValue> keys;   // of a map, one for each item

  /// The value of a map's text key; null when there is none or this is no map.
  const MsgValue* find(std::string_view key) const;
  /// A number, or what to use where the key is missing or no number.
  uint64_t number_or(std::string_view key, uint64_t otherwise) const;
  std::string_view text_or(std::string_view key, std::string_view otherwise) const;
};

/// Nothing when the bytes are not one whole value.
std::optional<MsgValue> read_msgpack(std::span<const std::byte> bytes);

}  // namespace emu
