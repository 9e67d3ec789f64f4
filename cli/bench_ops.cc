// SPDX-License-Identifier: Apache-2.0
// `beeswax bench ops`: operations on a device, timed, or counted on the software AMD GPU kernel by kernel.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beeswax/error.h"
#include "beeswax/tensor.h"
#include "bench/gpu/cases.h"
#include "bench/median.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/numbers.h"
#include "core/fail.h"
#include "core/os/library.h"

namespace beeswax::cli {
namespace {

struct OpsOptions {
  std::string device = "cpu", filter, size;
  int repeat = 5;
  bool json = false, counters = false;
};

using Clock = std::chrono::steady_clock;

// Of one call, of as many submitted together as take the time of a sample; the host waits once.
double seconds_of(const std::function<Tensor()>& body, int times, const Device& device) {
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) static_cast<void>(body());
  device.synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count() / times;
}
double median_seconds(const std::function<Tensor()>& body, int repeat, const Device& device) {
  constexpr double kSample = 0.02;
  const double once = seconds_of(body, 1, device);
  const int times = std::clamp(static_cast<int>(kSample / std::max(once, 1e-6)), 1, 1000);
  std::vector<double> samples;
  for (int i = 0; i < repeat; ++i) samples.push_back(seconds_of(body, times, device));
  return bench::median(samples);
}

/// The functions by which the software GPU counts for a program (emu/hip/report.cc).
class Counting {
 public:
  // The device is open, so its library is, and the system finds it by its name alone.
  Counting() : library_(kNames) {
    count_ = reinterpret_cast<void (*)(int)>(library_.symbol("beeswax_emu_count"));
    read_ = reinterpret_cast<size_t (*)(char*, size_t)>(library_.symbol("beeswax_emu_counters"));
    if (count_ == nullptr || read_ == nullptr)
      fail(ErrorKind::Unsupported, "bench",
           "the libbeeswax_emu.so in use has no counters for programs; build it anew with this command");
  }
  void start() const { count_(1); }
  nlohmann::json stop() const {
    count_(0);
    std::string text(read_(nullptr, 0), 0);
    read_(text.data(), text.size());
    text.resize(text.size() - 1);
    return nlohmann::json::parse(text);
  }

 private:
  static inline const std::vector<std::string> kNames = {"libbeeswax_emu.so"};
  os::Library library_;
  void (*count_)(int) = nullptr;
  size_t (*read_)(char*, size_t) = nullptr;
};

std::vector<bench::GpuCase> cases_of(const OpsOptions& options, const Device& device) {
  const bool is_small = options.size.empty() ? device.kind() == DeviceKind::Emu : options.size == "small";
  std::vector<bench::GpuCase> all = bench::gpu_cases(is_small ? bench::Sizes::Small : bench::Sizes::Large),
                              out;
  std::string names;
  for (bench::GpuCase& one : all) {
    names += "\n  " + one.name;
    if (one.name.find(options.filter) != std::string::npos) out.push_back(std::move(one));
  }
  if (out.empty())
    fail(ErrorKind::InvalidArgument, "bench", "no operation's name holds \"", options.filter,
         "\"; there are:", names);
  return out;
}

std::string short_count(double count) {
  char text[32];
  const char* unit = count < 1e5 ? "" : count < 1e8 ? "k" : "M";
  std::snprintf(text, sizeof(text), "%.*f%s", *unit == 0 ? 0 : 1,
                count / (count < 1e5   ? 1
                         : count < 1e8 ? 1e3
                                       : 1e6),
                unit);
  return text;
}

// Of one call: what there is for one launch is left as it is.
void print_counters(const std::string& name, const nlohmann::json& kernels) {
  std::printf("%s\n", name.c_str());
  for (const nlohmann::json& k : kernels) {
    const auto number = [&](const char* key) { return k.at(key).get<double>(); };
    const auto bytes = [&](const char* key) { return short_count(number(key)); };
    std::printf(
        "  %-44s %9s %8s %8s %8s %8s %8s %8s | %9s %9s %9s %9s %8s | %6.2f | %4.0f %4.0f %6.0f | %2.0f/%.0f "
        "%s\n",
        k.at("kernel").get<std::string>().c_str(), bytes("instructions").c_str(), bytes("valu").c_str(),
        bytes("salu").c_str(), bytes("matrix").c_str(), bytes("vmem").c_str(), bytes("smem").c_str(),
        bytes("lds").c_str(), bytes("global_read_bytes").c_str(), bytes("global_write_bytes").c_str(),
        bytes("lds_read_bytes").c_str(), bytes("lds_write_bytes").c_str(),
        bytes("lds_conflict_cycles").c_str(), number("lines_per_access"), number("vgprs"), number("sgprs"),
        number("lds_bytes"), number("waves_per_simd"), number("wave_slots"),
        k.at("occupancy_limit").get<std::string>().c_str());
  }
}

void count_ops(const OpsOptions& options, const Device& device, const std::vector<bench::GpuCase>& cases) {
  const Counting counting;
  nlohmann::json all = nlohmann::json::array();
  if (!options.json)
    std::printf("%-46s %9s %8s %8s %8s %8s %8s %8s | %9s %9s %9s %9s %8s | %6s | %4s %4s %6s | %s\n",
                "operation, its kernels", "instr.", "valu", "salu", "matrix", "vmem", "smem", "lds", "B read",
                "B written", "LDS read", "LDS wr.", "confl.", "lines", "vgpr", "sgpr", "LDS B",
                "waves, limit");
  for (const bench::GpuCase& one : cases) {
    const std::function<Tensor()> body = one.make(device);
    device.synchronize();
    counting.start();
    static_cast<void>(body());
    device.synchronize();
    const nlohmann::json counted = counting.stop();
    if (options.json) {
      if (all.empty()) all.push_back({{"units", counted.at("units")}});
      all.push_back({{"operation", one.name},
                     {"bytes", one.bytes},
                     {"flops", one.flops},
                     {"kernels", counted.at("kernels")}});
    } else {
      print_counters(one.name, counted.at("kernels"));
      std::fflush(stdout);
    }
  }
  if (options.json) std::printf("%s\n", json_text(all, 1).c_str());
}

void time_ops(const OpsOptions& options, const Device& device, const std::vector<bench::GpuCase>& cases) {
  nlohmann::json all = nlohmann::json::array();
  if (!options.json) std::printf("%-40s %12s %10s %10s\n", "operation", "us", "GB/s", "GFLOP/s");
  for (const bench::GpuCase& one : cases) {
    const double seconds = median_seconds(one.make(device), options.repeat, device);
    if (options.json) {
      all.push_back(
          {{"operation", one.name}, {"seconds", seconds}, {"bytes", one.bytes}, {"flops", one.flops}});
      continue;
    }
    std::printf("%-40s %12.1f %10.2f", one.name.c_str(), seconds * 1e6, one.bytes / seconds * 1e-9);
    if (one.flops > 0) std::printf(" %10.1f", one.flops / seconds * 1e-9);
    std::printf("\n");
    std::fflush(stdout);
  }
  if (options.json) std::printf("%s\n", json_text(all, 1).c_str());
}

void bench_ops(const OpsOptions& options) {
  const Device device = Device::parse(options.device);
  if (options.counters && device.kind() != DeviceKind::Emu)
    fail(ErrorKind::Unsupported, "bench",
         "only the software AMD GPU counts; give --device emu:gfx1100 or another emu device, not ",
         options.device);
  const std::vector<bench::GpuCase> cases = cases_of(options, device);
  // Opens the device, so that a missing one is said before anything is printed.
  static_cast<void>(Tensor::zeros({1}, DType::F32, device));
  options.counters ? count_ops(options, device, cases) : time_ops(options, device, cases);
}

}  // namespace

void add_bench_ops(CLI::App& bench) {
  CLI::App* command =
      bench.add_subcommand("ops", "Time operations on a device, or count what they do on the software GPU");
  const auto o = std::make_shared<OpsOptions>();
  command->add_option("--device", o->device, "Where to run: cpu, cuda:0, rocm:0, emu:gfx1100, ...")
      ->capture_default_str();
  command->add_option("--filter", o->filter, "Only operations whose name holds this text");
  command
      ->add_option("--size", o->size,
                   "large or small tensors (default: small on emu devices, large elsewhere)")
      ->check(CLI::IsMember({"large", "small"}));
  add_whole_number(command, "--repeat", o->repeat, 1, 1000, "Samples of each time; their median counts")
      ->capture_default_str();
  command->add_flag(
      "--counters", o->counters,
      "On an emu device: instructions by class, bytes by memory, LDS bank conflicts, cache lines of an "
      "access and occupancy of each kernel, for one call of each operation");
  command->add_flag("--json", o->json, "Print one JSON array, an object for each operation");
  command->footer(
      "\nTimes of an emu device are this computer's, not a card's; its counters are what carries over. "
      "`lines` are cache"
      "\nlines (128 bytes) of one access to memory; `waves` are those that a SIMD can hold, of its slots, "
      "and what"
      "\nallows no more. With --json the first object explains every counter.\n"
      "\nExamples:\n"
      "  beeswax bench ops --size small\n"
      "  beeswax bench ops --device cuda:0 --filter softmax\n"
      "  beeswax bench ops --device emu:gfx1100 --counters --filter \"matmul f16\"\n"
      "  beeswax bench ops --device emu:gfx90a --counters --json > before.json\n");
  command->callback([o] { bench_ops(*o); });
}

}  // namespace beeswax::cli
