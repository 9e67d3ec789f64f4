// SPDX-License-Identifier: Apache-2.0
// What a test left in a folder.
#pragma once

#include <filesystem>
#include <string>

namespace beeswax::test {

/// How many files of the path's folder have names that begin as the path's does.
inline int files_beginning_with(const std::filesystem::path& path) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    count += entry.path().filename().string().starts_with(path.filename().string()) ? 1 : 0;
  return count;
}

}  // namespace beeswax::test
