// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launches over the fake libcuda: of kernels that wait themselves, and of no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

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
    const std::vector<std::string> targets = gpu::Bundle::embedded().targets();
    if (std::find(targets.begin(), targets.end(), "sm_90") == targets.end())
      GTEST_SKIP() << "built without sm_90, whose code ptxas makes";
  }
  // Runs `program` in a process of its own with a device of `arch` and a driver of `version`.
  void on(const char* arch, int version, const std::function<void(const Device&)>& program,
          const std::function<void()>& expect) {
    run_apart([&] {
      ::setenv("BEESWAX_BLAS", "own", 1);
      const FakeGpu fake = fake_cuda(arch);
      fake.control().version = version;
      fake.control().run = [](const fake::Launch& launch) {
        ++seen.launches;
        seen.programmatic += launch.programmatic ? 1 : 0;
      };
      program(fake.device());
      expect();
      return "";
    });
  }
};

void three_launches(const Device& device) { (void)Tensor::zeros({64}, DType::F32, device).exp().sqrt(); }
void expect_three(int programmatic) {
  EXPECT_EQ(seen.launches, 3);
  EXPECT_EQ(seen.programmatic, programmatic);
}

TEST_F(GpuProgrammatic, FinishedCodeOfSm90) {
  on("sm_90", 12030, three_launches, [] { expect_three(3); });
}

TEST_F(GpuProgrammatic, CodeThatTheDriverCompilesDoesNotWait) {
  on("sm_89", 12040, three_launches, [] { expect_three(0); });
}

TEST_F(GpuProgrammatic, DriversWhoseGraphsDoNotTakeThem) {
  on("sm_90", 12020, three_launches, [] { expect_three(0); });
}

TEST_F(GpuProgrammatic, ClustersToo) {
  on(
      "sm_90", 12040,
      [](const Device& device) {
        (void)Tensor::zeros({64, 4096}, DType::F16, device)
            .matmul(Tensor::zeros({4096, 1024}, DType::F16, device));
      },
      [] {
        EXPECT_GT(seen.launches, 0);
        EXPECT_EQ(seen.programmatic, seen.launches);
      });
}

}  // namespace
}  // namespace beeswax::test
