// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launches over the fake libcuda: of kernels that wait themselves, and of no others.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/fake_faults.h"

namespace beeswax::test {
namespace {

struct Seen {
  int launches = 0, programmatic = 0;
} seen;

class GpuProgrammatic : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_code_for("sm_90")) GTEST_SKIP() << "built without sm_90, whose code ptxas makes";
  }
  // Launches three kernels in a process of its own, on a device of `arch` with a driver of `version`.
  void expect_programmatic(int launches, const char* arch, int version) {
    run_apart([&] {
      const FakeGpu fake = fake_cuda(arch);
      fake.control().version = version;
      fake.control().run = [](const fake::Launch& launch) {
        ++seen.launches;
        seen.programmatic += launch.programmatic ? 1 : 0;
      };
      (void)Tensor::zeros({64}, DType::F32, fake.device()).exp().sqrt();
      EXPECT_EQ(seen.launches, 3);
      EXPECT_EQ(seen.programmatic, launches);
      return "";
    });
  }
};

TEST_F(GpuProgrammatic, FinishedCodeOfSm90) { expect_programmatic(3, "sm_90", 12030); }

TEST_F(GpuProgrammatic, CodeThatTheDriverCompilesDoesNotWait) { expect_programmatic(0, "sm_89", 12040); }

TEST_F(GpuProgrammatic, DriversWhoseGraphsDoNotTakeThem) { expect_programmatic(0, "sm_90", 12020); }

}  // namespace
}  // namespace beeswax::test
