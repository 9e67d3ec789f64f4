// SPDX-License-Identifier: Apache-2.0
// GgufValue: one value of a GGUF file's metadata. Text and arrays are views into the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::io {

/// The numbers are those in the file.
enum class GgufType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };
inline constexpr uint32_t kGgufTypeCount = 13;
BW_API std::string_view gguf_type_name(GgufType type);
/// Bytes of one number; 0 for strings and arrays.
BW_API size_t gguf_type_bytes(GgufType type);

/// Elements as the file holds them; an array of strings also knows where each begins, and one of arrays has
/// those.
struct GgufArray {
  GgufType type = GgufType::U8;
  uint64_t count = 0;
  std::span<const std::byte> bytes;
  bool reverse = false;  ///< the byte order is not the machine's
  std::vector<std::string_view> strings;
  std::vector<GgufArray> arrays;
};

class BW_API GgufValue {
 public:
  using Data = std::variant<uint64_t, int64_t, double, bool, std::string_view, GgufArray>;
  GgufValue(GgufType type, Data data) : type_(type), data_(std::move(data)) {}

  GgufType type() const { return type_; }
  /// Each returns nothing where the value is of another kind, or does not fit.
  std::optional<int64_t> as_int() const;   ///< any integer, or a bool
  uint64_t as_unsigned() const;            ///< of an unsigned type; 0 for others
  std::optional<double> as_float() const;  ///< any number
  std::optional<bool> as_bool() const;
  std::optional<std::string_view> as_string() const;
  const GgufArray* as_array() const { return std::get_if<GgufArray>(&data_); }
  std::optional<std::vector<double>> as_floats() const;  ///< an array of numbers
  std::optional<std::vector<int64_t>> as_ints() const;   ///< an array of integers or bools, all of which fit
  const std::vector<std::string_view>* as_strings() const;  ///< an array of strings
  /// For people: long text and arrays are cut.
  std::string to_string() const;

 private:
  GgufType type_;
  Data data_;
};

/// Element i of an array, as a value of its own.
BW_API GgufValue gguf_element(const GgufArray& array, uint64_t i);

}  // namespace beeswax::io
