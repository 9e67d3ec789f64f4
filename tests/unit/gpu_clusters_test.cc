// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks on Hopper, over the fake libcuda: products whose k is cut into parts and long rows; what
// is launched, and what happens where the driver does not take clusters.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"

namespace beeswax::test {
namespace {

struct Launched {
  std::string kernel;
  unsigned blocks = 0;
  bool programmatic = false;
} launched;

Tensor product(const Device& device) {
  return Tensor::zeros({64, 4096}, DType::F16, device)
      .matmul(Tensor::zeros({4096, 1024}, DType::F16, device));
}

class GpuClusters : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_code_for("sm_90")) GTEST_SKIP() << "built without sm_90, whose code ptxas makes";
  }
  // Calls test(control, device) in a process of its own with a device of sm_90.
  template <class Test>
  void on_hopper(const Test& test) {
    run_apart([&] {
      ::setenv("BEESWAX_BLAS", "own", 1);
      const FakeGpu fake = fake_cuda("sm_90");
      fake::Control& control = fake.control();
      control.run = [](const fake::Launch& launch) {
        launched = {launch.kernel, launch.blocks[0], launch.programmatic};
      };
      test(control, fake.device());
      return "";
    });
  }
};

TEST_F(GpuClusters, PartsOfATileAreACluster) {
  on_hopper([](fake::Control&, const Device& device) {
    (void)product(device);
    // 1024 rows of the exchanged product in tiles of 128, each by the 8 blocks of a cluster.
    EXPECT_EQ(launched.kernel, "gemm_wgmma_f16_64_tt");
    EXPECT_EQ(launched.blocks, 64u);
    EXPECT_TRUE(launched.programmatic);
  });
}

TEST_F(GpuClusters, ConvolutionsOfStrideOneAreProductsOfPlaces) {
  on_hopper([](fake::Control&, const Device& device) {
    const auto conv = [&](const Shape& image, const Shape& kernel, const ConvOptions& options) {
      Tensor::zeros(image, DType::BF16, device).conv2d(Tensor::zeros(kernel, DType::BF16, device), options);
      return launched.kernel;
    };
    EXPECT_EQ(conv({2, 64, 56, 56}, {128, 64, 3, 3}, {.padding = 1}), "conv_wgmma_bf16_128x128");
    EXPECT_EQ(launched.blocks, 4u);  // the units of the device
    EXPECT_EQ(conv({1, 64, 4, 4}, {128, 64, 3, 3}, {.padding = 1}), "conv_wgmma_bf16_128x64");
    EXPECT_EQ(launched.blocks, 1u);
    // Too few channels, strides, groups.
    EXPECT_EQ(conv({2, 3, 56, 56}, {128, 3, 3, 3}, {.padding = 1}).substr(0, 13), "conv_mma_bf16");
    EXPECT_EQ(conv({2, 64, 56, 56}, {128, 64, 3, 3}, {.padding = 1, .stride = 2}).substr(0, 13),
              "conv_mma_bf16");
    EXPECT_EQ(conv({2, 128, 56, 56}, {128, 64, 3, 3}, {.padding = 1, .groups = 2}).substr(0, 13),
              "conv_mma_bf16");
  });
}

TEST_F(GpuClusters, WithoutThemATileIsOneBlock) {
  on_hopper([](fake::Control& control, const Device& device) {
    control.cluster_blocks = 0;
    (void)product(device);
    EXPECT_EQ(launched.blocks, 4u);  // the units of the device, which go from tile to tile
  });
}

// Their code is of PTX 8.1, which drivers take since CUDA 12.1.
TEST_F(GpuClusters, LongRowsAreOverThemWhereTheDriverTakesTheirCode) {
  const auto last_kernel = [&](int version) {
    on_hopper([version](fake::Control& control, const Device& device) {
      control.version = version;
      (void)Tensor::zeros({2, 65536}, DType::F16, device).softmax(-1);
      EXPECT_EQ(launched.kernel, version < 12010 ? "softmax_apply_f16" : "softmax_spread_f16");
    });
  };
  last_kernel(12000);
  last_kernel(12010);
}

TEST_F(GpuClusters, ARefusedLaunchNamesTheKernel) {
  on_hopper([](fake::Control& control, const Device& device) {
    set_fault(control, "cuLaunchKernelEx", 3, 701);  // behind those that fill the operands
    EXPECT_ERROR(product(device), Device, "launching the kernel gemm_wgmma_f16_64_tt of matmul on cuda:0");
    (void)product(device);  // the device goes on
  });
}

}  // namespace
}  // namespace beeswax::test
