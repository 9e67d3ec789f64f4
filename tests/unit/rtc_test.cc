// SPDX-License-Identifier: Apache-2.0
// Compiling kernels at run time without a device: each compiler, for chips of both vendors, what the code
// says of its kernels, and what decides the key that code is kept under.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "backends/gpu/rtc/code_info.h"
#include "backends/gpu/rtc/compile.h"
#include "support/apart.h"
#include "support/expect_error.h"

namespace beeswax::gpu::rtc {
namespace {

const Program kProgram = {"scale",
                          R"(
struct Window { long long first; int count; };
__global__ void __launch_bounds__(128) scale(const float* x, float* y, Window window, float factor, char flag) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < window.count && flag) y[window.first + i] = factor * x[i] + y[i];
})",
                          {},
                          {}};
const Program kDialect = {"saxpy",
                          R"(
#include <stddef.h>
#include <stdint.h>
#include "core/math/math.h"
#include "kernels/gpu.h"
#include "kernels/wave.h"
struct SaxpyArgs { const float* x; float* y; uint32_t* errors; uint32_t count; };
BW_KERNEL(256) saxpy(SaxpyArgs args) {
  using namespace beeswax::gpu;
  BW_SHARED static float tile[256];
  const uint32_t i = block() * 256 + thread();
  tile[thread()] = i < args.count ? args.x[i] : 0.0f;
  barrier();
  const float other = shuffle_xor(tile[255 - thread()], 1);
  if (i < args.count) args.y[i] = other * 2.0f + beeswax::m::exp(args.y[i]);
  if (bits_in(wave_ballot(other > 0)) > 3) atomic_add(args.errors, 1u);
  if (f16_bits(other) == 0) atomic_max(args.errors, 7u);
})",
                          {},
                          {}};

// What they do, device/kernel_* sees.
const Program kAtomics = {"atomics",
                          R"(
#include "kernels/atomics.h"
using namespace beeswax::gpu;
template <class T>
BW_DEVICE void all(T* x) {
  atomic_add(x, x[1]);
  atomic_min(x, x[2]);
  atomic_max(x, x[3]);
  x[4] = atomic_exchange(x, x[5]);
  x[6] = atomic_swap_if(x, x[7], x[8]);
}
struct AtomicsArgs { int32_t* a; uint32_t* b; int64_t* c; uint64_t* d; float* e; double* f; };
BW_KERNEL(64) atomics(AtomicsArgs args) {
  all(args.a);
  all(args.b);
  all(args.c);
  all(args.d);
  atomic_add(args.e, args.e[1]);
  atomic_add(args.f, args.f[1]);
  args.e[2] = atomic_exchange(args.e, args.e[3]);
  args.f[2] = atomic_swap_if(args.f, args.f[3], args.f[4]);
})",
                          {},
                          {}};

struct Case {
  bool vendor;
  std::string target;
};
class Compilers : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (GetParam().vendor) GTEST_SKIP() << "the vendors' libraries are not built for sanitizers";
#endif
    if (!compiler().refusal(GetParam().target).empty()) GTEST_SKIP() << compiler().refusal(GetParam().target);
  }
  static const Compiler& compiler() {
    return GetParam().vendor ? vendor_compiler(GetParam().target) : clang_compiler();
  }
  static std::vector<std::byte> compile(const Program& program) {
    return compiler().compile(program, GetParam().target);
  }
  static std::string_view text(const std::vector<std::byte>& code) {
    return {reinterpret_cast<const char*>(code.data()), code.size()};
  }
};

TEST_P(Compilers, CodeTellsOfItsKernels) {
  const std::vector<std::byte> code = compile(kProgram);
  const std::vector<KernelInfo> kernels = kernels_of(code);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "scale");
  EXPECT_EQ(kernels[0].symbol, "_Z5scalePKfPf6Windowfc");
  EXPECT_EQ(kernels[0].most_threads, 128u);
  std::vector<uint32_t> bytes;
  for (const Parameter& parameter : kernels[0].parameters) bytes.push_back(parameter.bytes);
  EXPECT_EQ(bytes, (std::vector<uint32_t>{8, 8, 16, 4, 1}));
  if (is_amd(GetParam().target)) {
    EXPECT_EQ(kernels[0].parameters[0].kind, Parameter::Kind::Pointer);
    EXPECT_EQ(kernels[0].parameters[2].kind, Parameter::Kind::Value);
  }
}

TEST_P(Compilers, CompileTheDialect) {
  const std::vector<KernelInfo> kernels = kernels_of(compile(kDialect));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "saxpy");
  EXPECT_EQ(kernels[0].most_threads, 256u);
  ASSERT_EQ(kernels[0].parameters.size(), 1u);
  EXPECT_EQ(kernels[0].parameters[0].bytes, 32u);
}

TEST_P(Compilers, CompileTheAtomics) {
  const std::vector<KernelInfo> kernels = kernels_of(compile(kAtomics));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "atomics");
}

// A product and a sum stay two roundings: nobody fuses them behind our back.
TEST_P(Compilers, DoNotContract) {
  const std::vector<std::byte> code = compile(kProgram);
  if (is_amd(GetParam().target)) return;  // what AMD's chips make of it is seen in device/kernel_*
  EXPECT_EQ(text(code).find("fma."), std::string_view::npos);
  EXPECT_NE(text(code).find("mul"), std::string_view::npos);
  EXPECT_EQ(code.back(), std::byte{0});
}

TEST_P(Compilers, TellOfErrorsWithLines) {
  const Program broken = {"my kernel", "\n\n__global__ void f(int* x) { *x = nothing; }", {}, {}};
  EXPECT_ERROR(compile(broken), InvalidArgument, "'my kernel' does not compile for " + GetParam().target);
  try {
    compile(broken);
    ADD_FAILURE();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.find("my kernel:3") != std::string::npos ||
                message.find("my kernel(3)") != std::string::npos)
        << message;
    EXPECT_NE(message.find(compiler().title()), std::string::npos);
  }
  const Program escaping = {"escape", "#include \"/etc/hostname\"", {}, {}};
  EXPECT_THROW(compile(escaping), Error);
}

TEST_P(Compilers, HaveAnIdentityAndFlags) {
  EXPECT_FALSE(compiler().title().empty());
  EXPECT_FALSE(compiler().identity().empty());
  const std::vector<std::string> flags = compiler().flags(GetParam().target);
  EXPECT_TRUE(std::ranges::find(flags, "-ffp-contract=off") != flags.end() ||
              std::ranges::find(flags, "--fmad=false") != flags.end());
}

INSTANTIATE_TEST_SUITE_P(All, Compilers,
                         testing::Values(Case{false, "gfx1100"}, Case{false, "gfx90a"},
                                         Case{false, "gfx1201"}, Case{false, "sm_80"}, Case{false, "sm_120"},
                                         Case{true, "gfx90a"}, Case{true, "gfx1030"}, Case{true, "gfx1100"},
                                         Case{true, "sm_80"}, Case{true, "sm_90"}),
                         [](const auto& info) {
                           return std::string(info.param.vendor ? "vendor_" : "clang_") + info.param.target;
                         });

// Variables and files by which other programs' builds are changed.
TEST(Clang, TakesNothingFromItsSurroundings) {
  const Program program = {"plain", "#ifdef BROKEN\n#error broken\n#endif\n" + kDialect.text, {}, {}};
  const os::TemporaryFolder folder;
  std::ofstream(folder.path() / "stdint.h") << "#error not ours\n";
  for (const std::string target : {"gfx1100", "sm_80"}) {
    const std::string refusal = clang_compiler().refusal(target);
    if (!refusal.empty()) GTEST_SKIP() << refusal;
    test::run_apart([&] {
      for (const char* variable : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
        ::setenv(variable, folder.path().c_str(), 1);
      ::setenv("CCC_OVERRIDE_OPTIONS", "+-DBROKEN", 1);
      EXPECT_EQ(kernels_of(clang_compiler().compile(program, target)).size(), 1u);
      return "";
    });
    EXPECT_EQ(std::ranges::count(clang_compiler().flags(target), "--no-default-config"), 1);
  }
}

TEST(CompilersFor, SayWhatToInstall) {
  EXPECT_ERROR(compilers_for("gfx1", KernelCompiler::Vendor), Unsupported,
               "no compiler of kernels for gfx1 is installed");
  EXPECT_ERROR(compilers_for("sm_1", KernelCompiler::Vendor), Unsupported,
               "NVIDIA's NVRTC (libnvrtc), or clang-19");
}

bool whole(const std::string& text) { return is_whole({"t", text, {{"mine.h", "int mine;"}}, {}}); }

// What a program reads from the disk may change unseen, however it says so.
TEST(Whole, IsWhatReadsNoOtherFiles) {
  EXPECT_TRUE(whole(kProgram.text));
  EXPECT_TRUE(whole(kDialect.text));
  EXPECT_TRUE(whole("#include \"mine.h\"\n"));
  EXPECT_TRUE(whole("#inc\\\nlude \\\n\"mine.h\"\n%:\vinclude <mine.h>\n"));
  EXPECT_TRUE(whole("// what # stands for, and what we include\n int included = '\\\\';\n"));
  for (const std::string other : {"\"other.h\"", "<x.h>"})
    for (const char* directive :
         {"#include ", "#\tinclude", "#\vinclude ", "#\finclude\f", "%:include", "#import ", "#embed",
          "#/**/include", "#inc\\\nlude ", "#inc\\ \t\nlude ", "#inc\\\r\nlude ", "#inc\\\rlude ",
          "\\\n#\\\ninclude \\\n", "#\xC2\xA0include ", "#include/**/"})
      EXPECT_FALSE(whole(directive + other + "\n")) << directive << other;
  EXPECT_FALSE(whole("#define FILE <x.h>\n#include FILE\n"));
  EXPECT_FALSE(whole("#if __has_include(<x.h>)\n#endif\n"));
  EXPECT_FALSE(whole("asm(\".incbin \\\"other.h\\\"\");"));
  EXPECT_FALSE(whole("asm(\".inc\\\nlude \\\"other.h\\\"\");"));
  EXPECT_FALSE(is_whole({"t", "#include \"mine.h\"", {{"mine.h", "#include <x.h>"}}, {}}));
  EXPECT_FALSE(is_whole({"t", "asm(READ);", {}, {"READ=\".incbin 'x'\""}}));
}

// Every part that can change the code changes the key; nothing else does.
TEST(Key, HoldsAllThatMatters) {
  const Compiler& clang = clang_compiler();
  std::set<std::string> keys;
  const auto differs = [&](const Program& program, std::string_view target, const Compiler& compiler) {
    return keys.insert(hex(key_of(program, target, compiler))).second;
  };
  EXPECT_TRUE(differs(kProgram, "gfx1100", clang));
  EXPECT_FALSE(differs(kProgram, "gfx1100", clang));
  EXPECT_TRUE(differs(kProgram, "gfx1101", clang));
  EXPECT_TRUE(differs(kProgram, "gfx1100", vendor_compiler("gfx1100")));
  for (const char* variable : {"HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND"}) {
    ::setenv(variable, "-ffp-contract=fast", 1);
    EXPECT_TRUE(differs(kProgram, "gfx1100", vendor_compiler("gfx1100"))) << variable;
    ::unsetenv(variable);
  }
  EXPECT_FALSE(differs(kProgram, "gfx1100", vendor_compiler("gfx1100")));
  Program changed = kProgram;
  changed.text += " ";
  EXPECT_TRUE(differs(changed, "gfx1100", clang));
  changed = kProgram;
  changed.defines = {"A=1"};
  EXPECT_TRUE(differs(changed, "gfx1100", clang));
  changed.defines = {"A=1", ""};
  EXPECT_TRUE(differs(changed, "gfx1100", clang));
  changed = kProgram;
  changed.headers = {{"a.h", "b"}};
  EXPECT_TRUE(differs(changed, "gfx1100", clang));
  changed.headers = {{"a.", "hb"}};
  EXPECT_TRUE(differs(changed, "gfx1100", clang));
}

// An update of a library in a package of its own changes what a compiler makes.
TEST(Key, HoldsTheFilesThatDoTheWork) {
  const os::TemporaryFolder folder;
  const auto stamps = [&] { return os::stamps_in(folder.path(), {"libLLVM", "lld"}); };
  EXPECT_EQ(stamps(), "");
  std::ofstream(folder.path() / "other") << "1";
  EXPECT_EQ(stamps(), "");
  std::set<std::string> seen;
  for (const char* name : {"libLLVM-15.so.1", "lld", "libLLVM-15.so.1"}) {
    std::ofstream(folder.path() / name, std::ios::app) << "1";
    EXPECT_TRUE(seen.insert(stamps()).second) << name;
  }
  EXPECT_EQ(os::stamps_in(folder.path() / "none", {"lld"}), "");
  if (clang_compiler().refusal("sm_90").empty()) {
    EXPECT_NE(clang_compiler().identity().find("/bin/clang"), std::string::npos);
  }
}

// A compiler that counts; each program's code is its text.
class Counting final : public Compiler {
 public:
  std::string title() const override { return "counting"; }
  std::string identity() const override { return identity_; }
  std::string refusal(std::string_view) const override { return ""; }
  std::vector<std::string> flags(std::string_view) const override { return flags_; }
  std::vector<std::byte> compile(const Program& program, std::string_view) const override {
    ++compiled_;
    const auto bytes = std::as_bytes(std::span(program.text));
    return {bytes.begin(), bytes.end()};
  }
  std::string identity_ = "1";
  std::vector<std::string> flags_;
  mutable int compiled_ = 0;
};

TEST(CodeOf, CompilesAgainOnlyWhatIsNewOrDamaged) {
  const os::TemporaryFolder folder;
  const DiskCache cache(folder.path() / "code");
  Counting compiler;
  EXPECT_FALSE(code_of(kProgram, "gfx1", compiler, cache).kept);
  const CompiledCode again = code_of(kProgram, "gfx1", compiler, cache);
  EXPECT_TRUE(again.kept);
  EXPECT_EQ(again.image.size(), kProgram.text.size());
  EXPECT_EQ(compiler.compiled_, 1);
  compiler.identity_ = "2";
  code_of(kProgram, "gfx1", compiler, cache);
  EXPECT_EQ(compiler.compiled_, 2);
  compiler.flags_ = {"-O1"};
  code_of(kProgram, "gfx1", compiler, cache);
  EXPECT_EQ(compiler.compiled_, 3);
  const auto entry = cache.file(key_of(kProgram, "gfx1", compiler));
  std::filesystem::resize_file(entry, std::filesystem::file_size(entry) - 1);
  EXPECT_FALSE(code_of(kProgram, "gfx1", compiler, cache).kept);
  EXPECT_EQ(compiler.compiled_, 4);
  EXPECT_TRUE(code_of(kProgram, "gfx1", compiler, cache).kept);
}

// PTX as compilers write it, after NVIDIA's "PTX ISA".
TEST(CodeInfo, ReadsPtx) {
  const std::string_view ptx = R"(
.version 7.8
.target sm_80 // .entry in a comment( .param .u64 a )
.visible .func helper(.param .b32 a) { ret; }
.visible .entry none
()
;
.visible .entry none()
{ ret; }
.entry bare { ret; }
.weak .entry _Z3addIfEvPT_S1_(
	.param .u64 .ptr .shared .align 4 p0, // a comment, with (signs)
	.param .align 8 .b8 p1[24],
	.param .f64 p2
)
.maxntid 64, 2, 1
.minnctapersm 2
{ ld.param.u64 %rd1, [p0]; }
)";
  const auto kernels = kernels_of(std::as_bytes(std::span(ptx)));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "none");
  EXPECT_TRUE(kernels[0].parameters.empty());
  EXPECT_EQ(kernels[1].name, "bare");
  EXPECT_EQ(kernels[2].name, "add<float>");
  ASSERT_EQ(kernels[2].parameters.size(), 3u);
  EXPECT_EQ(kernels[2].parameters[0].bytes, 8u);
  EXPECT_EQ(kernels[2].parameters[0].kind, Parameter::Kind::Pointer);
  EXPECT_EQ(kernels[2].parameters[1].bytes, 24u);
  EXPECT_EQ(kernels[2].parameters[2].bytes, 8u);
  EXPECT_EQ(kernels[2].most_threads, 128u);
}

TEST(CodeInfo, SaysHowATemplateGetsCode) {
  std::vector<KernelInfo> kernels(1);
  kernels[0].name = "twice<float>";
  EXPECT_EQ(&find_kernel(kernels, "twice<float>"), kernels.data());
  EXPECT_ERROR(
      find_kernel(kernels, "twice<int>"), InvalidArgument,
      "the source has no kernel 'twice<int>'; it has twice<float>; a template has code only where the "
      "source instantiates it: 'template __global__ void twice<int>(...);'");
  EXPECT_ERROR(find_kernel({}, "twice<int>"), InvalidArgument, "it has none; a template");
  try {
    find_kernel({}, "twice");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).ends_with("it has none")) << error.what();
  }
}

// Every cut of a code object is refused or read, and nothing else happens.
TEST(CodeInfo, RefusesDamage) {
  EXPECT_ERROR(kernels_of({}), Format, "neither a code object nor PTX");
  if (!clang_compiler().refusal("gfx1100").empty()) GTEST_SKIP() << clang_compiler().refusal("gfx1100");
  const std::vector<std::byte> code = clang_compiler().compile(kProgram, "gfx1100");
  for (size_t size = 0; size < code.size(); size += 7) {
    try {
      kernels_of(std::span(code).first(size));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Format);
    }
  }
  for (size_t i = 0; i < code.size(); ++i) {
    std::vector<std::byte> changed = code;
    changed[i] ^= std::byte{0xff};
    try {
      kernels_of(changed);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Format);
    }
  }
}

}  // namespace
}  // namespace beeswax::gpu::rtc
