// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backends/gpu/hooks.h"
#include "backends/gpu/launch.h"
#include "beeswax/tensor.h"
#include "bench/gpu/tools.h"
#include "bench/median.h"

namespace beeswax::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kElements = 256;  // of f32: 1 KiB
constexpr int kCalls = 200;         // that drivers queue without waiting for the device
constexpr int kPairs = 101;

// Seconds of one call on the host; the device is idle before, and its work is not waited for.
template <class Body>
double host_seconds(const Body& body, const Device& device) {
  const auto start = Clock::now();
  for (int i = 0; i < kCalls; ++i) body();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count() / kCalls;
  device.synchronize();
  return seconds;
}

// What a Tensor call launched last.
class Watch final : public gpu::LaunchHooks {
 public:
  void begin(gpu::Gpu&, const gpu::Submitted& work) noexcept override {
    launched = &work.kernel;
    shape_of_it = work.shape;
    ++launches;
  }
  void end(gpu::Gpu&, const gpu::Submitted&, bool) noexcept override {}
  void waited(gpu::Gpu&, const gpu::DeviceStream&) noexcept override {}
  const gpu::Kernel* launched = nullptr;
  gpu::LaunchShape shape_of_it;
  int launches = 0;
};

}  // namespace

int run_host_cost(const Device& device, const std::string& json_path) {
  std::vector<float> values(kElements, 1.5F);
  const Tensor a = Tensor::from_vec(values, {kElements}, device);
  const Tensor b = Tensor::from_vec(values, {kElements}, device);
  const Tensor y = Tensor::zeros({kElements}, DType::F32, device);
  gpu::Gpu& gpu = gpu::Gpu::of(device);

  Watch watch;
  gpu::LaunchHooks* before = gpu::launch_hooks.exchange(&watch);
  static_cast<void>(a + b);
  gpu::launch_hooks.store(before);
  if (before != nullptr || watch.launches != 1)
    fail(ErrorKind::Unsupported, "bench", "the call is to be one launch, without BEESWAX_TRACE");
  const gpu::Kernel& kernel = *watch.launched;
  gpu::BinaryArgs arguments{};
  arguments.a = a.storage().data();
  arguments.b = b.storage().data();
  arguments.y = y.storage().data();
  arguments.count = kElements;
  arguments.report = gpu::reporter(gpu, kernel);
  const gpu::StreamHandle stream = gpu.current().handle();
  const auto launch = [&] {
    gpu.driver().launch(kernel.function, watch.shape_of_it, &arguments, sizeof(arguments), stream);
  };
  const auto call = [&] { static_cast<void>(a + b); };
  gpu.use();
  launch();
  device.synchronize();
  if (y.to_vec<float>() != (a + b).to_vec<float>())
    fail(ErrorKind::Internal, "bench", "the bare launch of ", kernel.name, " is not the call's");

  std::vector<double> calls, launches, ratios;
  for (int i = -5; i < kPairs; ++i) {  // the first do not count
    const double first = i % 2 == 0 ? host_seconds(call, device) : host_seconds(launch, device);
    const double second = i % 2 == 0 ? host_seconds(launch, device) : host_seconds(call, device);
    if (i < 0) continue;
    calls.push_back(i % 2 == 0 ? first : second);
    launches.push_back(i % 2 == 0 ? second : first);
    ratios.push_back(calls.back() / launches.back());
  }
  std::printf("%-20s %10s %10s %8s\n%-20s %10.3f %10.3f %8.2f\n", "operation", "call us", "launch us",
              "ratio", "add f32 256", median(calls) * 1e6, median(launches) * 1e6, median(ratios));
  if (!json_path.empty()) {
    const nlohmann::json out = {{"operation", "add f32 256"},
                                {"device", gpu.properties().name},
                                {"kernel", kernel.name},
                                {"call_seconds", median(calls)},
                                {"launch_seconds", median(launches)},
                                {"call_to_launch", median(ratios)},
                                {"pairs", kPairs},
                                {"calls_of_a_sample", kCalls}};
    std::ofstream(json_path) << out.dump(1) << "\n";
  }
  return 0;
}

}  // namespace beeswax::bench
