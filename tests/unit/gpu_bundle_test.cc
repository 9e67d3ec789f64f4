// SPDX-License-Identifier: Apache-2.0
// The kernels inside the library: every target has every kernel that operations ask for, and damage is found.
#include "backends/gpu/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "backends/gpu/gpu.h"
#include "backends/gpu/unpack.h"
#include "backends/gpu/walk.h"
#include "support/expect_error.h"

namespace beeswax::gpu {
namespace {

TEST(Bundle, HasEveryKernelThatOperationsAskFor) {
  const Bundle& bundle = Bundle::embedded();
  for (size_t target = 0; target < bundle.targets().size(); ++target) {
    const std::vector<std::string> asked = KernelTable::all_names(bundle.target_name(target));
    EXPECT_GT(asked.size(), 500u);
    for (const std::string& name : asked)
      EXPECT_TRUE(bundle.find(target, name).has_value()) << name << " for " << bundle.target_name(target);
    // And nothing that no operation asks for.
    for (const std::string_view name : bundle.kernel_names(target))
      EXPECT_NE(std::find(asked.begin(), asked.end(), name), asked.end()) << name;
  }
}

TEST(Bundle, EveryModuleUnpacks) {
  const Bundle& bundle = Bundle::embedded();
  for (size_t target = 0; target < bundle.targets().size(); ++target) {
    ASSERT_GT(bundle.module_count(target), 0u);
    for (size_t module = 0; module < bundle.module_count(target); ++module) {
      const std::vector<std::byte> image = bundle.unpack(target, module);
      if (bundle.target_name(target).starts_with("ptx")) {
        EXPECT_EQ(image.back(), std::byte{0});  // the driver takes text
      } else {
        EXPECT_EQ(std::memcmp(image.data(),
                              "\x7f"
                              "ELF",
                              4),
                  0);
      }
    }
  }
}

TEST(Bundle, ChoosesTheNearestCode) {
  const Bundle& bundle = Bundle::embedded();
  const auto name = [&](std::string_view arch, int skip = 0) -> std::string {
    const auto target = bundle.target_for(arch, skip);
    return target.has_value() ? std::string(bundle.target_name(*target)) : "none";
  };
  const std::vector<std::string> targets = bundle.targets();
  const auto has = [&](std::string_view target) {
    return std::find(targets.begin(), targets.end(), target) != targets.end();
  };
  EXPECT_EQ(name("gfx1100"), has("gfx1100") ? "gfx1100" : "none");
  EXPECT_EQ(name("gfx1100", 1), "none");
  EXPECT_EQ(name("gfx803"), "none");
  EXPECT_EQ(name("sm_75"), "none");
  if (!has("ptx_80")) GTEST_SKIP() << "built without NVIDIA's targets";
  EXPECT_EQ(name("sm_86"), has("sm_80") ? "sm_80" : "ptx_80");
  EXPECT_EQ(name("sm_120"), has("sm_120") ? "sm_120" : "ptx_80");
  if (has("sm_90")) {
    EXPECT_EQ(name("sm_90"), "sm_90");
    EXPECT_EQ(name("sm_90", 1), "ptx_80");
  }
}

// A small bundle of one target without kernels, and every way to cut it.
TEST(Bundle, RefusesDamage) {
  std::vector<std::byte> file(20 + 32 + 24 + 4);
  const auto put = [&](size_t at, auto value) { std::memcpy(file.data() + at, &value, sizeof(value)); };
  std::memcpy(file.data(), "BWK1", 4);
  put(4, 1u);   // targets
  put(8, 1u);   // modules
  put(16, 4u);  // bytes of names
  std::memcpy(file.data() + 20, "gfx1", 4);
  put(20 + 20, 1u);                // modules of the target
  put(52, uint64_t{file.size()});  // an empty module at the end
  std::memcpy(file.data() + 76, "one", 4);
  EXPECT_EQ(Bundle(file).module_name(0, 0), "one");
  // RFC 8878: the magic number, one segment, which is empty, and one last block. Builds for other machines
  // have no zstd.
  constexpr std::array<uint8_t, 9> kEmptyFrame = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0};
  if (zstd_size(std::as_bytes(std::span(kEmptyFrame))) == 0u) {
    EXPECT_ERROR(Bundle(file).unpack(0, 0), Format, "size is wrong");
  } else {
    EXPECT_ERROR(Bundle(file).unpack(0, 0), Unsupported, "no zstd");
  }
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_ERROR(Bundle(std::span(file).first(size)), Format, "damaged");
  const auto broken = [&](size_t at, auto value) {
    std::vector<std::byte> copy = file;
    std::memcpy(copy.data() + at, &value, sizeof(value));
    EXPECT_ERROR(Bundle{copy}, Format, "damaged");
  };
  broken(0, 'x');
  broken(52, uint64_t{1} << 60);
  broken(60, 0xffffffffu);  // packed bytes
  broken(68, 4u);           // the name
  broken(40, 2u);           // modules of the target
  broken(44, 0xffffffffu);  // its first kernel
  broken(35, 'x');          // a name that does not end
  broken(79, 'x');
}

TEST(Walk, DividesLikeTheProcessor) {
  for (const uint32_t d :
       {1u, 2u, 3u, 5u, 7u, 64u, 641u, 65535u, 65537u, 0x3fffffffu, 0x40000000u, 0x7fffffffu}) {
    const Divisor by = divisor_of(d);
    for (uint32_t n :
         {0u, 1u, 2u, d - 1, d, d + 1, 2 * d - 1, 0x3fffffffu, 0x40000000u, 0x7ffffffeu, 0x7fffffffu}) {
      n &= 0x7fffffffu;
      EXPECT_EQ(divide(n, by), n / d) << n << " / " << d;
    }
  }
}

// Pieces cover every element once, whatever axis is too long.
TEST(Walk, SplitsLargeNests) {
  for (const Shape& shape : {Shape({5, int64_t{1} << 31}), Shape({int64_t{1} << 33}), Shape({3000000, 2000}),
                             Shape({3, 2, int64_t{3} << 30})}) {
    std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
    int64_t stride = 2;
    for (size_t axis = strides.size(); axis-- > 0; stride *= shape[static_cast<int>(axis)] + 1)
      strides[axis] = stride;
    const Layout layout(shape, strides, 0);
    int64_t covered = 0;
    for_each_part(Nest<1>({&layout}),
                  [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
                    EXPECT_LE(part.count, kMostElements);
                    EXPECT_EQ(first, covered);
                    covered += part.count;
                    // The offset of element `first`, by division.
                    int64_t expected = 0, rest = first;
                    for (size_t axis = strides.size(); axis-- > 0; rest /= shape[static_cast<int>(axis)])
                      expected += rest % shape[static_cast<int>(axis)] * strides[axis];
                    EXPECT_EQ(offset[0], expected);
                  });
    EXPECT_EQ(covered, shape.elem_count());
  }
}

}  // namespace
}  // namespace beeswax::gpu
