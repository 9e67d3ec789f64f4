// SPDX-License-Identifier: Apache-2.0
// An installed clang++, with no header of a vendor's. What decides numbers and the format of code
// (contraction, the version of code objects) is as in tools/kernels/compile.py.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
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
// By these a user's other builds find headers and get flags; here they would change the code, and no key
// holds them.
constexpr std::string_view kUnwanted[] = {"CPATH",
                                          "C_INCLUDE_PATH",
                                          "CPLUS_INCLUDE_PATH",
                                          "OBJC_INCLUDE_PATH",
                                          "OBJCPLUS_INCLUDE_PATH",
                                          "CCC_OVERRIDE_OPTIONS"};
constexpr const char* kNoConfiguration = "--no-default-config";
constexpr const char* kAmdTarget = "--target=amdgcn-amd-amdhsa";

// The number after `before` in a text, or 0.
int number_after(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  int value = 0;
  if (at == std::string_view::npos) return value;
  const std::string_view rest = text.substr(at + before.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

std::optional<os::Finished> run_clang(const std::vector<std::string>& command,
                                      const std::string& folder = {}) {
  return os::run_program(command, folder, kUnwanted);
}

bool write_text(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return os::replace_file(path, std::as_bytes(std::span(text)));
}

// A name for a header below a folder: relative, and leading nowhere else.
bool names_file_below(const fs::path& name) {
  return name.has_filename() && name.filename() != "." && name.is_relative() &&
         name.native().find('\0') == std::string::npos &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

class Clang final : public Compiler {
 public:
  Clang() {
    std::vector<std::string> names = {"clang++-22", "clang++-21", "clang++-20", "clang++-19", "clang++"};
    if (const char* given = std::getenv("BEESWAX_CLANG"); given != nullptr && *given != 0) names = {given};
    for (const std::string& name : names) {
      const std::optional<os::Finished> answer = run_clang({name, "--version"});
      if (!answer.has_value() || answer->status != 0) continue;
      version_ = number_after(answer->output, kVersion);
      if (version_ < kOldest) {
        refusal_ = join_text(name, " is version ", version_, "; ", kOldest, " or newer is needed");
        continue;
      }
      program_ =
          name.find('/') == std::string::npos ? name : fs::absolute(name).string();  // it runs elsewhere
      const size_t from = answer->output.find(kVersion) + kVersion.size();
      title_ = "clang++ " + answer->output.substr(from, answer->output.find_first_of(" \n", from) - from);
      identity_ = answer->output + stamps_of(name);
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
        run_clang({program_, kAmdTarget, "-nogpulib", "--print-supported-cpus"});
    if (known.has_value() && known->status == 0) {  // else compiling tells
      std::istringstream words(known->output);
      using Word = std::istream_iterator<std::string>;
      if (std::find(Word(words), Word(), target) == Word())
        return join_text(title_, " does not know ", target);
    }
    static const std::string linker_refusal = why_not_linked();
    return linker_refusal;
  }

  std::vector<std::string> flags(std::string_view target) const override {
    std::vector<std::string> out = {kNoConfiguration, "--cuda-device-only", "-O3",
                                    "-std=c++20",     "-ffp-contract=off",  "-fdeclspec",
                                    "-nostdinc",      "-nostdinc++",        "-fno-color-diagnostics"};
    if (is_amd(target)) {
      const std::string chip = join_text("--offload-arch=", target);
      for (const std::string_view flag : {"-x", "hip", chip.c_str(), "-nogpuinc", "-nogpulib",
                                          "--no-gpu-bundle-output", "-mcode-object-version=5"})
        out.emplace_back(flag);
    } else {
      const int chip = std::min(number_after(target, "sm_"), kNewestChip);
      for (const std::string& flag :
           {std::string("-x"), std::string("cuda"), join_text("--cuda-gpu-arch=sm_", chip),
            std::string("--cuda-path=none"),  // the same, whatever CUDA is installed
            std::string("-nocudainc"), std::string("-nocudalib"), std::string("--cuda-feature=+ptx78"),
            std::string("-S")})
        out.push_back(flag);
    }
    return out;
  }

  std::vector<std::byte> compile(const Program& program, std::string_view target) const override {
    const os::TemporaryFolder folder;
    const auto put = [&](const char* below, const NamedText& header) {
      if (!names_file_below(header.name))
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
    const std::optional<os::Finished> run = run_clang(command, folder.path().string());
    if (!run.has_value()) fail(ErrorKind::Unsupported, "compile", program_, " does not start");
    if (run->status != 0) {
      // The linker may have gone since refusal() saw it.
      if (is_amd(target) && run->output.find("command failed") != std::string::npos)
        if (const std::string why = why_not_linked(); !why.empty())
          fail(ErrorKind::Unsupported, "compile", why);
      fail_to_compile(*this, program, target, run->output);
    }
    std::optional<std::vector<std::byte>> code = os::read_file(folder.path() / "code");
    if (!code.has_value()) fail_to_compile(*this, program, target, "it wrote no code\n" + run->output);
    if (!is_amd(target)) code->push_back(std::byte{0});
    return *std::move(code);
  }

 private:
  // Why code for AMD's chips cannot be linked; empty where it can. An lld older than clang may not know the
  // options that clang gives it.
  std::string why_not_linked() const {
    const std::optional<os::Finished> asked =
        run_clang({program_, kNoConfiguration, kAmdTarget, "-print-prog-name=lld"});
    if (!asked.has_value() || asked->status != 0) return "";  // then compiling tells
    const std::string linker = asked->output.substr(0, asked->output.find('\n'));
    const std::optional<os::Finished> answer = os::run_program({linker, "-flavor", "gnu", "--version"});
    const int version = answer.has_value() && answer->status == 0 ? number_after(answer->output, "LLD ") : 0;
    if (version >= version_) return "";
    return join_text(title_, " links AMD's code with lld of its version, and finds ",
                     version == 0 ? "none" : join_text(linker, " of version ", version), "; install lld-",
                     version_);
  }

  // Of the program, its linker and the libraries that do their work.
  static std::string stamps_of(const std::string& name) {
    const std::optional<os::Finished> answer = run_clang({name, "-print-resource-dir"});
    if (!answer.has_value() || answer->status != 0) return "";
    const std::string folder = answer->output.substr(0, answer->output.find('\n'));  // PREFIX/lib/clang/19
    const fs::path libraries = fs::path(folder).parent_path().parent_path();
    return os::stamps_in(libraries, {"libLLVM", "libclang-cpp", "liblld"}) +
           os::stamps_in(libraries.parent_path() / "bin", {"clang", "lld", "ld.lld"});
  }

  int version_ = 0;
  std::string program_, title_, identity_, refusal_;
};

}  // namespace

const Compiler& clang_compiler() {
  static const Clang clang;
  return clang;
}

}  // namespace beeswax::gpu::rtc
