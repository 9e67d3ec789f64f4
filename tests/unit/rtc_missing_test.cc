// SPDX-License-Identifier: Apache-2.0
// Compilers that lack a part of theirs: who takes their place, and that nobody blames the source. Each in a
// process of its own, for a process looks for a compiler once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backends/gpu/rtc/compiler.h"
#include "beeswax/kernel.h"
#include "core/fail.h"
#include "core/os/folders.h"
#include "support/apart.h"
#include "support/expect_error.h"
#include "support/fake_gpu.h"

namespace beeswax::gpu::rtc {
namespace {

namespace fs = std::filesystem;

using test::run_apart;

// A program of sh.
void write_script(const fs::path& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text;
  fs::permissions(path, fs::perms::owner_all);
}

// A clang 19 that looks for lld beside itself only, and whose linking fails.
class Linker : public testing::Test {
 protected:
  Linker() {
    write_script(folder_.path() / "clang++", R"(
case "$*" in
  --version) echo "clang version 19.1.7" ;;
  *-print-prog-name=lld) if [ -e "${0%/*}/lld" ]; then echo "${0%/*}/lld"; else echo lld; fi ;;
  *--print-supported-cpus) echo gfx1100 ;;
  *) echo "clang++: error: amdgcn-link command failed with exit code 1"; exit 1 ;;
esac
)");
  }
  fs::path lld() const { return folder_.path() / "lld"; }
  void use_it() const {
    ::setenv("BEESWAX_CLANG", (folder_.path() / "clang++").c_str(), 1);
    // Neither does sh find another lld.
    ::setenv("PATH", folder_.path().c_str(), 1);
  }
  // Why it compiles for no AMD chip; for NVIDIA's nothing is linked.
  std::string refusal() const {
    return run_apart([&] {
      use_it();
      EXPECT_EQ(clang_compiler().refusal("sm_80"), "");
      EXPECT_EQ(clang_compiler().refusal("gfx1101"), "clang++ 19.1.7 does not know gfx1101");
      return clang_compiler().refusal("gfx1100");
    });
  }
  os::TemporaryFolder folder_;
};

TEST_F(Linker, ThatClangDoesNotFindIsNamed) {
  EXPECT_EQ(refusal(),
            "clang++ 19.1.7 links AMD's code with lld of its version, and finds none; install lld-19");
  write_script(lld(), "exit 1");
  EXPECT_NE(refusal().find("finds none"), std::string::npos);
}

TEST_F(Linker, HasClangsVersionOrALaterOne) {
  write_script(lld(), "echo 'Some LLD 18.1.0 (compatible with GNU linkers)'");
  EXPECT_EQ(refusal(), "clang++ 19.1.7 links AMD's code with lld of its version, and finds " +
                           lld().string() + " of version 18; install lld-19");
  for (const char* version : {"19.1.7", "22.0.0git"}) {
    write_script(lld(), std::string("echo LLD ") + version);
    EXPECT_EQ(refusal(), "");
  }
}

// As when it is removed while a program runs.
TEST_F(Linker, ThatIsMissingIsNotTheSourcesFault) {
  write_script(lld(), "echo LLD 19.1.7");
  run_apart([&] {
    use_it();
    EXPECT_EQ(clang_compiler().refusal("gfx1100"), "");
    const Program program = {"mine", "", {}, {}};
    EXPECT_ERROR(clang_compiler().compile(program, "gfx1100"), InvalidArgument, "'mine' does not compile");
    fs::remove(lld());
    EXPECT_ERROR(clang_compiler().compile(program, "gfx1100"), Unsupported, "install lld-19");
    return "";
  });
}

// NVRTC's stand-in, on a card that a fake driver stands for.
class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    if (!Bundle::embedded().target_for("sm_86").has_value()) GTEST_SKIP() << "no kernels for NVIDIA's chips";
  }
  // Who compiles a program where NVRTC answers `result`, or the error.
  static std::string outcome(const char* result, KernelCompiler which, const std::string& clang = "") {
    return run_apart([&] {
      const os::TemporaryFolder cache;
      ::setenv("BEESWAX_CODE_CACHE", cache.path().c_str(), 1);
      ::setenv("BEESWAX_NVRTC_LIBRARY", BW_BINARY_DIR "/lib-fake/libnvrtc.so", 1);
      ::setenv("FAKE_NVRTC_RESULT", result, 1);
      if (!clang.empty()) ::setenv("BEESWAX_CLANG", clang.c_str(), 1);
      const test::FakeGpu gpu = test::fake_cuda();
      gpu.control();
      try {
        const char* source = "extern \"C\" __global__ void stand_in() {}";
        return beeswax::Kernel::compile(gpu.device(), source, "stand_in", {.compiler = which}).compiler();
      } catch (const Error& error) {
        return join_text(error_kind_name(error.kind()), ": ", error.what());
      }
    });
  }
};

const std::string kFailed =
    "NVRTC 13.0: compiling 'stand_in': NVRTC_ERROR_BUILTIN_OPERATION_FAILURE (7), which is not the source's "
    "fault; install it whole";

TEST_F(Nvrtc, ThatWorksIsTheFirst) { EXPECT_EQ(outcome("0", KernelCompiler::Any), "NVRTC 13.0"); }

TEST_F(Nvrtc, ThatFailsLeavesItToClang) {
  const std::string refusal = run_apart([] { return clang_compiler().refusal("sm_86"); });
  if (!refusal.empty()) GTEST_SKIP() << refusal;
  for (const char* result : {"1", "7"}) {
    const std::string said = outcome(result, KernelCompiler::Any);
    EXPECT_TRUE(said.starts_with("clang++ ")) << said;
  }
}

TEST_F(Nvrtc, ThatFailsIsNamedWhereNobodyElseCompiles) {
  const std::string alone = outcome("7", KernelCompiler::Any, "/nowhere/clang++");
  EXPECT_EQ(alone, outcome("7", KernelCompiler::Vendor));
  EXPECT_TRUE(alone.starts_with("Unsupported: [compile] " + kFailed)) << alone;
  EXPECT_TRUE(alone.ends_with("\nwhat the stand-in says")) << alone;
  // A clang that is there once.
  const os::TemporaryFolder folder;
  const std::string clang = (folder.path() / "clang++").string();
  write_script(clang, "rm \"$0\"; echo clang version 19.1.7");
  const std::string both = outcome("7", KernelCompiler::Any, clang);
  EXPECT_TRUE(both.starts_with("Unsupported: [compile] " + clang + " does not start")) << both;
  EXPECT_NE(both.find(kFailed), std::string::npos) << both;
}

TEST_F(Nvrtc, AWrongSourceGoesToNobodyElse) {
  const std::string said = outcome("6", KernelCompiler::Any);
  EXPECT_TRUE(
      said.starts_with("InvalidArgument: [compile] 'stand_in' does not compile for sm_86 (NVRTC 13.0)"))
      << said;
  EXPECT_NE(said.find("what the stand-in says"), std::string::npos) << said;
}

}  // namespace
}  // namespace beeswax::gpu::rtc
