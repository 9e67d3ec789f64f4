// SPDX-License-Identifier: Apache-2.0
// bw_gpu_bench: times operations on a GPU beside the bandwidth of copying, measured before and after each
// case.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backends/gpu/blas/choice.h"
#include "backends/gpu/dnn/choice.h"
#include "beeswax/error.h"
#include "beeswax/system.h"
#include "bench/gpu/cases.h"
#include "bench/gpu/tools.h"
#include "bench/median.h"
#include "core/fail.h"

namespace beeswax::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSample = 0.02;

// Seconds of one call, of `times` submitted together: the host waits once.
double time_calls(const std::function<Tensor()>& body, int times, const Device& device) {
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) static_cast<void>(body());
  device.synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count() / times;
}

struct Timing {
  double seconds, copy_bytes_per_second;
};

Timing measure(const std::function<Tensor()>& body, const std::function<Tensor()>& copy, double copy_bytes,
               const Device& device) {
  const double once = std::min(time_calls(body, 1, device), time_calls(body, 1, device));
  const int times = std::max(1, static_cast<int>(kSample / std::max(once, 1e-6)));
  std::vector<double> seconds, copies;
  for (int i = 0; i < 7; ++i) {
    copies.push_back(copy_bytes / time_calls(copy, 10, device));
    seconds.push_back(time_calls(body, times, device));
  }
  return {median(seconds), median(copies)};
}

// Lets our kernels or a vendor's library do the operations.
void set_makers(bool vendor) {
  const gpu::VendorMode mode = vendor ? gpu::VendorMode::Vendor : gpu::VendorMode::Own;
  gpu::blas::set_mode(mode);
  gpu::dnn::set_mode(mode);
}

// Seconds of a case by our kernels and by a vendor's library, in turn.
void compare(const GpuCase& one, const Device& device, nlohmann::json& out) {
  const std::function<Tensor()> body = one.make(device);
  std::vector<double> own, vendor, ratios;
  int times = 0;
  for (int i = 0; i < 8; ++i) {  // the first does not count
    set_makers(false);
    const double ours = time_calls(body, std::max(times, 1), device);
    set_makers(true);
    const double theirs = time_calls(body, std::max(times, 1), device);
    if (i > 0) {
      own.push_back(ours);
      vendor.push_back(theirs);
      ratios.push_back(theirs / ours);
    }
    const double once = std::max(time_calls(body, 2, device), 1e-6);
    times = std::max(1, static_cast<int>(kSample / once));
  }
  const double of_own = median(own), of_vendor = median(vendor), ratio = median(ratios);
  std::printf("%-40s %10.1f %10.1f %10.2f\n", one.name.c_str(), of_own * 1e6, of_vendor * 1e6, ratio);
  out.push_back({{"operation", one.name},
                 {"own_seconds", of_own},
                 {"vendor_seconds", of_vendor},
                 {"vendor_to_own", ratio}});
}

int run_comparison(const std::string& device_name, const std::string& kind, const std::string& filter,
                   const std::string& json_path) {
  const Device device = Device::parse(device_name);
  nlohmann::json out = nlohmann::json::array();
  std::printf("libraries: %s\n%-40s %10s %10s %10s\n", list_libraries(device).c_str(), "operation", "own us",
              "vendor us", "vendor/own");
  for (const GpuCase& one : gpu_cases()) {
    if (!one.name.starts_with(kind) || one.name.find(filter) == std::string::npos) continue;
    compare(one, device, out);
    std::fflush(stdout);
  }
  if (!json_path.empty()) std::ofstream(json_path) << out.dump(1) << "\n";
  return 0;
}

int run(const std::string& device_name, const std::string& filter, const std::string& json_path) {
  const Device device = Device::parse(device_name);
  const Tensor source = Tensor::zeros({256 << 20}, DType::U8, device);
  const std::function<Tensor()> copy = [&] { return source.copy(); };
  nlohmann::json out = nlohmann::json::array();
  int missing = 0;
  std::printf("%-40s %10s %9s %10s %7s\n", "operation", "us", "GB/s", "TFLOP/s", "of copy");
  for (const GpuCase& one : gpu_cases()) {
    if (one.name.find(filter) == std::string::npos) continue;
    try {
      const std::function<Tensor()> body = one.make(device);
      const Timing t = measure(body, copy, 2.0 * (256 << 20), device);
      const double rate = one.bytes / t.seconds, share = rate / t.copy_bytes_per_second;
      std::printf("%-40s %10.1f %9.0f %10.1f %6.0f%%\n", one.name.c_str(), t.seconds * 1e6, rate * 1e-9,
                  one.flops / t.seconds * 1e-12, 100 * share);
      out.push_back({{"operation", one.name},
                     {"seconds", t.seconds},
                     {"bytes", one.bytes},
                     {"flops", one.flops},
                     {"copy_bytes_per_second", t.copy_bytes_per_second}});
    } catch (const Error& error) {
      ++missing;
      std::printf("%-40s %s\n", one.name.c_str(), error.what());
    }
    std::fflush(stdout);
  }
  if (!json_path.empty()) std::ofstream(json_path) << out.dump(1) << "\n";
  return missing == 0 ? 0 : 1;
}

}  // namespace
}  // namespace beeswax::bench

int main(int argc, char** argv) {
  CLI::App app("Times operations on a GPU");
  std::string device = "cuda:0", filter, json;
  app.add_option("--device", device, "Where to run")->capture_default_str();
  app.add_option("--filter", filter, "Only cases whose name holds this");
  app.add_option("--json", json, "Write the figures to a file");
  bool compare_blas = false, compare_dnn = false;
  app.add_flag("--compare-blas", compare_blas,
               "Time matrix products by our kernels and by the vendor's library in turn");
  app.add_flag("--compare-dnn", compare_dnn,
               "Time convolutions by our kernels and by the vendor's library in turn");
  bool host_cost = false, modules = false;
  app.add_flag("--host-cost", host_cost,
               "Time what a whole call on 1 KiB costs the host, and the driver's bare launch in turn");
  app.add_flag("--modules", modules,
               "Load each kernel module once: time of its first use, and the sizes of all targets");
  bool differences = false;
  app.add_flag("--differences", differences,
               "Compare the results of small cases with the CPU's; time nothing");
  std::string between;
  app.add_option("--between", between, "Time copies between the device and this one");
  app.footer(
      "\nExamples:\n  bw_gpu_bench\n  bw_gpu_bench --device rocm:0 --filter softmax --json out.json\n"
      "  bw_gpu_bench --device cuda:0 --between cuda:1\n");
  CLI11_PARSE(app, argc, argv);
  try {
    if (compare_blas) return beeswax::bench::run_comparison(device, "matmul ", filter, json);
    if (compare_dnn) return beeswax::bench::run_comparison(device, "conv ", filter, json);
    const beeswax::Device parsed = beeswax::Device::parse(device);
    if (parsed.is_cpu() && (host_cost || modules || differences))
      beeswax::fail(beeswax::ErrorKind::Unsupported, "bench", "the CPU launches no kernels; give a GPU");
    if (host_cost) return beeswax::bench::run_host_cost(parsed, json);
    if (modules) return beeswax::bench::run_modules(parsed, json);
    if (!between.empty()) return beeswax::bench::run_between(parsed, beeswax::Device::parse(between), json);
    if (differences) return beeswax::bench::run_differences(parsed, filter, json);
    return beeswax::bench::run(device, filter, json);
  } catch (const beeswax::Error& error) {
    std::fprintf(stderr, "bw_gpu_bench: %s\n", error.what());
    return beeswax::error_exit_code(error.kind());
  }
}
