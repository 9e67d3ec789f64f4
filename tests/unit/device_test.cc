// SPDX-License-Identifier: Apache-2.0
#include "beeswax/device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

TEST(Device, ParsesAndPrints) {
  for (const char* text : {"cpu", "cuda:0", "cuda:7", "rocm:0", "emu:gfx1100", "emu:gfx90a"})
    EXPECT_EQ(Device::parse(text).to_string(), text);
  EXPECT_EQ(Device::parse("cuda").to_string(), "cuda:0");
  EXPECT_EQ(Device::parse("emu:gfx942").arch(), "gfx942");
  EXPECT_EQ(Device::parse("rocm:3").ordinal(), 3);
  EXPECT_EQ(Device::parse("cpu"), Device());
}

TEST(Device, RefusesTheRest) {
  for (const char* text :
       {"", "gpu", "cpu:0", "cuda:", "cuda:-1", "cuda:-0", "cuda:x", "cuda:0x", "cuda:256", "emu",
        "emu:", "emu:1100", "emu:gfx", "emu:gfx1100:0", "emu:gfx11000000000000", "rocm:0 "})
    EXPECT_ERROR(Device::parse(text), InvalidArgument, "(accepted: cpu, cuda:0, rocm:0, emu:gfx1100)");
  // A message goes on behind a zero byte.
  EXPECT_ERROR(Device::parse(std::string_view("cpu\0x", 5)), InvalidArgument, "'cpu?x' is not a device: ");
}

// Drivers are opened once in a process: the libraries named here, which do not exist.
void without_drivers() {
  setenv("BEESWAX_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
  setenv("BEESWAX_HIP_LIBRARY", "/nowhere/libamdhip64.so.6", 1);
}

// The default device is one thread's; no GPU is needed to name one.
TEST(Device, DefaultIsTheThreads) {
  without_drivers();
  EXPECT_EQ(Device::default_device(), Device::cpu());
  const Device nowhere = Device::parse("rocm:255");
  std::thread([&] {
    nowhere.make_default();
    EXPECT_EQ(Device::default_device(), nowhere);
    EXPECT_THROW(Tensor::zeros({2}, DType::F32), Error);
    // Lists that index are host data.
    const Tensor x = Tensor::arange(0, 4, DType::I32, Device::cpu());
    EXPECT_EQ(x.i(std::vector<int>{2, 0}).to_vec<int32_t>(), (std::vector<int32_t>{2, 0}));
    EXPECT_EQ((x + 1).device(), Device::cpu());
  }).join();
  EXPECT_EQ(Device::default_device(), Device::cpu());
}

TEST(Device, MissingDriversSayWhatToInstall) {
  without_drivers();
  EXPECT_ERROR(Tensor::zeros({2}, DType::F32, Device::parse("cuda:0")), Device,
               "libcuda not found; install NVIDIA's driver");
  EXPECT_ERROR(Tensor::zeros({2}, DType::F32, Device::parse("rocm:0")), Device,
               "libamdhip64 not found; install AMD's HIP runtime");
  for (const DeviceInfo& info : list_devices()) {
    if (info.device != "cuda" && info.device != "rocm") continue;
    EXPECT_FALSE(info.usable);
    EXPECT_NE(info.reason.find("not found; install"), std::string::npos) << info.reason;
  }
}

}  // namespace
}  // namespace beeswax
