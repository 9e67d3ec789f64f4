// SPDX-License-Identifier: Apache-2.0
// An installed clang++, with no header of a vendor's: the flags are those of tools/kernels/compile.py.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "backends/gpu/rtc/compiler.h"
#include "core/fail.h"
#include "core/os/folders.h"
#include "core/os/process.h"

namespace beeswax::gpu::rtc {
namespace {

namespace fs = std::filesystem;

constexpr int kOldest = 19;
constexpr std::string_view kVersion = "clang version ";
// PTX of the newest chip that this clang surely knows runs on those after it.
constexpr int kNewestChip = 90;

// The number after `before` in a text, or 0.
int number_after(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  int value = 0;
  if (at == std::string_view::npos) return value;
  const std::string_view rest = text.substr(at + before.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

bool write_text(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return os::replace_file(path, std::as_bytes(std::span(text)));
}

// A name for a header below a folder: relative, and leading nowhere else.
bool stays_below(const fs::path& name) {
  return !name.empty() && name.is_relative() &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

class Clang final : public Compiler {
 public:
  Clang() {
    std::vector<std::string> names = {"clang++-22", "clang++-21", "clang++-20", "clang++-19", "clang++"};
    if (const char* given = std::getenv("BEESWAX_CLANG"); given != nullptr && *given != 0) names = {given};
    for (const std::string& name : names) {
      const std::optional<os::Finished> answer = os::run_program({name, "--version"});
      if (!answer.has_value() || answer->status != 0) continue;
      const int version = number_after(answer->output, kVersion);
      if (version < kOldest) {
        refusal_ = join_text(name, " is version ", version, "; ", kOldest, " or newer is needed");
        continue;
      }
      program_ =
          name.find('/') == std::string::npos ? name : fs::absolute(name).string();  // it runs elsewhere
      const size_t from = answer->output.find(kVersion) + kVersion.size();
      title_ = "clang++ " + answer->output.substr(from, answer->output.find_first_of(" \n", from) - from);
      identity_ = answer->output;
      return;
    }
    if (refusal_.empty()) refusal_ = "no clang++ is installed";
  }

  std::string title() const override { return title_; }
  std::string identity() const override { return identity_; }
  std::string refusal(std::string_view target) const override {
    if (!refusal_.empty() || !is_amd(target)) return refusal_;
    // A list of names, one a line; each chip came with some version.
    static const std::optional<os::Finished> known =
        os::run_program({program_, "--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"});
    if (!known.has_value() || known->status != 0) return "";  // then compiling tells
    std::istringstream words(known->output);
    for (std::string word; words >> word;)
      if (word == target) return "";
    return join_text(title_, " does not know ", target);
  }

  std::vector<std::string> flags(std::string_view target) const override {
    std::vector<std::string> out = {"--cuda-device-only",
                                    "-O3",
                                    "-std=c++20",
                                    "-ffp-contract=off",
                                    "-fdeclspec",
                                    "-nostdinc",
                                    "-nostdinc++",
                                    "-Wno-unknown-cuda-version",
                                    "-fno-color-diagnostics"};
    if (is_amd(target)) {
      const std::string chip = join_text("--offload-arch=", target);
      for (const std::string_view flag : {"-x", "hip", chip.c_str(), "-nogpuinc", "-nogpulib",
                                          "--no-gpu-bundle-output", "-mcode-object-version=5"})
        out.emplace_back(flag);
    } else {
      const int chip = std::min(number_after(target, "sm_"), kNewestChip);
      for (const std::string& flag :
           {std::string("-x"), std::string("cuda"), join_text("--cuda-gpu-arch=sm_", chip),
            std::string("-nocudainc"), std::string("-nocudalib"), std::string("--cuda-feature=+ptx78"),
            std::string("-S")})
        out.push_back(flag);
    }
    return out;
  }

  std::vector<std::byte> compile(const Program& program, std::string_view target) const override {
    const os::TemporaryFolder folder;
    const auto put = [&](const char* below, const NamedText& header) {
      if (!stays_below(header.name))
        fail(ErrorKind::InvalidArgument, "compile", "'", header.name, "' is no name for a header");
      if (!write_text(folder.path() / below / header.name, header.text))
        fail(ErrorKind::Io, "compile", "cannot write to ", folder.path().string());
    };
    for (const NamedText& header : Sources::embedded().headers) put("beeswax", header);
    for (const NamedText& header : program.headers) put("user", header);
    put("source", {"program", join_text("#line 1 \"", program.name, "\"\n", program.text)});
    std::vector<std::string> command = {program_};
    for (const std::string& flag : flags(target)) command.push_back(flag);
    for (const std::string& define : program.defines) command.push_back("-D" + define);
    for (const char* word :
         {"-isystem", "beeswax", "-Iuser", "-include", "kernels/rtc/clang.h", "source/program", "-o", "code"})
      command.emplace_back(word);
    const std::optional<os::Finished> run = os::run_program(command, folder.path().string());
    if (!run.has_value()) fail(ErrorKind::Unsupported, "compile", program_, " does not start");
    if (run->status != 0) fail_to_compile(*this, program, target, run->output);
    std::optional<std::vector<std::byte>> code = os::read_file(folder.path() / "code");
    if (!code.has_value()) fail_to_compile(*this, program, target, "it wrote no code\n" + run->output);
    if (!is_amd(target)) code->push_back(std::byte{0});
    return *std::move(code);
  }

 private:
  std::string program_, title_, identity_, refusal_;
};

}  // namespace

const Compiler& clang_compiler() {
  static const Clang clang;
  return clang;
}

}  // namespace beeswax::gpu::rtc
