// SPDX-License-Identifier: Apache-2.0
// Opening a driver: libraries that lack functions, drivers that are too old, code that they refuse, several
// devices.
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/gpu/driver.h"
#include "beeswax/tensor.h"
#include "support/apart.h"
#include "support/expect_error.h"
#include "support/fake_gpu.h"
#include "support/library_without.h"

namespace beeswax::test {
namespace {

struct Row {
  std::string symbol;
  bool required;
};
const std::vector<Row>& cuda_rows() {
  static const std::vector<Row> rows = {
#define BW_CUDA(name, symbol, need, parameters) {#symbol, std::string_view(#need) == "Required"},
#include "backends/cuda/cuda_api.def"
  };
  return rows;
}
const std::vector<Row>& hip_rows() {
  static const std::vector<Row> rows = {
#define BW_HIP(name, need, parameters) {#name, std::string_view(#need) == "Required"},
#include "backends/hip/hip_api.def"
  };
  return rows;
}

void expect_missing_symbols_are_told(FakeGpu fake, DeviceKind kind, const std::vector<Row>& rows) {
  const std::string library = fake.library;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.symbol);
    fake.library = library_without(library, row.symbol);
    run_apart([&] {
      fake.control();
      const gpu::DriverState& state = gpu::driver_for(kind);
      EXPECT_EQ(state.driver == nullptr, row.required) << state.reason;
      if (row.required) {
        EXPECT_NE(state.reason.find(" lacks " + row.symbol + "; update it: install "), std::string::npos)
            << state.reason;
        EXPECT_ERROR(Tensor::zeros({1}, DType::F32, fake.device()), Device, "[device] " + fake.name);
      } else {
        EXPECT_EQ(Tensor::from_vec<float>({1, 2}, {2}, fake.device()).add(1).to_vec<float>().size(), 2u);
        expect_nothing_leaks(fake, fake.control());
      }
      return "";
    });
    std::filesystem::remove(fake.library);
  }
}

TEST(GpuOpen, MissingSymbolsOfCuda) {
  if (!gpu::Bundle::embedded().target_for("sm_86").has_value())
    GTEST_SKIP() << "built without NVIDIA's targets";
  expect_missing_symbols_are_told(fake_cuda(), DeviceKind::Cuda, cuda_rows());
}
TEST(GpuOpen, MissingSymbolsOfHip) {
  if (!gpu::Bundle::embedded().target_for("gfx1100").has_value()) GTEST_SKIP() << "built without gfx1100";
  expect_missing_symbols_are_told(fake_hip(), DeviceKind::Rocm, hip_rows());
}

TEST(GpuOpen, OldDriversAreRefused) {
  const auto reason = [](const FakeGpu& fake, DeviceKind kind, int version) {
    return run_apart([&] {
      fake.control().version = version;
      return gpu::driver_for(kind).reason;
    });
  };
  // cuDriverGetVersion is 1000 * major + 10 * minor, hipRuntimeGetVersion 10000000 * major + 100000 * minor +
  // patch.
  EXPECT_EQ(reason(fake_cuda(), DeviceKind::Cuda, 12000), "");
  EXPECT_NE(reason(fake_cuda(), DeviceKind::Cuda, 11040)
                .find("is too old: it is for CUDA 11.4, and the kernels need 12.0; install NVIDIA's driver "
                      "525 or newer"),
            std::string::npos);
  EXPECT_EQ(reason(fake_hip(), DeviceKind::Rocm, 50013601), "");
  EXPECT_NE(reason(fake_hip(), DeviceKind::Rocm, 40421401)
                .find("is too old: it is HIP 4.4, and 5.0 is needed; install"),
            std::string::npos);
}

TEST(GpuOpen, ACardWithoutKernelsIsNamed) {
  run_apart([] {
    const FakeGpu fake = fake_hip("gfx803");
    fake.control();
    EXPECT_ERROR(Tensor::zeros({1}, DType::F32, fake.device()), Unsupported,
                 "is a gfx803, for which no build has kernels: they are written for AMD's gfx9 to gfx12");
    EXPECT_ERROR(Tensor::zeros({1}, DType::F32, Device::parse("rocm:1")), Device, "finds 1 device");
    return "";
  });
}

// Finished code that the driver refuses gives way to PTX, with its own modules and kernels.
TEST(GpuOpen, RefusedCodeGivesWayToPtx) {
  const gpu::Bundle& bundle = gpu::Bundle::embedded();
  for (const std::string& target : bundle.targets()) {
    if (!target.starts_with("sm_")) continue;
    SCOPED_TRACE(target);
    const FakeGpu fake = fake_cuda(target);
    for (const int error : {1, 200, 209, 218, 801})
      run_apart([&] {
        fake::Control& control = fake.control();
        control.refuse_finished = error;
        gpu::Gpu& gpu = gpu::Gpu::of(fake.device());
        EXPECT_EQ(gpu.target(), target == "sm_90" ? "ptx_90a" : "ptx_80");
        // Products are the ones that have kernels for one target alone.
        const Tensor x = Tensor::zeros({512, 512}, DType::F16, fake.device());
        EXPECT_EQ(x.matmul(x).sum_all().to_dtype(DType::F32).to_vec<float>().size(), 1u);
        EXPECT_EQ(control.modules, gpu.modules_loaded());
        return "";
      });
    run_apart([&] {
      fake::Control& control = fake.control();
      control.refuse_finished = 209;
      control.refuse_text = 222;
      for (int i = 0; i < 2; ++i)
        EXPECT_ERROR(Tensor::ones({4}, DType::F32, fake.device()), Device,
                     "loading the module fill for ptx_80 on cuda:0; code for " + target +
                         " was refused: CUDA error 209");
      EXPECT_ERROR(Tensor::ones({4}, DType::F32, fake.device()), Device, "update the driver");
      control.refuse_text = 0;
      EXPECT_EQ(Tensor::ones({4}, DType::F32, fake.device()).to_vec<float>().size(), 4u);
      return "";
    });
  }
}

TEST(GpuOpen, RefusedCodeOfAmdIsNamed) {
  if (!gpu::Bundle::embedded().target_for("gfx1100").has_value()) GTEST_SKIP() << "built without gfx1100";
  run_apart([] {
    const FakeGpu fake = fake_hip();
    fake::Control& control = fake.control();
    control.refuse_finished = 209;
    EXPECT_ERROR(Tensor::ones({4}, DType::F32, fake.device()), Device,
                 "loading the module fill for gfx1100 on rocm:0");
    control.refuse_finished = 0;
    EXPECT_EQ(Tensor::ones({4}, DType::F32, fake.device()).to_vec<float>().size(), 4u);
    return "";
  });
}

// Every call of the driver finds the device that it is about in use, whatever was allocated where in between.
TEST(GpuOpen, TwoDevicesInTurn) {
  for (const FakeGpu& fake : fake_gpus())
    run_apart([&] {
      fake::Control& control = fake.control();
      control.devices = 2;
      const Device first = fake.device(), second = Device::parse(fake.name.substr(0, 5) + "1");
      {
        const Tensor a = Tensor::from_vec<float>({1, 2}, {2}, first),
                     b = Tensor::from_vec<float>({1, 2}, {2}, second);
        const Tensor kept = a.add(a);
        {
          const Tensor given = a.add(kept);
        }
        const Tensor fresh =
            Tensor::empty({1 << 20}, DType::F32, second);  // asks the second's driver for memory
        const Tensor again = a.add(a);                     // takes a kept block of the first
        gpu::Gpu::of(second).pool().trim();
        EXPECT_EQ(a.add(again).to_vec<float>().size() + b.add(b).to_vec<float>().size(), 4u);
      }
      EXPECT_EQ(control.misuses, 0) << control.misuse;
      return "";
    });
}

}  // namespace
}  // namespace beeswax::test
