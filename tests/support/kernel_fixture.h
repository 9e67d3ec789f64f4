// SPDX-License-Identifier: Apache-2.0
// Tests of kernels that are compiled at run time: for each compiler, on the device that the run names.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "beeswax/kernel.h"
#include "beeswax/tensor.h"
#include "core/os/folders.h"
#include "support/devices.h"

namespace beeswax::test {

// Nothing compiled by an earlier run: the cache lies in a folder of this one.
inline const os::TemporaryFolder kCodeCache;
inline const int kCodeCacheIsNamed = setenv("BEESWAX_CODE_CACHE", kCodeCache.path().c_str(), 1);

class KernelTest : public testing::TestWithParam<KernelCompiler> {
 protected:
  void SetUp() override {
    device_ = devices().front();
    if (device_.is_cpu())
      GTEST_SKIP() << "the CPU runs no kernels; tests named device/ run this on the software GPU";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (GetParam() == KernelCompiler::Vendor)
      GTEST_SKIP() << "the vendors' libraries are not built for sanitizers";
#endif
    options_.compiler = GetParam();
    try {
      compile("extern \"C\" __global__ void nothing() {}", "nothing");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      GTEST_SKIP() << error.what();
    }
  }
  Kernel compile(std::string_view source, std::string_view name) const {
    return Kernel::compile(device_, source, name, options_);
  }
  /// Element i is i / 8 - 20: exact in any order.
  Tensor numbers(int n) const {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8 - 20;
    return Tensor::from_vec(values, {n}, device_);
  }
  Device device_;
  KernelOptions options_;
};

}  // namespace beeswax::test
