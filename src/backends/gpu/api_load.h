// SPDX-License-Identifier: Apache-2.0
// Filling a vendor's table of functions from its library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/driver.h"
#include "core/os/library.h"

namespace beeswax::gpu {

enum class Need : uint8_t { Required, Optional };

/// Looks names up and remembers which required ones are missing.
class Symbols {
 public:
  explicit Symbols(const os::Library& library) : library_(library) {}

  template <class Function>
  void find(Function& function, const char* name, Need need) {
    function = reinterpret_cast<Function>(library_.symbol(name));
    if (function == nullptr && need == Need::Required)
      missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
  }
  /// The required names that the library lacks, with commas; empty where all are there.
  const std::string& missing() const { return missing_; }

 private:
  const os::Library& library_;
  std::string missing_;
};

/// The Code of an error number; HIP and CUDA number these alike.
Code code_of(int number);

/// Why a library did not open or does not suffice, for people; `advice` says what to install.
std::string not_found(const os::Library& library, std::string_view product, std::string_view advice);

/// The library that an environment variable names, or else `names`.
std::vector<std::string> library_names(const char* variable, std::vector<std::string> names);

/// A library that need not be there, behind a table of functions: the file that a variable names, or the
/// first of some names that opens. Nothing is thrown where it is missing or lacks functions: reason() says
/// so.
class OptionalLibrary {
 public:
  struct Wanted {
    std::string_view product;        ///< "rocBLAS"
    const char* variable;            ///< "BEESWAX_ROCBLAS_LIBRARY"
    std::vector<std::string> names;  ///< "librocblas.so.5"; none: only what the variable names
    std::string_view advice;         ///< what to install
  };

  explicit OptionalLibrary(const Wanted& wanted);
  /// Fills a table of functions through look_up(Symbols&); tells whether the required ones are there.
  template <class LookUp>
  bool load(const LookUp& look_up) {
    if (!library_.is_open()) return false;
    Symbols symbols(library_);
    look_up(symbols);
    if (!symbols.missing().empty()) lacks(symbols.missing());
    return is_usable();
  }
  bool is_usable() const { return reason_.empty(); }
  /// Why it is not usable, and what to install; empty where it is.
  const std::string& reason() const { return reason_; }
  const os::Library& library() const { return library_; }

 private:
  void lacks(const std::string& functions);
  os::Library library_;
  std::string advice_, reason_;
};

}  // namespace beeswax::gpu
