// SPDX-License-Identifier: Apache-2.0
// Code objects for tests, compiled from source text by the distribution's clang.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace emu::test {

/// Whether there is a clang++ that can compile kernels. Tests skip without one.
bool has_clang();

/// HIP source text (kDialect is put before it) for one chip, as a bare code object; what was compiled before
/// is remembered. Throws with the compiler's complaint. options: further words of the command,
/// "-mcode-object-version=4"; flags that come later win.
const std::vector<std::byte>& compile(const std::string& source, const std::string& chip,
                                      const std::string& options = "");

/// The output of a command; throws when it fails.
std::string output_of(const std::string& command);

/// A file of these bytes that lives as long as this.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& suffix, const std::vector<std::byte>& bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a kernel source may use without any header.
extern const char* const kDialect;

}  // namespace emu::test

#define EMU_NEEDS_CLANG() \
  if (!emu::test::has_clang()) GTEST_SKIP() << "no clang++ 19 or newer: kernels cannot be compiled"
