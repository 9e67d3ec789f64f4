// SPDX-License-Identifier: Apache-2.0
// JSON that a command prints: names that files give need not be UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace beeswax::cli {

/// With U+FFFD for what is not UTF-8; indent -1: one line.
inline std::string json_text(const nlohmann::json& json, int indent = 2) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace beeswax::cli
