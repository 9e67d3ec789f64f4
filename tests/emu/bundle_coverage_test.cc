// SPDX-License-Identifier: Apache-2.0
// Every instruction of the kernels that ship: each has a row, so that none stops at an unknown one. Reads the
// modules where the build leaves them (kernels/MODULE.CHIP); other folders of such files by
// BEESWAX_EMU_TEST_KERNELS.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "emu/exec/program.h"
#include "emu/exec/text.h"

namespace emu::exec {
namespace {

namespace fs = std::filesystem;

TEST(BundleCoverage, EveryInstructionOfOurKernelsHasARow) {
  const char* other = std::getenv("BEESWAX_EMU_TEST_KERNELS");
  const fs::path folder = other != nullptr ? fs::path(other) : fs::path(BW_BINARY_DIR) / "kernels";
  std::map<std::string, std::vector<fs::path>> modules;  // by chip
  if (fs::is_directory(folder))
    for (const auto& file : fs::directory_iterator(folder))
      if (const std::string chip = file.path().extension().string();
          find_chip(chip.empty() ? chip : chip.substr(1)))
        modules[chip.substr(1)].push_back(file.path());
  if (modules.empty()) GTEST_SKIP() << "no kernels in " << folder << ": build the library first";
  for (auto& [name, files] : modules) {
    const Chip& chip = *find_chip(name);
    std::sort(files.begin(), files.end());
    std::set<std::string> different;
    size_t kernels = 0, instructions = 0;
    for (const fs::path& path : files) {
      std::ifstream file(path, std::ios::binary);
      const std::string read{std::istreambuf_iterator<char>(file), {}};
      Memory memory(uint64_t(1) << 30);
      const Image image({reinterpret_cast<const std::byte*>(read.data()), read.size()}, chip, memory);
      EXPECT_FALSE(image.kernels().empty()) << path;
      for (const Kernel& kernel : image.kernels()) {
        ++kernels;
        const Program program(kernel, kernel.code, kernel.code + kernel.code_bytes, false);
        std::set<uint32_t> texts;
        for (const Op& op : program.ops()) {
          const std::string text = program.text(&op);
          // Behind the last instruction: what fills its cache lines, and where decoding ends.
          if (op.row == nullptr && (text == "(end of the code)" || text.starts_with("s_code_end"))) continue;
          EXPECT_NE(op.row, nullptr) << chip.name << " " << kernel.name << ": " << text;
          if (!texts.insert(op.text).second) continue;
          ++instructions;
          for (size_t at = 0; at != std::string::npos;) {  // both halves of a VOPD pair
            const size_t pair = text.find("::", at);
            const std::string part = text.substr(at, pair == std::string::npos ? pair : pair - at);
            different.insert(parse_text(part.substr(part.find_first_not_of(" \t"))).mnemonic);
            at = pair == std::string::npos ? pair : pair + 2;
          }
        }
      }
    }
    std::printf("%s: %zu kernels, %zu instructions, %zu different ones\n", chip.name, kernels, instructions,
                different.size());
    EXPECT_GT(different.size(), 100u) << chip.name;
  }
}

}  // namespace
}  // namespace emu::exec
