// SPDX-License-Identifier: Apache-2.0
// fail(kind, operation, parts...): throws an Error whose message is the parts joined as text.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "beeswax/error.h"

namespace beeswax {

/// Text of one part of a message: strings, numbers, and whatever has to_string().
template <class T>
std::string to_text(const T& part) {
  if constexpr (std::convertible_to<T, std::string_view>) {
    return std::string(std::string_view(part));
  } else if constexpr (requires { part.to_string(); }) {
    return part.to_string();
  } else if constexpr (std::floating_point<T>) {  // the shortest digits that mean this number and no other
    std::array<char, 64> digits;
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), part).ptr};
  } else {
    return std::to_string(part);
  }
}

template <class... Parts>
std::string join_text(const Parts&... parts) {
  std::string text;
  (text.append(to_text(parts)), ...);
  return text;
}

/// An operation's name, with the place in our source it was named at.
struct OperationName {
  std::string_view name;
  std::source_location where;
  // NOLINTNEXTLINE(google-explicit-constructor): lets fail(kind, "matmul", ...) record its caller
  OperationName(std::string_view n, std::source_location w = std::source_location::current())
      : name(n), where(w) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  OperationName(const char* n, std::source_location w = std::source_location::current())
      : name(n), where(w) {}
};

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, OperationName operation, const Parts&... parts) {
  throw Error(kind, operation.name, join_text(parts...), operation.where);
}

}  // namespace beeswax
