// SPDX-License-Identifier: Apache-2.0
// A GPU behind a fake driver, for tests that run in processes of their own (support/apart.h).
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "backends/gpu/bundle.h"
#include "backends/gpu/gpu.h"
#include "beeswax/device.h"
#include "fake_driver/fake_driver.h"

namespace beeswax::test {

struct FakeGpu {
  std::string name;      ///< of the device: "cuda:0"
  std::string variable;  ///< that names the library
  std::string library;
  std::string arch;

  Device device() const { return Device::parse(name); }
  friend void PrintTo(const FakeGpu& gpu, std::ostream* out) { *out << gpu.name; }
  /// What the driver library will be for this process, and its control.
  fake::Control& control() const {
    ::setenv(variable.c_str(), library.c_str(), 1);
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(::dlerror());
    auto& control = *reinterpret_cast<fake::ControlOf>(::dlsym(handle, "fake_driver_control"))();
    std::snprintf(control.arch, sizeof(control.arch), "%s", arch.c_str());
    return control;
  }
};

inline FakeGpu fake_cuda(std::string arch = "sm_86") {
  return {"cuda:0", "BEESWAX_CUDA_LIBRARY", BW_BINARY_DIR "/lib-fake/libcuda.so", std::move(arch)};
}
inline FakeGpu fake_hip(std::string arch = "gfx1100") {
  return {"rocm:0", "BEESWAX_HIP_LIBRARY", BW_BINARY_DIR "/lib-fake/libamdhip64.so", std::move(arch)};
}
/// Whether this build has finished code for a chip; that of NVIDIA's, ptxas makes.
inline bool has_code_for(std::string_view target) {
  const std::vector<std::string> targets = gpu::Bundle::embedded().targets();
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}
/// Those that this build has kernels for.
inline std::vector<FakeGpu> fake_gpus() {
  std::vector<FakeGpu> out;
  for (const FakeGpu& gpu : {fake_cuda(), fake_hip()})
    if (gpu::Bundle::embedded().target_for(gpu.arch).has_value()) out.push_back(gpu);
  return out;
}

inline void set_fault(fake::Control& control, const char* call, int64_t nth, int error, bool on = false) {
  std::snprintf(control.fail_call, sizeof(control.fail_call), "%s", call);
  control.failed[0] = 0;
  control.fail_error = error;
  control.fail_on = on;
  control.fail_nth = nth;
}
inline void clear_fault(fake::Control& control) { set_fault(control, "", 0, 0); }

/// What is alive when no tensor is: the devices' own streams, slots and buffers, and the modules they loaded.
inline void expect_nothing_leaks(const FakeGpu& fake, fake::Control& control,
                                 std::vector<Device> devices = {}) {
  devices.push_back(fake.device());
  int64_t streams = 0, pinned = 0, events = 0, modules = 0;
  for (const Device& device : devices) {
    gpu::Gpu& gpu = gpu::Gpu::of(device);
    EXPECT_EQ(gpu.pool().statistics().used_bytes, 0u);
    gpu.pool().trim();
    streams += gpu.streams().count();
    pinned += static_cast<int64_t>(gpu.streams().slots().pages() + gpu.streams().buffers());
    events += static_cast<int64_t>(gpu.streams().events());
    modules += gpu.modules_loaded();
  }
  EXPECT_EQ(control.allocations, 0);
  EXPECT_EQ(control.streams, streams);
  EXPECT_EQ(control.pinned, pinned);
  EXPECT_EQ(control.events, events);
  EXPECT_EQ(control.graphs, 0);
  EXPECT_EQ(control.instances, 0);
  EXPECT_EQ(control.modules, modules);
  EXPECT_EQ(control.misuses, 0) << control.misuse;
}

}  // namespace beeswax::test
