// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace beeswax::test {

/// A copy of the library whose table of names has another one for `symbol`.
inline std::string library_without(const std::string& library, const std::string& symbol) {
  std::ifstream file(library, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string name = std::string(1, '\0') + symbol + std::string(1, '\0');
  size_t found = 0;
  for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1), ++found)
    bytes[at + 1] = '_';
  EXPECT_GT(found, 0u) << symbol;
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("beeswax_without_" + symbol + std::to_string(::getpid()) + ".so");
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

}  // namespace beeswax::test
