// SPDX-License-Identifier: Apache-2.0
// Dynamic libraries opened at run time.
#pragma once

#include <span>
#include <string>

#include "beeswax/export.h"

namespace beeswax::os {

/// The first of some libraries that the system can open; stays open until the process ends, because drivers
/// keep threads of their own.
class BW_API Library {
 public:
  /// Tries the names in order; none opening is no error: is_open() tells, reason() says why.
  explicit Library(std::span<const std::string> names);

  bool is_open() const { return handle_ != nullptr; }
  /// The name that opened.
  const std::string& name() const { return name_; }
  /// What the system said of the first file that is there and does not open, or else of the first name.
  const std::string& reason() const { return reason_; }
  /// Whether that was a file: damaged, or without a library that it needs itself.
  bool is_there() const { return is_there_; }
  /// The path of the file that was opened, or "" where the system does not say.
  std::string path() const;
  /// The address of a symbol, or null.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string reason_;
  bool is_there_ = false;
};

/// The folder of the file that holds this library's code, or "" where the system does not say.
BW_API std::string own_folder();

}  // namespace beeswax::os
