// SPDX-License-Identifier: Apache-2.0
// Options that take numbers. CLI11 itself reads nothing as 0 and 010 as 8, and takes the largest number that
// there is for one that is too large.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace beeswax::cli {

/// The number that a text is, in decimal; nothing where it is none, or none that T holds.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);  // as elsewhere
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// "'x' is not a whole number from 1 to 8"
std::string no_whole_number(const std::string& text, const std::string& least, const std::string& most);

/// Whole numbers from `least` to `most`.
template <class T>
CLI::Option* add_whole_number(CLI::App* command, const std::string& names, T& variable,
                              std::type_identity_t<T> least, std::type_identity_t<T> most,
                              const std::string& help) {
  const std::string low = std::to_string(least), high = std::to_string(most);
  const bool ends = most < std::numeric_limits<T>::max();
  return command->add_option(names, variable, help)
      ->transform(CLI::Validator(
          [=](std::string& text) {
            const std::optional<T> value = number_of<T>(text);
            if (!value || *value < least || *value > most) return no_whole_number(text, low, high);
            text = std::to_string(*value);  // what CLI11 cannot read otherwise
            return std::string();
          },
          ends ? "INT in [" + low + " - " + high + "]" : ""));
}

/// Lists of such numbers with commas between them; the option may be given more than once.
CLI::Option* add_whole_numbers(CLI::App* command, const std::string& names, std::vector<int64_t>& variable,
                               int64_t least, int64_t most, const std::string& help);

/// Finite numbers.
CLI::Option* add_number(CLI::App* command, const std::string& names, double& variable,
                        const std::string& help);

}  // namespace beeswax::cli
