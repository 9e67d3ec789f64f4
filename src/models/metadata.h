// SPDX-License-Identifier: Apache-2.0
// Metadata: what a file says about its model, by keys without the architecture in front.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/gguf.h"

namespace beeswax::models {

class Metadata {
 public:
  explicit Metadata(const io::GgufFile& file);

  const io::GgufFile& file() const { return file_; }
  const std::string& architecture() const { return architecture_; }
  /// "<architecture>.<key>"
  std::string name_of(std::string_view key) const;
  bool has(std::string_view key) const { return file_.find(name_of(key)) != nullptr; }
  /// A count or a size: Format unless it is positive and below 2^31, so that products of two of them fit.
  int64_t size(std::string_view key, std::optional<int64_t> fallback = std::nullopt) const;
  double number(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  bool flag(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, const std::string& fallback) const;

 private:
  const io::GgufFile& file_;
  std::string architecture_;
};

}  // namespace beeswax::models
