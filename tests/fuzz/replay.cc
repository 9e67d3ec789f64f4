// SPDX-License-Identifier: Apache-2.0
// main() for a fuzz target built without libFuzzer: runs the target on every file of the folders named as
// arguments, then on generated inputs (the same every time), and prints how many there were.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  constexpr int kGenerated = 2000;
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
      std::vector<uint8_t> bytes(text.begin(), text.end());
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++files;
    }
  }
  std::mt19937 random(20240601);
  for (int i = 0; i < kGenerated; ++i) {
    std::vector<uint8_t> bytes(random() % 64);
    std::ranges::generate(bytes, [&] { return static_cast<uint8_t>(random()); });
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%d inputs of the corpus and %d generated ones\n", files, kGenerated);
  return 0;
}
