// SPDX-License-Identifier: Apache-2.0
// Products through vendors' libraries, or through their stand-ins.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "backends/gpu/blas/blas.h"
#include "backends/gpu/hooks.h"
#include "fake_blas/fake_blas.h"

namespace beeswax::test {

inline std::string stand_in(const std::string& name) { return BW_BINARY_DIR "/lib-fake/lib" + name + ".so"; }

/// The control of a stand-in, which is opened where it is not yet.
inline fake::BlasControl& blas_control(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(::dlerror());
  return *reinterpret_cast<fake::BlasControlOf>(::dlsym(handle, "fake_blas_control"))();
}

/// Counts launches by name, those through libraries among them, from when it is set.
class CountLaunches final : public gpu::LaunchHooks {
 public:
  static CountLaunches& get() {
    static auto* hooks = new CountLaunches;
    gpu::launch_hooks.store(hooks);
    return *hooks;
  }
  int64_t of(const std::string& kernel) {
    const std::scoped_lock lock(mutex_);
    return counts_[kernel];
  }
  void begin(gpu::Gpu&, const gpu::Submitted& work) noexcept override {
    const std::scoped_lock lock(mutex_);
    ++counts_[work.kernel.name];
  }
  void end(gpu::Gpu&, const gpu::Submitted&, bool) noexcept override {}
  void waited(gpu::Gpu&, const gpu::DeviceStream&) noexcept override {}

 private:
  std::mutex mutex_;
  std::map<std::string, int64_t> counts_;
};

}  // namespace beeswax::test
