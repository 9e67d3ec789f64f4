// SPDX-License-Identifier: Apache-2.0
// main() for a fuzz target built without libFuzzer: runs the target on every file of the folders named as
// arguments, on damaged copies of each, and on generated inputs (the same every time), and prints how many
// there were.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

// Bits flipped, bytes at the ends of their range, numbers of eight bytes that are too large, a piece doubled
// or left out, the end cut off: one to four of these.
Bytes damaged(Bytes bytes, std::mt19937& random) {
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % bytes.size()); };
  for (int left = 1 + static_cast<int>(random() % 4); left > 0 && !bytes.empty(); --left) {
    const auto at = bytes.begin() + place();
    const auto length =
        std::min<std::ptrdiff_t>(1 + static_cast<std::ptrdiff_t>(random() % 16), bytes.end() - at);
    switch (random() % 6) {
      case 0:
        *at ^= static_cast<uint8_t>(1U << random() % 8);
        break;
      case 1:
        *at = random() % 2 == 0 ? 0 : 0xff;
        break;
      case 2:
        std::fill_n(at, std::min<std::ptrdiff_t>(8, bytes.end() - at),
                    static_cast<uint8_t>(random() % 2 == 0 ? 0x7f : 0xff));
        break;
      case 3: {
        const Bytes piece(at, at + length);
        bytes.insert(at, piece.begin(), piece.end());
        break;
      }
      case 4:
        bytes.erase(at, at + length);
        break;
      default:
        bytes.erase(at, bytes.end());
    }
  }
  return bytes;
}

Bytes read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  return {text.begin(), text.end()};
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kGenerated = 2000, kDamaged = 300;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::ranges::sort(files);  // folders have no order of their own
  std::mt19937 random(20240601);
  for (const std::filesystem::path& path : files) {
    const Bytes bytes = read(path);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    for (int i = 0; i < kDamaged; ++i) {
      const Bytes other = damaged(bytes, random);
      LLVMFuzzerTestOneInput(other.data(), other.size());
    }
  }
  for (int i = 0; i < kGenerated; ++i) {
    Bytes bytes(random() % 64);
    std::ranges::generate(bytes, [&] { return static_cast<uint8_t>(random()); });
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs of the corpus, %d damaged copies of each, and %d generated ones\n", files.size(),
              kDamaged, kGenerated);
  return 0;
}
