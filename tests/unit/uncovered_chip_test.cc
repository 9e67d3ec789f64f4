// SPDX-License-Identifier: Apache-2.0
// A chip that the library carries no code for: its kernels are compiled when they are first used, here for
// one of the software GPU's chips that this build left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "backends/gpu/bundle.h"
#include "backends/gpu/driver.h"
#include "backends/gpu/rtc/compile.h"
#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "core/os/folders.h"

namespace beeswax {
namespace {

const os::TemporaryFolder kCache;
const int kCacheIsNamed = setenv("BEESWAX_CODE_CACHE", kCache.path().c_str(), 1);

class UncoveredChip : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu::driver_for(DeviceKind::Emu).driver == nullptr)
      GTEST_SKIP() << gpu::driver_for(DeviceKind::Emu).reason;
    const gpu::Bundle& bundle = gpu::Bundle::embedded();
    const auto uncovered = [&](const char* chip) { return !bundle.target_for(chip).has_value(); };
    const auto* const found = std::ranges::find_if(kChips, uncovered);
    if (found == std::end(kChips)) GTEST_SKIP() << "this build has code for every chip";
    if (gpu::rtc::compiler_of_ours(*found) == nullptr) GTEST_SKIP() << "no compiler is installed";
    device_ = Device::parse(std::string("emu:") + *found);
  }
  static constexpr const char* kChips[] = {"gfx1151", "gfx1200", "gfx906"};
  Device device_;
};

// The same bits as on the CPU, as for chips with code of their own.
TEST_F(UncoveredChip, RunsKernelsCompiledAtFirstUse) {
  const Tensor x = Tensor::randn({37, 65}, DType::F32, Device::cpu()), y = x.to_device(device_);
  EXPECT_EQ(y.exp().to_vec<float>(), x.exp().to_vec<float>());
  EXPECT_EQ((y.t() * 2.5).to_vec<float>(), (x.t() * 2.5).to_vec<float>());
  EXPECT_EQ(y.sum(1).to_vec<float>(), x.sum(1).to_vec<float>());
  EXPECT_FALSE(std::filesystem::is_empty(kCache.path()));
}

TEST_F(UncoveredChip, IsReportedAsUsable) {
  const std::vector<DeviceInfo> devices = list_devices();
  const auto found = std::ranges::find(devices, device_.to_string(), &DeviceInfo::device);
  ASSERT_NE(found, devices.end());
  EXPECT_TRUE(found->usable) << found->reason;
  EXPECT_NE(found->detail.find("kernels: compiled at first use by clang++"), std::string::npos)
      << found->detail;
}

TEST(CompilerOfOurs, KnowsWhatItIsWrittenFor) {
  for (const char* chip : {"gfx803", "sm_75", "cpu", ""})
    EXPECT_EQ(gpu::rtc::compiler_of_ours(chip), nullptr) << chip;
}

}  // namespace
}  // namespace beeswax
