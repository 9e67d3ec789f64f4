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
      EXPECT_EQ(image.size(), bundle.unpacked_bytes(target, module));
      EXPECT_LT(bundle.packed_bytes(target, module), image.size());
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
    EXPECT_EQ(name("sm_90", 1), "ptx_90a");
  }
  EXPECT_EQ(name("sm_90", has("sm_90") ? 2 : 1), "ptx_80");
  EXPECT_TRUE(Bundle::is_for("ptx_90a", "sm_90"));
  EXPECT_TRUE(Bundle::is_for("sm_90", "sm_90"));
  EXPECT_FALSE(Bundle::is_for("ptx_80", "sm_80"));
  EXPECT_FALSE(Bundle::is_for("ptx_90a", "sm_80"));
}

TEST(Bundle, FinishedCodeOfSm90AndNewerWaits) {
  for (const std::string_view target : {"sm_90", "sm_100", "sm_120"}) EXPECT_TRUE(Bundle::waits(target));
  for (const std::string_view target : {"sm_80", "ptx_80", "ptx_90a", "gfx90a", "gfx1100"})
    EXPECT_FALSE(Bundle::waits(target)) << target;
}

// A small bundle: two chips that share one module of one byte, the second with a byte of its own.
struct SmallBundle {
  static constexpr size_t kTargets = 24, kModule = kTargets + 2 * 40, kStamp = kModule + 24,
                          kNames = kStamp + 12, kFrame = kNames + 4;
  // RFC 8878: the magic number, one segment of one byte, a last block that is not compressed, the byte.
  static constexpr std::array<uint8_t, 10> kOneByte = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, 'a'};
  std::vector<std::byte> file = std::vector<std::byte>(kFrame + kOneByte.size());

  SmallBundle() {
    std::memcpy(file.data(), "BWK2", 4);
    put(4, 2u);   // targets
    put(8, 1u);   // modules
    put(16, 1u);  // stamps
    put(20, 4u);  // bytes of names
    for (const size_t target : {size_t{0}, size_t{1}}) {
      const size_t at = kTargets + target * 40;
      std::memcpy(file.data() + at, target == 0 ? "gfx1" : "gfx2", 4);
      put(at + 20, 1u);                             // modules
      put(at + 36, static_cast<uint32_t>(target));  // stamps
    }
    put(kModule, uint64_t{kFrame});
    put(kModule + 8, static_cast<uint32_t>(kOneByte.size()));
    put(kModule + 12, 1u);
    put(kStamp + 8, uint32_t{'b'});
    std::memcpy(file.data() + kNames, "one", 4);
    std::memcpy(file.data() + kFrame, kOneByte.data(), kOneByte.size());
  }
  template <class T>
  void put(size_t at, T value) {
    std::memcpy(file.data() + at, &value, sizeof(value));
  }
};

TEST(Bundle, ChipsOfAClassShareModules) {
  const SmallBundle small;
  const Bundle bundle(small.file);
  EXPECT_EQ(bundle.targets(), (std::vector<std::string>{"gfx1", "gfx2"}));
  EXPECT_EQ(bundle.target_for("gfx2"), 1u);
  EXPECT_EQ(bundle.module_name(1, 0), "one");
  if (zstd_size(std::as_bytes(std::span(SmallBundle::kOneByte))) == 1u) {
    EXPECT_EQ(bundle.unpack(0, 0), std::vector{std::byte{'a'}});
    EXPECT_EQ(bundle.unpack(1, 0), std::vector{std::byte{'b'}});
    SmallBundle other;
    other.put(SmallBundle::kModule + 12, 2u);
    EXPECT_ERROR(Bundle(other.file).unpack(0, 0), Format, "size is wrong");
  } else {  // builds for other machines have no zstd
    EXPECT_ERROR(bundle.unpack(0, 0), Unsupported, "no zstd");
  }
}

TEST(Bundle, RefusesDamage) {
  const SmallBundle small;
  for (size_t size = 0; size < SmallBundle::kFrame; ++size)
    EXPECT_ERROR(Bundle(std::span(small.file).first(size)), Format, "damaged");
  const auto broken = [&](size_t at, auto value) {
    SmallBundle copy = small;
    copy.put(at, value);
    EXPECT_ERROR(Bundle{copy.file}, Format, "damaged");
  };
  constexpr size_t kTarget = SmallBundle::kTargets + 40, kModule = SmallBundle::kModule;
  broken(0, 'x');
  broken(3, '1');                     // what an older version packed
  broken(kTarget + 15, 'x');          // a name that does not end
  broken(kTarget + 20, 2u);           // modules of the target
  broken(kTarget + 24, 0xffffffffu);  // its first kernel
  broken(kTarget + 32, 1u);           // its first stamp
  broken(kTarget + 36, 2u);           // its stamps
  broken(kModule, uint64_t{1} << 60);
  broken(kModule + 8, 0xffffffffu);  // packed bytes
  broken(kModule + 12, 0u);          // bytes: the stamp lies behind them
  broken(kModule + 16, 4u);          // the name
  broken(SmallBundle::kStamp, 1u);   // the stamp's module
  broken(SmallBundle::kStamp + 4, 1u);
  broken(SmallBundle::kStamp + 8, 256u);
  broken(SmallBundle::kNames + 3, 'x');
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
