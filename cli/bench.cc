// SPDX-License-Identifier: Apache-2.0
// `beeswax bench model`: prefill and decode speed of a model file, or of random weights in the shape of a
// known model, on any device, beside the floor that the device sets. On the CPU that is the weights' bytes
// over the bandwidth of reading, or their products over the peak of the dot instructions; on a GPU, where
// only copying is measured, the weights' bytes over the bandwidth of that. Measured between the runs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beeswax/error.h"
#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "bench/ceilings.h"
#include "bench/median.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "core/fail.h"
#include "core/os/cpu.h"
#include "core/os/memory.h"
#include "core/shown.h"
#include "generate/throughput.h"
#include "models/box.h"
#include "models/model_sizes.h"
#include "models/pass_cost.h"
#include "models/random_weights.h"

namespace beeswax::cli {
namespace {

struct BenchOptions {
  std::string model, arch, type = "q4_0", device = "cpu";
  std::vector<int64_t> prompts = {512}, tokens = {128};
  int64_t batch = 512;
  int repeat = 5, threads = 0;
  bool json = false;
};

/// A model and what is said about it.
struct Subject {
  std::string name, type;
  uint64_t bytes = 0;
  int64_t parameters = 0;
  double load_seconds = 0;
  std::shared_ptr<const io::GgufFile> file;
  std::unique_ptr<models::DescribedFile> described;
  std::unique_ptr<models::Model> model;
  const io::GgufFile& contents() const { return described ? described->file() : *file; }
};

/// A test in the field's words: pp512 runs a prompt of 512 tokens, tg128 generates 128 one by one.
struct Test {
  std::string name;
  int64_t tokens = 0;
  int64_t batch = 1;
};

struct Result {
  Test test;
  std::vector<double> seconds;
  double mean = 0, deviation = 0;  // tokens per second
  double floor = 0;                // tokens per second, where nothing but the floor counted
  double share = 0;                // of it that was reached
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What general.file_type says, or else the type that most bytes are of.
std::string type_of(const io::GgufFile& file) {
  const io::GgufValue* number = file.find("general.file_type");
  if (number != nullptr)
    for (const models::Mixture& mixture : models::mixtures())
      if (number->as_int() == mixture.file_type) return std::string(mixture.name);
  std::map<std::string_view, size_t> bytes;
  for (const io::GgufTensor& tensor : file.tensors()) bytes[tensor.type->name] += tensor.bytes.size();
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& pair) { return pair.second; });
  return most == bytes.end() ? "" : std::string(most->first);
}

Subject load(const BenchOptions& options, const Device& device, const DeviceInfo& info) {
  const int64_t context = std::max(*std::ranges::max_element(options.prompts),
                                   std::max<int64_t>(1, *std::ranges::max_element(options.tokens)));
  const Context made = {"bench", context, DType::F32, "a smaller -p or -n"};
  const auto start = std::chrono::steady_clock::now();
  Subject out;
  if (options.arch.empty()) {
    out.file = options.model.empty() ? models::open_box() : open_model(options.model);
    out.name = out.file->get_string("general.name", out.file->get_string("general.architecture"));
    out.type = type_of(*out.file);
    static_cast<void>(models::check_model(*out.file));  // the plainest reason first
    check_memory(*out.file, made, info);
    out.model = models::load_model(*out.file, context, device);
  } else {
    const models::Mixture& mixture = models::parse_mixture(options.type);
    const models::ModelSizes& sizes = models::find_sizes(options.arch);
    out.name = sizes.name;
    out.type = mixture.name;
    out.described = std::make_unique<models::DescribedFile>(models::describe_model(sizes, mixture), out.name);
    check_memory(out.contents(), made, info);
    out.model = models::load_model(models::RandomWeights(out.contents(), device), context);
  }
  for (const io::GgufTensor& tensor : out.contents().tensors()) {
    out.bytes += tensor.bytes.size();
    out.parameters += tensor.shape.elem_count();
  }
  device.synchronize();
  out.load_seconds = seconds_since(start);
  return out;
}

// Of what the bandwidth of reading is measured over.
int64_t array_bytes() {
  const int64_t beyond_caches = 2 * static_cast<int64_t>(os::last_level_cache_bytes());
  return std::min(std::max(int64_t{256} << 20, beyond_caches),
                  static_cast<int64_t>(os::physical_memory_bytes() / 32) / 4096 * 4096);
}

/// What a test cannot do without.
struct Work {
  double bytes = 0, quantized = 0, dense = 0;
};

Work work_of(const io::GgufFile& file, const Test& test) {
  Work out;
  const auto add = [&](int64_t passes, int64_t tokens) {
    const models::PassCost cost = models::pass_cost(file, tokens);
    const auto times = static_cast<double>(passes);
    out.bytes += times * cost.bytes;
    out.quantized += times * cost.quantized_macs;
    out.dense += times * cost.dense_macs;
  };
  add(test.tokens / test.batch, test.batch);
  if (test.tokens % test.batch != 0) add(1, test.tokens % test.batch);
  return out;
}

/// The device's rates, measured again whenever they are asked for.
class Floor {
 public:
  virtual ~Floor() = default;
  /// Seconds that the work takes at the device's present rates.
  virtual double seconds(const Work& work) = 0;
};

class CpuFloor final : public Floor {
 public:
  double seconds(const Work& work) override {
    std::vector<double> reads;
    for (int i = 0; i < 3; ++i) reads.push_back(rate(bench::Ceiling::Read, 0));
    const double reading = work.bytes / bench::median(reads);
    double computing = 0;
    constexpr double kSampleSeconds = 0.05;
    if (work.quantized > 0) computing += 2 * work.quantized / rate(bench::Ceiling::Int8Dot, kSampleSeconds);
    if (work.dense > 0) computing += 2 * work.dense / rate(bench::Ceiling::FmaF32, kSampleSeconds);
    return std::max(reading, computing);
  }

 private:
  double rate(bench::Ceiling ceiling, double seconds) {
    ceilings_.prepare(ceiling);
    return ceilings_.sample(ceiling, seconds);
  }
  bench::Ceilings ceilings_{array_bytes()};
};

class GpuFloor final : public Floor {
 public:
  // The software GPU copies a megabyte in the time that a card takes for gigabytes.
  GpuFloor(const Device& device, size_t memory_bytes)
      : device_(device),
        source_(Tensor::zeros({device.kind() == DeviceKind::Emu
                                   ? int64_t{1} << 20
                                   : std::min(int64_t{256} << 20, static_cast<int64_t>(memory_bytes / 64))},
                              DType::U8, device)) {
    static_cast<void>(seconds({}));  // loads the kernel, asks for memory
  }
  double seconds(const Work& work) override {
    constexpr int kCopies = 10;
    std::vector<double> rates;
    for (int i = 0; i < 3; ++i) {
      device_.synchronize();
      const auto start = std::chrono::steady_clock::now();
      for (int copy = 0; copy < kCopies; ++copy) static_cast<void>(source_.copy());
      device_.synchronize();
      rates.push_back(2.0 * kCopies * static_cast<double>(source_.elem_count()) / seconds_since(start));
    }
    return work.bytes / bench::median(rates);
  }

 private:
  Device device_;
  Tensor source_;
};

Result measure(const Subject& subject, const Test& test, int repeat, Floor& floor) {
  const Work work = work_of(subject.contents(), test);
  Result out;
  out.test = test;
  // A GPU loads kernels and asks its driver for memory where they are first needed: by other lengths of the
  // past, too. The CPU repacks weights some tokens after the first (kMakeAt in backends/cpu/stripes.h).
  constexpr int64_t kUntilRepacked = 17;
  const int64_t few = test.batch == 1 ? kUntilRepacked : test.batch;
  const int64_t first = subject.model->device().is_cpu() ? std::min(test.tokens, few) : test.tokens;
  static_cast<void>(generate::time_prefill(*subject.model, first, test.batch));
  static_cast<void>(floor.seconds(work));  // chooses how to measure
  std::vector<double> floors, shares, rates;
  double before = floor.seconds(work);
  const Progress progress(repeat);
  for (int i = 0; i < repeat; ++i) {
    progress.show(i, test.name);
    out.seconds.push_back(generate::time_prefill(*subject.model, test.tokens, test.batch));
    const double after = floor.seconds(work);
    floors.push_back((before + after) / 2);
    shares.push_back(floors.back() / out.seconds.back());
    rates.push_back(static_cast<double>(test.tokens) / out.seconds.back());
    before = after;
  }
  for (const double rate : rates) out.mean += rate / repeat;
  for (const double rate : rates) out.deviation += (rate - out.mean) * (rate - out.mean);
  out.deviation = repeat > 1 ? std::sqrt(out.deviation / (repeat - 1)) : 0;
  out.floor = static_cast<double>(test.tokens) / bench::median(floors);
  out.share = bench::median(shares);
  return out;
}

std::string count_text(int64_t count) {
  char text[32];
  const auto value = static_cast<double>(count);
  std::snprintf(text, sizeof(text), "%.2f %s", count >= 1'000'000'000 ? value * 1e-9 : value * 1e-6,
                count >= 1'000'000'000 ? "B" : "M");
  return text;
}

// "CPU", "cuda:0"
std::string backend_of(const Subject& subject) {
  const Device& device = subject.model->device();
  return device.is_cpu() ? "CPU" : device.to_string();
}

void print_row(const Subject& subject, const Result& result, bool heading) {
  if (heading)
    std::printf(
        "| %-28s | %10s | %10s | %-11s | %7s | %8s | %19s | %10s | %8s |\n"
        "| :--------------------------- | ---------: | ---------: | :---------- | ------: | -------: | "
        "------------------: | ---------: | -------: |\n",
        "model", "size", "params", "backend", "threads", "test", "t/s", "floor t/s", "of floor");
  char rate[48];
  std::snprintf(rate, sizeof(rate), "%.2f \xC2\xB1 %.2f", result.mean, result.deviation);
  // The sign takes two bytes and one column.
  std::printf("| %-28s | %10s | %10s | %-11s | %7s | %8s | %20s | %10.2f | %7.1f%% |\n",
              shown(join_text(subject.name, " ", subject.type)).c_str(), size_text(subject.bytes).c_str(),
              count_text(subject.parameters).c_str(), backend_of(subject).c_str(),
              subject.model->device().is_cpu() ? std::to_string(num_threads()).c_str() : "-",
              result.test.name.c_str(), rate, result.floor, 100 * result.share);
  std::fflush(stdout);
}

nlohmann::json json_of(const Subject& subject, const Result& result, const DeviceInfo& device) {
  nlohmann::json out = {
      {"model", subject.name},
      {"type", subject.type},
      {"random_weights", subject.described != nullptr},
      {"size_bytes", subject.bytes},
      {"parameters", subject.parameters},
      {"load_seconds", subject.load_seconds},
      {"backend", backend_of(subject)},
      {"device", device.name},
      {"detail", device.detail},
      {"test", result.test.name},
      {"tokens", result.test.tokens},
      {"batch", result.test.batch},
      {"seconds", result.seconds},
      {"tokens_per_second", result.mean},
      {"tokens_per_second_deviation", result.deviation},
      {"floor_tokens_per_second", result.floor},
      {"share_of_floor", result.share},
      {"floor_is", subject.model->device().is_cpu() ? "weights at the bandwidth of reading, or products"
                                                    : "weights at the bandwidth of copying"}};
  if (subject.model->device().is_cpu()) out["threads"] = num_threads();
  return out;
}

void bench_model(const BenchOptions& options) {
  if (!options.model.empty() && !options.arch.empty())
    fail(ErrorKind::InvalidArgument, "bench",
         "give either a model file, or --arch with the name of a known model for random weights");
  use_threads(options.threads);
  std::vector<Test> tests;
  for (const int64_t count : options.prompts)
    if (count > 0) tests.push_back({"pp" + std::to_string(count), count, options.batch});
  for (const int64_t count : options.tokens)
    if (count > 0) tests.push_back({"tg" + std::to_string(count), count, 1});
  if (tests.empty()) fail(ErrorKind::InvalidArgument, "bench", "-p 0 -n 0 leaves nothing to measure");

  const Device device = Device::parse(options.device);
  const DeviceInfo info = device_info(device);
  const Subject subject = load(options, device, info);
  std::unique_ptr<Floor> floor;
  if (device.is_cpu()) {
    floor = std::make_unique<CpuFloor>();
  } else {
    floor = std::make_unique<GpuFloor>(device, info.memory_bytes);
  }
  nlohmann::json all = nlohmann::json::array();
  for (size_t i = 0; i < tests.size(); ++i) {
    const Result result = measure(subject, tests[i], options.repeat, *floor);
    options.json ? all.push_back(json_of(subject, result, info)) : print_row(subject, result, i == 0);
  }
  if (options.json) std::printf("%s\n", json_text(all).c_str());
}

std::string footer() {
  std::string known;
  for (const models::ModelSizes& sizes : models::known_sizes())
    known.append(known.empty() ? "" : ", ").append(sizes.name);
  return join_text(
      "\nKnown to --arch: ", known,
      ".\nppN is a prompt of N tokens, tgN the generation of N tokens one by one, both from an empty context."
      "\nThe floor is what the weights cost on the device: their bytes at the bandwidth of reading, or their"
      "\nproducts at the peak of the CPU's dot instructions, whichever takes longer; on GPUs their bytes at "
      "the"
      "\nbandwidth of copying. Both are measured between the runs.\n"
      "\nExamples:\n"
      "  beeswax bench model\n"
      "  beeswax bench model model.gguf --device cuda:0\n"
      "  beeswax bench model --arch llama-8b --type q4_k_m\n"
      "  beeswax bench model --arch llama-1b --type q8_0 -p 128,512 -n 32 --repeat 3 --json\n");
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Measure speed");
  command->require_subcommand(1);
  command->footer(
      "\nExamples:\n  beeswax bench model --arch llama-1b --type q4_0\n"
      "  beeswax bench ops --device emu:gfx1100 --counters --filter softmax\n");
  add_bench_ops(*command);
  CLI::App* model = command->add_subcommand("model", "Measure the prefill and decode speed of a model");
  const auto o = std::make_shared<BenchOptions>();
  model
      ->add_option("model", o->model,
                   "A GGUF file or a Hugging Face folder (default: the small model in the box)")
      ->check(not_empty());
  CLI::Option* arch =
      model->add_option("--arch", o->arch, "Random weights in the shape of this model instead of a file")
          ->check(not_empty());
  model->add_option("--type", o->type, "Type of the random weights: q4_0, q4_k_m, q8_0, f16, ...")
      ->needs(arch)
      ->capture_default_str();
  add_whole_numbers(model, "-p,--prompt", o->prompts, 0, 1 << 20,
                    "Prompt lengths, separated by commas; 0: none");
  add_whole_numbers(model, "-n,--tokens", o->tokens, 0, 1 << 20,
                    "Numbers of tokens to generate, separated by commas; 0: none");
  add_whole_number(model, "--batch", o->batch, 1, 1 << 20, "Prompt tokens that run at a time")
      ->capture_default_str();
  add_whole_number(model, "--repeat", o->repeat, 1, 1000, "Runs of each test")->capture_default_str();
  model->add_option("--device", o->device, "Where to run: cpu, cuda:0, rocm:0, emu:gfx1100, ...")
      ->capture_default_str();
  add_whole_number(model, "--threads", o->threads, 1, 1024, "CPU threads (default: physical cores)");
  model->add_flag("--json", o->json, "Print one JSON array, an object for each test");
  model->footer(footer());
  model->callback([o] { bench_model(*o); });
}

}  // namespace beeswax::cli
