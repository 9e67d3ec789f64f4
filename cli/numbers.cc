// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <algorithm>
#include <cmath>

#include "core/shown.h"

namespace beeswax::cli {

std::string no_whole_number(const std::string& text, const std::string& least, const std::string& most) {
  return "'" + shown(text) + "' is not a whole number from " + least + " to " + most;
}

CLI::Option* add_whole_numbers(CLI::App* command, const std::string& names, std::vector<int64_t>& variable,
                               int64_t least, int64_t most, const std::string& help) {
  std::string usual;
  for (const int64_t value : variable) usual.append(usual.empty() ? "" : ",").append(std::to_string(value));
  const std::string name = names.substr(names.find("--"));
  return command
      ->add_option_function<std::vector<std::string>>(
          names,
          [=, &variable](const std::vector<std::string>& lists) {
            variable.clear();
            for (const std::string& list : lists) {
              for (size_t first = 0; first <= list.size();) {
                const size_t end = std::min(list.find(',', first), list.size());
                const std::string text = list.substr(first, end - first);
                const std::optional<int64_t> value = number_of<int64_t>(text);
                if (!value || *value < least || *value > most)
                  throw CLI::ValidationError(
                      name, no_whole_number(text, std::to_string(least), std::to_string(most)));
                variable.push_back(*value);
                first = end + 1;
              }
            }
          },
          help)
      ->allow_extra_args(false)  // what stands behind the list is no part of it
      ->type_name("INT[,INT...]")
      ->default_str(usual);
}

CLI::Option* add_number(CLI::App* command, const std::string& names, double& variable,
                        const std::string& help) {
  return command->add_option(names, variable, help)
      ->check(CLI::Validator(
          [](const std::string& text) {
            const std::optional<double> value = number_of<double>(text);
            return value && std::isfinite(*value)
                       ? std::string()
                       : "'" + shown(text) + "' is not a finite number of double precision";
          },
          ""));
}

}  // namespace beeswax::cli
