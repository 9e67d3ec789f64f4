// SPDX-License-Identifier: Apache-2.0
#include "io/gguf_value.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "core/shown.h"
#include "io/byte_reader.h"

namespace beeswax::io {
namespace {

constexpr size_t kShownElements = 6;
constexpr size_t kShownText = 60;

template <class T>
T element(const GgufArray& array, uint64_t i) {
  T value;
  std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
  return array.reverse ? reversed(value) : value;
}

// Calls fn with element i in its own type.
template <class F>
auto visit_element(const GgufArray& array, uint64_t i, F&& fn) {
  switch (array.type) {
    case GgufType::U8:
    case GgufType::Bool:
      return fn(element<uint8_t>(array, i));
    case GgufType::I8:
      return fn(element<int8_t>(array, i));
    case GgufType::U16:
      return fn(element<uint16_t>(array, i));
    case GgufType::I16:
      return fn(element<int16_t>(array, i));
    case GgufType::U32:
      return fn(element<uint32_t>(array, i));
    case GgufType::I32:
      return fn(element<int32_t>(array, i));
    case GgufType::F32:
      return fn(element<float>(array, i));
    case GgufType::U64:
      return fn(element<uint64_t>(array, i));
    case GgufType::I64:
      return fn(element<int64_t>(array, i));
    default:
      return fn(element<double>(array, i));
  }
}

bool is_number(GgufType type) { return type != GgufType::String && type != GgufType::Array; }
bool is_float(GgufType type) { return type == GgufType::F32 || type == GgufType::F64; }

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string quoted(std::string_view text) {
  const bool cut = text.size() > kShownText;
  size_t end = std::min(text.size(), kShownText);
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole characters
  std::string out = "\"";
  for (const char c : shown(text.substr(0, end), true))
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  return out + (cut ? "...\" (" + std::to_string(text.size()) + " bytes)" : "\"");
}

std::string array_text(const GgufArray& array) {
  std::string out = "[";
  for (uint64_t i = 0; i < array.count && i < kShownElements; ++i) {
    if (i > 0) out += ", ";
    if (array.type == GgufType::String) {
      out += quoted(array.strings[i]);
    } else if (is_number(array.type)) {
      out += gguf_element(array, i).to_string();
    } else {
      out += "[..]";
    }
  }
  if (array.count > kShownElements) out += ", ...";
  return out + "] (" + std::to_string(array.count) + " " + std::string(gguf_type_name(array.type)) + ")";
}

}  // namespace

std::string_view gguf_type_name(GgufType type) {
  constexpr std::string_view kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<size_t>(type)];
}

size_t gguf_type_bytes(GgufType type) {
  constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<size_t>(type)];
}

GgufValue gguf_element(const GgufArray& array, uint64_t i) {
  if (array.type == GgufType::String) return {array.type, array.strings[i]};
  if (array.type == GgufType::Array) return {array.type, array.arrays[i]};
  if (array.type == GgufType::Bool) return {array.type, element<uint8_t>(array, i) != 0};
  return visit_element(array, i, [&](auto x) -> GgufValue {
    if constexpr (std::is_floating_point_v<decltype(x)>) {
      return {array.type, static_cast<double>(x)};
    } else if constexpr (std::is_signed_v<decltype(x)>) {
      return {array.type, static_cast<int64_t>(x)};
    } else {
      return {array.type, static_cast<uint64_t>(x)};
    }
  });
}

std::optional<int64_t> GgufValue::as_int() const {
  if (const auto* x = std::get_if<uint64_t>(&data_))
    return *x <= INT64_MAX ? std::optional(static_cast<int64_t>(*x)) : std::nullopt;
  if (const auto* x = std::get_if<int64_t>(&data_)) return *x;
  if (const auto* x = std::get_if<bool>(&data_)) return *x ? 1 : 0;
  return std::nullopt;
}

uint64_t GgufValue::as_unsigned() const {
  const auto* x = std::get_if<uint64_t>(&data_);
  return x == nullptr ? 0 : *x;
}

std::optional<double> GgufValue::as_float() const {
  if (const auto* x = std::get_if<double>(&data_)) return *x;
  if (const auto* x = std::get_if<uint64_t>(&data_)) return static_cast<double>(*x);
  if (const auto* x = std::get_if<int64_t>(&data_)) return static_cast<double>(*x);
  return std::nullopt;
}

std::optional<bool> GgufValue::as_bool() const {
  if (const auto* x = std::get_if<bool>(&data_)) return *x;
  if (const auto x = as_int()) return *x != 0;
  return std::nullopt;
}

std::optional<std::string_view> GgufValue::as_string() const {
  if (const auto* x = std::get_if<std::string_view>(&data_)) return *x;
  return std::nullopt;
}

std::optional<std::vector<double>> GgufValue::as_floats() const {
  const GgufArray* array = as_array();
  if (array == nullptr || !is_number(array->type)) return std::nullopt;
  std::vector<double> out(array->count);
  for (uint64_t i = 0; i < array->count; ++i)
    out[i] = visit_element(*array, i, [](auto x) { return static_cast<double>(x); });
  return out;
}

std::optional<std::vector<int64_t>> GgufValue::as_ints() const {
  const GgufArray* array = as_array();
  if (array == nullptr || !is_number(array->type) || is_float(array->type)) return std::nullopt;
  std::vector<int64_t> out(array->count);
  for (uint64_t i = 0; i < array->count; ++i) {
    if (array->type == GgufType::U64 && element<uint64_t>(*array, i) > INT64_MAX) return std::nullopt;
    out[i] = visit_element(*array, i, [](auto x) { return static_cast<int64_t>(x); });
  }
  return out;
}

const std::vector<std::string_view>* GgufValue::as_strings() const {
  const GgufArray* array = as_array();
  return array != nullptr && array->type == GgufType::String ? &array->strings : nullptr;
}

std::string GgufValue::to_string() const {
  if (const auto* x = std::get_if<bool>(&data_)) return *x ? "true" : "false";
  if (const auto* x = std::get_if<uint64_t>(&data_)) return std::to_string(*x);
  if (const auto* x = std::get_if<int64_t>(&data_)) return std::to_string(*x);
  if (const auto* x = std::get_if<double>(&data_)) return number_text(*x);
  if (const auto* x = std::get_if<std::string_view>(&data_)) return quoted(*x);
  return array_text(std::get<GgufArray>(data_));
}

}  // namespace beeswax::io
