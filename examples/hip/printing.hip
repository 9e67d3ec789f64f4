// SPDX-License-Identifier: Apache-2.0
// printf in a kernel: texts of all work-items arrive whole, in any order, on standard output.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check.h"

__global__ void print(const char* greeting, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    printf("%s from %d of %d in block %u: %.3f, %5.1f%%, %llx\n", greeting, i, n, unsigned(blockIdx.x),
           1.0 / (i + 1), 100.0 * i / n, 1ull << (i % 64));
}

int main() {
  constexpr int n = 150;
  char* greeting;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&greeting), 8));
  std::snprintf(greeting, 8, "hello");
  // Standard output goes into a file meanwhile.
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return 1;
  std::fflush(stdout);
  const int terminal = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  print<<<(n + 63) / 64, 64>>>(greeting, n);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  std::fflush(stdout);
  dup2(terminal, STDOUT_FILENO);
  close(terminal);
  std::rewind(file);
  std::vector<std::string> lines, expected;
  char text[256];
  while (std::fgets(text, sizeof text, file) != nullptr) lines.emplace_back(text);
  for (int i = 0; i < n; ++i) {
    std::snprintf(text, sizeof text, "%s from %d of %d in block %u: %.3f, %5.1f%%, %llx\n", greeting, i, n,
                  i / 64u, 1.0 / (i + 1), 100.0 * i / n, 1ull << (i % 64));
    expected.emplace_back(text);
  }
  std::sort(lines.begin(), lines.end());
  std::sort(expected.begin(), expected.end());
  CHECK(hipHostFree(greeting));
  std::printf("%zu lines, %s\n", lines.size(), lines == expected ? "all as expected" : "not as expected");
  return lines != expected;
}
