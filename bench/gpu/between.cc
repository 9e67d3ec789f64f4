// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "beeswax/tensor.h"
#include "bench/gpu/tools.h"
#include "bench/median.h"
#include "core/fail.h"

namespace beeswax::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSample = 0.02;
constexpr int kMostCalls = 500;

struct Transfer {
  const char* way;
  Device from, to;
  bool both;  // and back at the same time
};

// Seconds of one copy, of `times` submitted together.
double time_copies(const Transfer& one, const Tensor& here, const Tensor& there, int times) {
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) {
    static_cast<void>(here.to_device(one.to));
    if (one.both) static_cast<void>(there.to_device(one.from));
  }
  one.from.synchronize();
  one.to.synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count() / times;
}

double measure(const Transfer& one, int64_t bytes) {
  const Tensor here = Tensor::arange(0, bytes / 4, DType::U32, one.from);
  const Tensor there = here.to_device(one.to);
  if (there.to_device(Device::cpu()).to_bytes() != here.to_device(Device::cpu()).to_bytes())
    fail(ErrorKind::Internal, "bench", "what was copied to ", one.to, " is not what ", one.from, " had");
  const double once = std::min(time_copies(one, here, there, 1), time_copies(one, here, there, 1));
  const int times = std::clamp(static_cast<int>(kSample / once), 1, kMostCalls);
  std::vector<double> seconds;
  for (int i = 0; i < 7; ++i) seconds.push_back(time_copies(one, here, there, times));
  return median(seconds);
}

}  // namespace

int run_between(const Device& device, const Device& other, const std::string& json_path) {
  nlohmann::json out = nlohmann::json::array();
  std::printf("%-8s %-20s %12s %10s %9s\n", "way", "devices", "bytes", "us", "GB/s");
  for (const Transfer& one : {Transfer{"there", device, other, false}, Transfer{"back", other, device, false},
                              Transfer{"both", device, other, true}})
    for (const int64_t bytes : {int64_t{4} << 10, int64_t{64} << 10, int64_t{1} << 20, int64_t{16} << 20,
                                int64_t{256} << 20, int64_t{1} << 30}) {
      const double seconds = measure(one, bytes);
      const double rate = static_cast<double>(one.both ? 2 * bytes : bytes) / seconds;
      std::printf("%-8s %-20s %12lld %10.1f %9.1f\n", one.way,
                  (one.from.to_string() + " " + one.to.to_string()).c_str(), static_cast<long long>(bytes),
                  seconds * 1e6, rate * 1e-9);
      std::fflush(stdout);
      out.push_back({{"way", one.way}, {"bytes", bytes}, {"seconds", seconds}, {"bytes_per_second", rate}});
    }
  if (!json_path.empty()) std::ofstream(json_path) << out.dump(1) << "\n";
  return 0;
}

}  // namespace beeswax::bench
