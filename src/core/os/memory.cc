// SPDX-License-Identifier: Apache-2.0
#include "core/os/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

namespace beeswax::os {
namespace {

constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// The number in a file, kNoLimit where there is no such file or it says "max".
size_t limit_in(const std::string& path) {
  std::ifstream file(path);
  size_t limit = 0;
  return file >> limit ? limit : kNoLimit;
}

// The sum of the numbers behind those words in a file of lines "word number".
size_t sum_in(const std::string& path, std::initializer_list<std::string_view> words) {
  std::ifstream file(path);
  size_t sum = 0, number = 0;
  for (std::string word; file >> word >> number;)
    if (std::ranges::find(words, word) != words.end()) sum += number;
  return sum;
}

// The names of a version's files of a group, and of the numbers in its statistics that are files in memory.
struct GroupFiles {
  const char *limit, *usage;
  std::string_view cached[2];
};
constexpr GroupFiles kVersion1 = {
    "/memory.limit_in_bytes", "/memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr GroupFiles kVersion2 = {"/memory.max", "/memory.current", {"inactive_file", "active_file"}};

size_t limit_of(const std::string& group, const GroupFiles& files) { return limit_in(group + files.limit); }
size_t room_of(const std::string& group, const GroupFiles& files) {
  const size_t limit = limit_of(group, files), usage = limit_in(group + files.usage);
  if (limit == kNoLimit || usage == kNoLimit) return limit;
  const size_t cached = sum_in(group + "/memory.stat", {files.cached[0], files.cached[1]});
  const size_t kept = usage - std::min(usage, cached);
  return limit - std::min(limit, kept);
}

using OfGroup = size_t (*)(const std::string& group, const GroupFiles& files);

// The least that `of_group` gives for `folder`/`group` and the folders above, up to `folder`. In a container
// the group's name may be the host's, with its files at `folder` itself.
size_t least_above(const std::string& folder, std::string group, const GroupFiles& files, OfGroup of_group) {
  size_t least = kNoLimit;
  for (;;) {
    least = std::min(least, of_group(folder + group, files));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

bool names_memory(std::string_view controllers) {
  for (size_t begin = 0; begin <= controllers.size();) {
    const size_t end = std::min(controllers.find(',', begin), controllers.size());
    if (controllers.substr(begin, end - begin) == "memory") return true;
    begin = end + 1;
  }
  return false;
}

size_t least_of_groups(const std::string& groups, const std::string& folder, OfGroup of_group) {
  // Lines "number:controllers:/group"; version 2 names no controllers.
  std::ifstream file(groups);
  size_t least = kNoLimit;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) least = std::min(least, least_above(folder, group, kVersion2, of_group));
    if (names_memory(controllers))
      least = std::min(least, least_above(folder + "/memory", group, kVersion1, of_group));
  }
  return least;
}

}  // namespace

size_t control_group_limit(const std::string& groups, const std::string& folder) {
  return least_of_groups(groups, folder, limit_of);
}

size_t control_group_room(const std::string& groups, const std::string& folder) {
  return least_of_groups(groups, folder, room_of);
}

size_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    size_t kibibytes = 0;
    if (words >> word >> kibibytes && word == "MemAvailable:")
      return std::min(kibibytes << 10, control_group_room());
  }
  return 0;
}

void* allocate_pages(size_t bytes) {
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : bytes >= kLarge ? 4096 : 64;
  void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#if defined(MADV_HUGEPAGE)
  if (data != nullptr && alignment == kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

void free_pages(void* data, size_t /*bytes*/) { std::free(data); }

void* reserve_pages(size_t bytes) {
  void* data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

void release_pages(void* data, size_t bytes) {
  if (data != nullptr) munmap(data, bytes);
}

size_t physical_memory_bytes() {
  static const size_t bytes = [] {
    const auto pages = sysconf(_SC_PHYS_PAGES);
    const auto page = sysconf(_SC_PAGESIZE);
    size_t total =
        pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : size_t{8} << 30;
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      total = std::min(total, static_cast<size_t>(limit.rlim_cur));
    return std::min(total, control_group_limit());
  }();
  return bytes;
}

}  // namespace beeswax::os
