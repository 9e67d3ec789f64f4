// SPDX-License-Identifier: Apache-2.0
#include "emu/msgpack.h"

namespace emu {
namespace {

constexpr int kDeepest = 32;

struct Malformed {};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }

  MsgValue value(int depth) {
    if (depth > kDeepest) throw Malformed();
    const auto tag = static_cast<uint8_t>(number(1));
    if (tag < 0x80) return scalar(MsgValue::Type::Number, tag);
    if (tag < 0x90) return map(tag & 15, depth);
    if (tag < 0xa0) return array(tag & 15, depth);
    if (tag < 0xc0) return text(MsgValue::Type::Text, tag & 31);
    if (tag >= 0xe0)
      return scalar(MsgValue::Type::Number, static_cast<uint64_t>(int64_t{static_cast<int8_t>(tag)}));
    switch (tag) {
      case 0xc0:
        return {};
      case 0xc2:
      case 0xc3:
        return scalar(MsgValue::Type::Bool, tag & 1);
      case 0xc4:
        return text(MsgValue::Type::Binary, number(1));
      case 0xc5:
        return text(MsgValue::Type::Binary, number(2));
      case 0xc6:
        return text(MsgValue::Type::Binary, number(4));
      case 0xca:
        return scalar(MsgValue::Type::Real, number(4));
      case 0xcb:
        return scalar(MsgValue::Type::Real, number(8));
      case 0xcc:
        return scalar(MsgValue::Type::Number, number(1));
      case 0xcd:
        return scalar(MsgValue::Type::Number, number(2));
      case 0xce:
        return scalar(MsgValue::Type::Number, number(4));
      case 0xcf:
        return scalar(MsgValue::Type::Number, number(8));
      case 0xd0:
        return negative(static_cast<int8_t>(number(1)));
      case 0xd1:
        return negative(static_cast<int16_t>(number(2)));
      case 0xd2:
        return negative(static_cast<int32_t>(number(4)));
      case 0xd3:
        return scalar(MsgValue::Type::Number, number(8));
      case 0xd9:
        return text(MsgValue::Type::Text, number(1));
      case 0xda:
        return text(MsgValue::Type::Text, number(2));
      case 0xdb:
        return text(MsgValue::Type::Text, number(4));
      case 0xdc:
        return array(number(2), depth);
      case 0xdd:
        return array(number(4), depth);
      case 0xde:
        return map(number(2), depth);
      case 0xdf:
        return map(number(4), depth);
      default:
        throw Malformed();  // extension types do not occur in metadata
    }
  }

 private:
  // Big-endian.
  uint64_t number(size_t size) {
    if (bytes_.size() < size) throw Malformed();
    uint64_t result = 0;
    for (size_t i = 0; i < size; ++i) result = result << 8 | static_cast<uint8_t>(bytes_[i]);
    bytes_ = bytes_.subspan(size);
    return result;
  }
  static MsgValue scalar(MsgValue::Type type, uint64_t number) {
    MsgValue result;
    result.type = type;
    result.number = number;
    return result;
  }
  static MsgValue negative(int64_t number) {
    return scalar(MsgValue::Type::Number, static_cast<uint64_t>(number));
  }
  MsgValue text(MsgValue::Type type, uint64_t size) {
    if (bytes_.size() < size) throw Malformed();
    MsgValue result;
    result.type = type;
    result.text = {reinterpret_cast<const char*>(bytes_.data()), size};
    bytes_ = bytes_.subspan(size);
    return result;
  }
  MsgValue array(uint64_t count, int depth) {
    // Each item takes a byte at least, so a count cannot ask for more memory than the input is worth.
    if (count > bytes_.size()) throw Malformed();
    MsgValue result;
    result.type = MsgValue::Type::Array;
    for (uint64_t i = 0; i < count; ++i) result.items.push_back(value(depth + 1));
    return result;
  }
  MsgValue map(uint64_t count, int depth) {
    if (count * 2 > bytes_.size()) throw Malformed();
    MsgValue result;
    result.type = MsgValue::Type::Map;
    for (uint64_t i = 0; i < count; ++i) {
      result.keys.push_back(value(depth + 1));
      result.items.push_back(value(depth + 1));
    }
    return result;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

const MsgValue* MsgValue::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i].type == Type::Text && keys[i].text == key) return &items[i];
  return nullptr;
}

uint64_t MsgValue::number_or(std::string_view key, uint64_t otherwise) const {
  const MsgValue* value = find(key);
  return value != nullptr && (value->type == Type::Number || value->type == Type::Bool) ? value->number
                                                                                        : otherwise;
}

std::string_view MsgValue::text_or(std::string_view key, std::string_view otherwise) const {
  const MsgValue* value = find(key);
  return value != nullptr && value->type == Type::Text ? value->text : otherwise;
}

std::optional<MsgValue> read_msgpack(std::span<const std::byte> bytes) {
  try {
    Reader reader(bytes);
    MsgValue value = reader.value(0);
    if (!reader.at_end()) return std::nullopt;
    return value;
  } catch (const Malformed&) {
    return std::nullopt;
  }
}

}  // namespace emu
