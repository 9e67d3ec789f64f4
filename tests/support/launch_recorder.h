// SPDX-License-Identifier: Apache-2.0
// LaunchRecorder: which of a GPU's kernels were launched.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/gpu.h"

namespace beeswax::test {

class LaunchRecorder final : public gpu::LaunchHooks {
 public:
  std::vector<std::string> names;
  /// The process's; it records from the first call on.
  static LaunchRecorder& instance() {
    static LaunchRecorder hooks;
    gpu::launch_hooks.store(&hooks);
    return hooks;
  }
  /// How many of their names have this in them.
  int64_t count(std::string_view part) const {
    return std::ranges::count_if(
        names, [&](const std::string& name) { return name.find(part) != std::string::npos; });
  }
  void begin(gpu::Gpu& /*gpu*/, const gpu::Submitted& work) noexcept override {
    names.push_back(work.kernel.name);
  }
  void end(gpu::Gpu& /*gpu*/, const gpu::Submitted& /*work*/, bool /*taken*/) noexcept override {}
  void waited(gpu::Gpu& /*gpu*/, const gpu::DeviceStream& /*stream*/) noexcept override {}
};

}  // namespace beeswax::test
