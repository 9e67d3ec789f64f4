// SPDX-License-Identifier: Apache-2.0
// bw_check_bundle, a step of the build: refuses a library whose kernels are not those that its tables name,
// target by target, before anybody links it. A compiler can lose a kernel without a word, and every target
// loses the same one where its source went.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backends/gpu/gpu.h"

namespace beeswax::gpu {
namespace {

// How many kernels are not as they should be.
int check_target(const Bundle& bundle, size_t target) {
  const std::string_view name = bundle.target_name(target);
  std::vector<std::string> asked = KernelTable::all_names(name);
  std::ranges::sort(asked);
  if (asked.empty()) {
    std::fprintf(stderr, "no table names a kernel for %.*s\n", static_cast<int>(name.size()), name.data());
    return 1;
  }
  int wrong = 0;
  const auto tell = [&](std::string_view kernel, const char* what) {
    ++wrong;
    std::fprintf(stderr, "%.*s: the kernel %.*s %s\n", static_cast<int>(name.size()), name.data(),
                 static_cast<int>(kernel.size()), kernel.data(), what);
  };
  for (const std::string& kernel : asked)
    if (!bundle.find(target, kernel).has_value()) tell(kernel, "is missing, and a table names it");
  for (const std::string_view kernel : bundle.kernel_names(target))
    if (!std::ranges::binary_search(asked, kernel)) tell(kernel, "is there, and no table names it");
  return wrong;
}

}  // namespace
}  // namespace beeswax::gpu

// Checks the bundle in the library, or one in a file.
int main(int argc, char** argv) try {
  using beeswax::gpu::Bundle;
  std::vector<std::byte> bytes;
  if (argc > 1) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::ranges::transform(text, std::back_inserter(bytes), [](char c) { return std::byte(c); });
  }
  const Bundle bundle = argc > 1 ? Bundle(bytes) : Bundle::embedded();
  int wrong = 0;
  const size_t targets = bundle.targets().size();
  for (size_t target = 0; target < targets; ++target) wrong += beeswax::gpu::check_target(bundle, target);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
