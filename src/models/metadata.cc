// SPDX-License-Identifier: Apache-2.0
#include "models/metadata.h"

#include <cmath>
#include <cstdint>

#include "core/fail.h"

namespace beeswax::models {

Metadata::Metadata(const io::GgufFile& file)
    : file_(file), architecture_(file.get_string("general.architecture")) {}

std::string Metadata::name_of(std::string_view key) const { return architecture_ + "." + std::string(key); }

int64_t Metadata::size(std::string_view key, std::optional<int64_t> fallback) const {
  const int64_t value = file_.get_int(name_of(key), fallback);
  if (value <= 0 || value > INT32_MAX)
    fail(ErrorKind::Format, "load", file_.name(), ": '", name_of(key), "' is ", value,
         "; it must be positive and below 2^31");
  return value;
}

double Metadata::number(std::string_view key, std::optional<double> fallback) const {
  const double value = file_.get_float(name_of(key), fallback);
  if (!std::isfinite(value))
    fail(ErrorKind::Format, "load", file_.name(), ": '", name_of(key), "' is ", value, "; it must be finite");
  return value;
}

bool Metadata::flag(std::string_view key, bool fallback) const {
  return file_.get_bool(name_of(key), fallback);
}

std::string Metadata::text(std::string_view key, const std::string& fallback) const {
  return file_.get_string(name_of(key), fallback);
}

}  // namespace beeswax::models
