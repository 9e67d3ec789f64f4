// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "backends/gpu/gpu.h"
#include "bench/gpu/tools.h"
#include "core/fail.h"

namespace beeswax::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds since `start`, which becomes now.
double lap(Clock::time_point& start) {
  const Clock::time_point now = Clock::now();
  return std::chrono::duration<double>(now - std::exchange(start, now)).count();
}

struct Size {
  size_t packed = 0, unpacked = 0;
};

nlohmann::json row_of_target(const gpu::Bundle& bundle, size_t target) {
  Size sum;
  for (size_t module = 0; module < bundle.module_count(target); ++module) {
    sum.packed += bundle.packed_bytes(target, module);
    sum.unpacked += bundle.unpacked_bytes(target, module);
  }
  const std::string name(bundle.target_name(target));
  const size_t kernels = bundle.kernel_names(target).size();
  std::printf("%-10s %8zu %8zu %12.1f %12.1f\n", name.c_str(), bundle.module_count(target), kernels,
              static_cast<double>(sum.packed) / 1024, static_cast<double>(sum.unpacked) / 1024);
  return {{"target", name},
          {"modules", bundle.module_count(target)},
          {"kernels", kernels},
          {"packed_bytes", sum.packed},
          {"bytes", sum.unpacked}};
}

// A driver may load a module's code only when the first function is asked for.
nlohmann::json row_of_module(gpu::Gpu& gpu, const gpu::Bundle& bundle, size_t target, size_t module) {
  const std::vector<std::string_view> kernels = bundle.kernel_names(target);
  const auto first = std::ranges::find_if(kernels, [&](std::string_view kernel) {
    return bundle.find(target, kernel)->module == static_cast<uint32_t>(module);
  });
  const gpu::Driver& driver = gpu.driver();
  const std::string name(bundle.module_name(target, module)), kernel(first == kernels.end() ? "" : *first);
  auto clock = Clock::now();
  const std::vector<std::byte> image = bundle.unpack(target, module);
  const double unpacking = lap(clock);
  gpu::Module loaded(driver);
  gpu::check(driver, driver.load_module(image.data(), loaded.out()), "loading the module " + name);
  const double loading = lap(clock);
  gpu::FunctionHandle function = nullptr;
  if (!kernel.empty())
    gpu::check(driver, driver.find_function(loaded.get(), kernel.c_str(), &function),
               "looking for the kernel " + kernel);
  const double finding = lap(clock);
  std::printf("%-24s %12.1f %12.1f %10.2f %10.2f %10.2f %10.2f\n", name.c_str(),
              static_cast<double>(bundle.packed_bytes(target, module)) / 1024,
              static_cast<double>(image.size()) / 1024, unpacking * 1e3, loading * 1e3, finding * 1e3,
              (unpacking + loading + finding) * 1e3);
  return {{"module", name},          {"packed_bytes", bundle.packed_bytes(target, module)},
          {"bytes", image.size()},   {"unpack_seconds", unpacking},
          {"load_seconds", loading}, {"first_function_seconds", finding}};
}

}  // namespace

int run_modules(const Device& device, const std::string& json_path) {
  gpu::Gpu& gpu = gpu::Gpu::of(device);
  const gpu::Bundle& bundle = gpu::Bundle::embedded();
  const std::vector<std::string> targets = bundle.targets();
  const auto found = std::ranges::find(targets, gpu.target());
  if (found == targets.end())
    fail(ErrorKind::Unsupported, "bench", device, " is a ", gpu.properties().arch,
         ", whose modules are compiled at first use; the library has none to load");
  const auto target = static_cast<size_t>(found - targets.begin());
  gpu.use();
  nlohmann::json out = {{"device", gpu.properties().name}, {"target", *found}};
  std::printf("%-24s %12s %12s %10s %10s %10s %10s\n", (*found + " module").c_str(), "packed KiB", "KiB",
              "unpack ms", "load ms", "kernel ms", "all ms");
  for (size_t module = 0; module < bundle.module_count(target); ++module)
    out["modules"].push_back(row_of_module(gpu, bundle, target, module));
  std::printf("\n%-10s %8s %8s %12s %12s\n", "target", "modules", "kernels", "packed KiB", "KiB");
  for (size_t i = 0; i < targets.size(); ++i) out["targets"].push_back(row_of_target(bundle, i));
  if (!json_path.empty()) std::ofstream(json_path) << out.dump(1) << "\n";
  return 0;
}

}  // namespace beeswax::bench
