// SPDX-License-Identifier: Apache-2.0
// Error: the one exception of the library. Its kind comes from tables/errors.def; its message reads
// "[operation] what went wrong with which values", followed by the context chain.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/export.h"

namespace beeswax {

enum class ErrorKind {
#define BW_ERROR(Name, ...) Name,
#include "tables/errors.def"
};

BW_API std::string_view error_kind_name(ErrorKind kind);
/// What a caller can do about errors of this kind.
BW_API std::string_view error_kind_advice(ErrorKind kind);
/// The exit status of the command for this kind.
BW_API int error_exit_code(ErrorKind kind);

class BW_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string_view operation, std::string_view message,
        std::source_location where = std::source_location::current());
  ~Error() override;
  Error(const Error&);
  Error& operator=(const Error&);

  ErrorKind kind() const { return kind_; }
  const std::string& operation() const { return operation_; }
  /// The operation's file and line inside the library.
  const std::source_location& where() const { return where_; }
  /// What was being done when it happened, innermost first.
  const std::vector<std::string>& context() const { return context_; }
  /// Names the operation that the caller called in the place of one that it is made of; returns *this.
  Error& called(std::string_view operation);
  /// Adds one line to the context chain; returns *this so that it can be rethrown.
  Error& while_doing(std::string context);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void compose();
  ErrorKind kind_;
  std::string operation_;
  std::string message_;
  std::source_location where_;
  std::vector<std::string> context_;
  std::string text_;
};

}  // namespace beeswax
