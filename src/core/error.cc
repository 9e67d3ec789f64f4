// SPDX-License-Identifier: Apache-2.0
#include "beeswax/error.h"

#include <algorithm>
#include <utility>

namespace beeswax {
namespace {

struct Row {
  std::string_view name;
  int exit_code;
  std::string_view advice;
};

constexpr Row kRows[] = {
#define BW_ERROR(Name, exit_code, http_status, advice) {#Name, exit_code, advice},
#include "tables/errors.def"
};

const Row& row(ErrorKind kind) { return kRows[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view error_kind_name(ErrorKind kind) { return row(kind).name; }
std::string_view error_kind_advice(ErrorKind kind) { return row(kind).advice; }
int error_exit_code(ErrorKind kind) { return row(kind).exit_code; }

Error::Error(ErrorKind kind, std::string_view operation, std::string_view message, std::source_location where)
    : kind_(kind), operation_(operation), message_(message), where_(where) {
  compose();
}
Error::~Error() = default;
Error::Error(const Error&) = default;
Error& Error::operator=(const Error&) = default;

Error& Error::called(std::string_view operation) {
  operation_ = operation;
  compose();
  return *this;
}

Error& Error::while_doing(std::string context) {
  context_.push_back(std::move(context));
  compose();
  return *this;
}

void Error::compose() {
  text_ = "[" + operation_ + "] " + message_;
  for (const std::string& line : context_) text_ += "\n  while " + line;
  std::ranges::replace(text_, '\0', '?');  // what() ends at the first
}

}  // namespace beeswax
