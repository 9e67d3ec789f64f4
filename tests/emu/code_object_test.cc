// SPDX-License-Identifier: Apache-2.0
// Code objects: metadata, descriptors, relocations and globals agree with the source and with LLVM's own
// reader; broken and foreign files are refused.
#include "emu/code_object.h"

#include <gtest/gtest.h>

#include <cstring>
#include <regex>

#include "emu/support/compile.h"

using namespace emu;
using namespace emu::test;

namespace {

constexpr const char* kSource = R"(
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter = 7;
__device__ int zeros[100];
__device__ int* pointer = &counter;
extern "C" __global__ void add(const float* a, float* c, int n, short s) {
  int i = global_x();
  if (i < n) c[i] = a[i] + table[i & 3] + *pointer + s + zeros[i];
}
extern "C" __global__ __launch_bounds__(192) void stage(float* c) {
  __shared__ float x[192];
  x[thread_x()] = c[thread_x()];
  barrier();
  c[thread_x()] = x[191 - thread_x()];
}
)";

constexpr const char* kFunctions = R"(
__device__ __attribute__((noinline)) int local(int x) { asm volatile("" : "+v"(x)); return x + 1; }
extern "C" __device__ int printf(const char*, ...);
extern "C" __device__ void* __printf_alloc(unsigned) { return nullptr; }
extern "C" __global__ void call(int* c) {
  c[thread_x()] = local(thread_x());
  printf("a: %d, b\n", c[0]);
}
)";

class OnChip : public testing::TestWithParam<const char*> {};

uint64_t number_after(const std::string& text, const std::string& key) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(key + ":\\s+(\\d+)"))) throw std::runtime_error("no " + key);
  return std::stoull(match[1]);
}

TEST_P(OnChip, MetadataAndDescriptors) {
  EMU_NEEDS_CLANG();
  const auto file = compile(kSource, GetParam());
  const Chip& chip = *find_chip(GetParam());
  const CodeObject object = CodeObject::read(file);
  EXPECT_EQ(object.version, 5u);
  EXPECT_EQ(object.target(), GetParam());
  EXPECT_EQ(elf_size(file.data()), file.size());

  Memory memory(1 << 24);
  const Image image(file, chip, memory);
  EXPECT_EQ(image.kernels().size(), 2u);
  const Kernel* add = image.find_kernel("add");
  const Kernel* stage = image.find_kernel("stage");
  ASSERT_TRUE(add != nullptr && stage != nullptr);
  EXPECT_EQ(add->wavefront_size, chip.wave_size());
  EXPECT_EQ(add->group_segment_bytes, 0u);
  EXPECT_EQ(stage->group_segment_bytes, 768u);
  EXPECT_EQ(stage->max_flat_workgroup_size, 192u);
  EXPECT_EQ(stage->kernarg_bytes, 8u);
  ASSERT_GE(add->arguments.size(), 5u);
  EXPECT_EQ(add->arguments[0].kind, "global_buffer");
  EXPECT_EQ(add->arguments[2].offset, 16u);
  EXPECT_EQ(add->arguments[2].size, 4u);
  EXPECT_EQ(add->arguments[3].offset, 20u);
  EXPECT_EQ(add->arguments[3].size, 2u);
  EXPECT_EQ(add->arguments[4].kind, "hidden_block_count_x");
  EXPECT_TRUE(add->arguments[4].hidden());
  // Enable the kernarg pointer (property bit 3); rsrc2 bits 1 to 5 count the user registers it takes.
  EXPECT_TRUE(add->properties & 8);
  EXPECT_GE(add->rsrc2 >> 1 & 31, 2u);
  EXPECT_EQ((add->properties >> 10 & 1) != 0, chip.wave_size() == 32);
  EXPECT_EQ(image.where(reinterpret_cast<uint64_t>(add->code) + 4), "add+0x4");
  EXPECT_GE(add->code, image.text());
  EXPECT_LE(add->code + add->code_bytes, image.text() + image.text_bytes());
}

TEST_P(OnChip, AgreesWithReadelf) {
  EMU_NEEDS_CLANG();
  if (std::string(EMU_READELF).empty()) GTEST_SKIP() << "no llvm-readelf";
  const auto file = compile(kSource, GetParam());
  const TemporaryFile kept(".hsaco", file);
  const std::string notes = output_of(std::string(EMU_READELF) + " --notes " + kept.path());
  const std::string symbols = output_of(std::string(EMU_READELF) + " --dyn-syms -W " + kept.path());
  const CodeObject object = CodeObject::read(file);
  ASSERT_EQ(object.kernels.size(), 2u);
  size_t at = 0;
  for (const Kernel& kernel : object.kernels) {
    at = notes.find(".args", at + 1);
    ASSERT_NE(at, std::string::npos);
    const std::string rest = notes.substr(at);
    EXPECT_EQ(kernel.kernarg_bytes, number_after(rest, "\\.kernarg_segment_size"));
    EXPECT_EQ(kernel.group_segment_bytes, number_after(rest, "\\.group_segment_fixed_size"));
    EXPECT_EQ(kernel.private_segment_bytes, number_after(rest, "\\.private_segment_fixed_size"));
    EXPECT_EQ(kernel.sgpr_count, number_after(rest, "\\.sgpr_count"));
    EXPECT_EQ(kernel.vgpr_count, number_after(rest, "\\.vgpr_count"));
    EXPECT_EQ(kernel.wavefront_size, number_after(rest, "\\.wavefront_size"));
    // "Num: Value Size Type ... Name"
    std::smatch match;
    ASSERT_TRUE(std::regex_search(symbols, match,
                                  std::regex("([0-9a-f]{16})\\s+(\\d+) FUNC.* " + kernel.name + "\n")));
    EXPECT_EQ(reinterpret_cast<uint64_t>(kernel.code), std::stoull(match[1], nullptr, 16));
    EXPECT_EQ(kernel.code_bytes, std::stoull(match[2]));
  }
}

TEST_P(OnChip, GlobalsAndRelocations) {
  EMU_NEEDS_CLANG();
  Memory memory(1 << 24);
  {
    const Image image(compile(kSource, GetParam()), *find_chip(GetParam()), memory);
    const auto* table = image.find_global("table");
    const auto* counter = image.find_global("counter");
    const auto* pointer = image.find_global("pointer");
    const auto* zeros = image.find_global("zeros");
    ASSERT_TRUE(table != nullptr && counter != nullptr && pointer != nullptr && zeros != nullptr);
    EXPECT_EQ(table->bytes, 16u);
    const float expected[] = {1, 2, 3, 4};
    EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(table->address), expected, 16), 0);
    EXPECT_EQ(*reinterpret_cast<const int*>(counter->address), 7);
    EXPECT_EQ(*reinterpret_cast<const uint64_t*>(pointer->address), counter->address);
    EXPECT_EQ(zeros->bytes, 400u);
    EXPECT_EQ(reinterpret_cast<const int*>(zeros->address)[99], 0);
    EXPECT_TRUE(memory.valid(zeros->address, 400));
    EXPECT_EQ(*memory.initialized(zeros->address + 399), 1);
    EXPECT_EQ(image.find_global("add.kd"), nullptr);
  }
  EXPECT_EQ(memory.live_blocks(), 0u);
}

TEST_P(OnChip, LocalFunctionsAndFormats) {
  EMU_NEEDS_CLANG();
  Memory memory(1 << 24);
  const Image image(compile(kFunctions, GetParam(), "-mprintf-kind=buffered"), *find_chip(GetParam()),
                    memory);
  const uint64_t call = image.find_function("call"), local = image.find_function("_Z5locali");
  EXPECT_EQ(call, reinterpret_cast<uint64_t>(image.find_kernel("call")->code));
  ASSERT_NE(local, 0u);
  EXPECT_EQ(image.where(local + 4), "_Z5locali+0x4");
  EXPECT_EQ(image.find_function("table"), 0u);
  ASSERT_EQ(image.print_formats().size(), 1u);
  EXPECT_EQ(image.print_formats().begin()->second, "a: %d, b\n");
}

INSTANTIATE_TEST_SUITE_P(Chips, OnChip,
                         testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151",
                                         "gfx1200", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CodeObject, VersionsAndGenericTargets) {
  EMU_NEEDS_CLANG();
  for (unsigned version : {4u, 5u, 6u}) {
    const auto file = compile(kSource, "gfx1100", "-mcode-object-version=" + std::to_string(version));
    EXPECT_EQ(CodeObject::read(file).version, version);
  }
  const CodeObject generic = CodeObject::read(compile(kSource, "gfx11-generic", "-mcode-object-version=6"));
  std::string why;
  EXPECT_TRUE(generic.runs_on(*find_chip("gfx1100"), why));
  EXPECT_TRUE(generic.runs_on(*find_chip("gfx1151"), why));
  EXPECT_FALSE(generic.runs_on(*find_chip("gfx1201"), why));
}

LoadError::Kind kind_of(std::span<const std::byte> file, const char* chip) {
  Memory memory(1 << 24);
  try {
    const Image image(file, *find_chip(chip), memory);
  } catch (const LoadError& error) {
    EXPECT_EQ(memory.live_blocks(), 0u);
    return error.kind;
  }
  throw std::runtime_error("was loaded");
}

TEST(CodeObject, WrongTargetIsSaid) {
  EMU_NEEDS_CLANG();
  const auto file = compile(kSource, "gfx90a");
  EXPECT_EQ(kind_of(file, "gfx942"), LoadError::Kind::WrongTarget);
  EXPECT_EQ(kind_of(compile(kSource, "gfx90a:xnack+"), "gfx90a"), LoadError::Kind::WrongTarget);
  std::string why;
  EXPECT_FALSE(CodeObject::read(file).runs_on(*find_chip("gfx1100"), why));
  EXPECT_EQ(why, "built for gfx90a, the device is gfx1100");
  EXPECT_TRUE(
      CodeObject::read(compile(kSource, "gfx90a:xnack-:sramecc+")).runs_on(*find_chip("gfx90a"), why));
}

TEST(CodeObject, BrokenFilesAreRefused) {
  EMU_NEEDS_CLANG();
  const auto file = compile(kSource, "gfx1100");
  // Every prefix is refused: the section headers stand at the end.
  for (size_t size = 0; size < file.size(); size += size < 128 ? 1 : 97)
    EXPECT_EQ(kind_of(std::span(file).first(size), "gfx1100"), LoadError::Kind::Invalid) << size;
  auto changed = file;
  changed[18] = std::byte{62};  // x86-64
  EXPECT_EQ(kind_of(changed, "gfx1100"), LoadError::Kind::Invalid);
  changed = file;
  changed[8] = std::byte{1};  // version 3
  EXPECT_EQ(kind_of(changed, "gfx1100"), LoadError::Kind::Invalid);
  // An undefined symbol.
  EXPECT_EQ(kind_of(compile("extern __attribute__((weak, visibility(\"default\"))) __device__ int there;"
                            "__global__ void f(int* x) { *x = there; }",
                            "gfx1100"),
                    "gfx1100"),
            LoadError::Kind::Invalid);
}

}  // namespace
