// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks on Hopper, over the fake libcuda: products whose k is cut into parts and long rows; and
// convolutions there: what is launched, and what happens where the driver does not take clusters.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"
#include "support/reduced_precision.h"

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

TEST_F(GpuClusters, ConvolutionsAreProductsOfPlaces) {
  on_hopper([](fake::Control&, const Device& device) {
    const auto conv = [&](const Shape& image, const Shape& kernel, const ConvOptions& options,
                          DType dtype = DType::BF16) {
      Tensor::zeros(image, dtype, device).conv2d(Tensor::zeros(kernel, dtype, device), options);
      return launched.kernel;
    };
    EXPECT_EQ(conv({2, 64, 56, 56}, {128, 64, 3, 3}, {.padding = 1}), "conv_wgmma_bf16_128x128");
    EXPECT_EQ(launched.blocks, 4u);  // the units of the device
    EXPECT_EQ(conv({1, 64, 4, 4}, {128, 64, 3, 3}, {.padding = 1}), "conv_wgmma_bf16_128x64");
    EXPECT_EQ(launched.blocks, 1u);
    EXPECT_EQ(conv({2, 64, 56, 56}, {128, 64, 3, 3}, {.padding = 1, .stride = 2}), "conv_wgmma_bf16_128x64");
    EXPECT_EQ(conv({2, 128, 56, 56}, {128, 64, 3, 3}, {.padding = 1, .groups = 2}), "conv_wgmma_bf16_64x256");
    EXPECT_EQ(conv({2, 64, 56, 56}, {128, 64, 3, 3}, {.padding = 1}, DType::F8E4M3),
              "conv_wgmma_f8e4m3_128x128");
    // f32: 51 tiles go evenly enough on four blocks, 53 are cut.
    EXPECT_EQ(conv({2, 64, 56, 56}, {128, 64, 3, 3}, {.padding = 1}, DType::F32), "conv_lines_128");
    EXPECT_EQ(launched.blocks, 4u);
    EXPECT_EQ(conv({2, 64, 57, 57}, {128, 64, 3, 3}, {.padding = 1}, DType::F32), "conv_lines_join_128");
    EXPECT_EQ(launched.blocks, 3u);
    // Too few channels, groups that begin within a pack, and strides so long that a copy of the image has
    // more than windows see.
    EXPECT_EQ(conv({2, 3, 56, 56}, {128, 3, 3, 3}, {.padding = 1}).substr(0, 13), "conv_mma_bf16");
    EXPECT_EQ(conv({2, 122, 56, 56}, {128, 61, 3, 3}, {.padding = 1, .groups = 2}).substr(0, 13),
              "conv_mma_bf16");
    EXPECT_EQ(conv({2, 128, 56, 56}, {128, 128, 2, 2}, {.stride = 3}).substr(0, 13), "conv_mma_bf16");
    Tensor::zeros({2, 64, 28, 28}, DType::F16, device)
        .conv_transpose2d(Tensor::zeros({64, 128, 4, 4}, DType::F16, device), {.padding = 1, .stride = 2});
    EXPECT_EQ(launched.kernel.substr(0, 15), "conv_wgmma_f16_");
  });
}

TEST_F(GpuClusters, LargeProductsOfRoundedOperandsAreConvolutions) {
  on_hopper([](fake::Control&, const Device& device) {
    const auto product = [&](DType dtype, int64_t size) {
      Tensor::zeros({size, size}, dtype, device).matmul(Tensor::zeros({size, size}, dtype, device));
      return launched.kernel;
    };
    EXPECT_EQ(product(DType::F8E4M3, 1024), "conv_wgmma_f8e4m3_128x256");
    EXPECT_EQ(product(DType::F8E4M3, 1000), "gemm_mma_f8e4m3");
    EXPECT_EQ(product(DType::F32, 1024).substr(0, 11), "gemm_lines_");
    const ReducedPrecision allowed(true);
    EXPECT_EQ(product(DType::F32, 1024), "conv_wgmma_tf32_128x256");
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
