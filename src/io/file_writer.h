// SPDX-License-Identifier: Apache-2.0
// FileWriter: a file that appears under its name only once it is whole; until then, and where writing fails,
// whatever had the name stays. So a program that has the old file mapped keeps reading it. A link stays one,
// and what it leads to is replaced.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace beeswax::io {

class FileWriter {
 public:
  /// Throws Io with the path and the system's reason, as the other methods do.
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void put(std::span<const std::byte> bytes);
  void finish();

 private:
  [[noreturn]] void fail_io(std::string_view what) const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_, place_, partial_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace beeswax::io
