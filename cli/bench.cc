// SPDX-License-Identifier: Apache-2.0
// `beeswax bench model`: prefill and decode speed of a model file, or of random weights in the shape of a
// known model, beside the floor that this machine sets: the weights' bytes over the bandwidth of reading, or
// their products over the peak of the dot instructions, both measured between the runs.
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
#include "bench/ceilings.h"
#include "bench/median.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "core/fail.h"
#include "core/os/cpu.h"
#include "core/os/memory.h"
#include "generate/throughput.h"
#include "models/hf_folder.h"
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

// Dense weights are widened to f32 when they are loaded.
void check_memory(const io::GgufFile& file, const std::string& name) {
  uint64_t needed = 0;
  for (const io::GgufTensor& tensor : file.tensors())
    needed += tensor.type->quant ? tensor.bytes.size() : 4 * static_cast<uint64_t>(tensor.shape.elem_count());
  if (needed > os::physical_memory_bytes())
    fail(ErrorKind::TooLarge, "bench", name, " takes ", size_text(needed), ", and this machine has ",
         size_text(os::physical_memory_bytes()), "; take a smaller --arch or --type");
}

Subject load(const BenchOptions& options) {
  const int64_t context = std::max(*std::ranges::max_element(options.prompts),
                                   std::max<int64_t>(1, *std::ranges::max_element(options.tokens)));
  const auto start = std::chrono::steady_clock::now();
  Subject out;
  if (options.arch.empty()) {
    out.file = models::open_model(options.model);
    out.name = out.file->get_string("general.name", out.file->get_string("general.architecture"));
    out.type = type_of(*out.file);
    check_memory(*out.file, options.model);
    out.model = models::load_model(*out.file, context);
  } else {
    const models::Mixture& mixture = models::parse_mixture(options.type);
    const models::ModelSizes& sizes = models::find_sizes(options.arch);
    out.name = sizes.name;
    out.type = mixture.name;
    out.described = std::make_unique<models::DescribedFile>(models::describe_model(sizes, mixture), out.name);
    check_memory(out.contents(), join_text(out.name, " ", out.type));
    out.model = models::load_model(models::RandomWeights(out.contents()), context);
  }
  for (const io::GgufTensor& tensor : out.contents().tensors()) {
    out.bytes += tensor.bytes.size();
    out.parameters += tensor.shape.elem_count();
  }
  out.load_seconds = seconds_since(start);
  return out;
}

// Of what the bandwidth of reading is measured over.
int64_t array_bytes() {
  const int64_t beyond_caches = 2 * static_cast<int64_t>(os::last_level_cache_bytes());
  return std::min(std::max(int64_t{256} << 20, beyond_caches),
                  static_cast<int64_t>(os::physical_memory_bytes() / 32) / 4096 * 4096);
}

/// The machine's rates, measured again before and after every run.
class Floor {
 public:
  Floor(bench::Ceilings* ceilings, const io::GgufFile& file, const Test& test) : ceilings_(*ceilings) {
    const auto add = [&](int64_t passes, int64_t tokens) {
      const models::PassCost cost = models::pass_cost(file, tokens);
      const auto times = static_cast<double>(passes);
      bytes_ += times * cost.bytes;
      quantized_ += times * cost.quantized_macs;
      dense_ += times * cost.dense_macs;
    };
    add(test.tokens / test.batch, test.batch);
    if (test.tokens % test.batch != 0) add(1, test.tokens % test.batch);
    for (const bench::Ceiling ceiling : used()) ceilings_.prepare(ceiling);
  }

  /// Seconds that the test's work takes at the machine's present rates.
  double seconds() {
    std::vector<double> reads;
    for (int i = 0; i < 3; ++i) reads.push_back(ceilings_.sample(bench::Ceiling::Read, 0));
    const double reading = bytes_ / bench::median(reads);
    double computing = 0;
    constexpr double kSampleSeconds = 0.05;
    if (quantized_ > 0)
      computing += 2 * quantized_ / ceilings_.sample(bench::Ceiling::Int8Dot, kSampleSeconds);
    if (dense_ > 0) computing += 2 * dense_ / ceilings_.sample(bench::Ceiling::FmaF32, kSampleSeconds);
    return std::max(reading, computing);
  }

 private:
  std::vector<bench::Ceiling> used() const {
    std::vector<bench::Ceiling> out = {bench::Ceiling::Read};
    if (quantized_ > 0) out.push_back(bench::Ceiling::Int8Dot);
    if (dense_ > 0) out.push_back(bench::Ceiling::FmaF32);
    return out;
  }
  bench::Ceilings& ceilings_;
  double bytes_ = 0, quantized_ = 0, dense_ = 0;
};

Result measure(const Subject& subject, const Test& test, int repeat, bench::Ceilings* ceilings) {
  Floor floor(ceilings, subject.contents(), test);
  Result out;
  out.test = test;
  static_cast<void>(generate::time_prefill(*subject.model, std::min(test.tokens, test.batch), test.batch));
  std::vector<double> floors, shares, rates;
  double before = floor.seconds();
  const Progress progress(repeat);
  for (int i = 0; i < repeat; ++i) {
    progress.show(i, test.name);
    out.seconds.push_back(generate::time_prefill(*subject.model, test.tokens, test.batch));
    const double after = floor.seconds();
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

void print_row(const Subject& subject, const Result& result, bool heading) {
  if (heading)
    std::printf(
        "| %-28s | %10s | %10s | %-7s | %7s | %8s | %19s | %10s | %8s |\n"
        "| :--------------------------- | ---------: | ---------: | :------ | ------: | -------: | "
        "------------------: | ---------: | -------: |\n",
        "model", "size", "params", "backend", "threads", "test", "t/s", "floor t/s", "of floor");
  char rate[48];
  std::snprintf(rate, sizeof(rate), "%.2f \xC2\xB1 %.2f", result.mean, result.deviation);
  // The sign takes two bytes and one column.
  std::printf("| %-28s | %10s | %10s | %-7s | %7d | %8s | %20s | %10.2f | %7.1f%% |\n",
              join_text(subject.name, " ", subject.type).c_str(), size_text(subject.bytes).c_str(),
              count_text(subject.parameters).c_str(), "CPU", num_threads(), result.test.name.c_str(), rate,
              result.floor, 100 * result.share);
  std::fflush(stdout);
}

nlohmann::json json_of(const Subject& subject, const Result& result) {
  const DeviceInfo device = list_devices().front();
  return {{"model", subject.name},
          {"type", subject.type},
          {"random_weights", subject.described != nullptr},
          {"size_bytes", subject.bytes},
          {"parameters", subject.parameters},
          {"load_seconds", subject.load_seconds},
          {"backend", "CPU"},
          {"device", device.name},
          {"detail", device.detail},
          {"threads", num_threads()},
          {"test", result.test.name},
          {"tokens", result.test.tokens},
          {"batch", result.test.batch},
          {"seconds", result.seconds},
          {"tokens_per_second", result.mean},
          {"tokens_per_second_deviation", result.deviation},
          {"floor_tokens_per_second", result.floor},
          {"share_of_floor", result.share}};
}

void bench_model(const BenchOptions& options) {
  if (options.model.empty() == options.arch.empty())
    fail(ErrorKind::InvalidArgument, "bench",
         "give either a model file, or --arch with the name of a known model for random weights");
  if (!Device::parse(options.device).is_cpu())
    fail(ErrorKind::Unsupported, "bench",
         "the floor is the CPU's: this version measures models on the device cpu only, not ", options.device,
         "; `beeswax run --device` prints the times of other devices");
  if (options.threads > 0) set_num_threads(options.threads);
  std::vector<Test> tests;
  for (const int64_t count : options.prompts)
    if (count > 0) tests.push_back({"pp" + std::to_string(count), count, options.batch});
  for (const int64_t count : options.tokens)
    if (count > 0) tests.push_back({"tg" + std::to_string(count), count, 1});
  if (tests.empty()) fail(ErrorKind::InvalidArgument, "bench", "-p 0 -n 0 leaves nothing to measure");

  const Subject subject = load(options);
  bench::Ceilings ceilings(array_bytes());
  nlohmann::json all = nlohmann::json::array();
  for (size_t i = 0; i < tests.size(); ++i) {
    const Result result = measure(subject, tests[i], options.repeat, &ceilings);
    options.json ? all.push_back(json_of(subject, result)) : print_row(subject, result, i == 0);
  }
  if (options.json) std::printf("%s\n", all.dump(2).c_str());
}

std::string footer() {
  std::string known;
  for (const models::ModelSizes& sizes : models::known_sizes())
    known.append(known.empty() ? "" : ", ").append(sizes.name);
  return join_text(
      "\nKnown to --arch: ", known,
      ".\nppN is a prompt of N tokens, tgN the generation of N tokens one by one, both from an empty context."
      "\nThe floor is what the weights cost on this machine: their bytes at the bandwidth of reading, or "
      "their"
      "\nproducts at the peak of its dot instructions, whichever takes longer, measured between the runs.\n"
      "\nExamples:\n"
      "  beeswax bench model model.gguf\n"
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
  model->add_option("model", o->model, "A GGUF file or a Hugging Face folder");
  model->add_option("--arch", o->arch, "Random weights in the shape of this model instead of a file");
  model->add_option("--type", o->type, "Type of the random weights: q4_0, q4_k_m, q8_0, f16, ...")
      ->capture_default_str();
  model->add_option("-p,--prompt", o->prompts, "Prompt lengths, separated by commas; 0: none")
      ->delimiter(',')
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  model->add_option("-n,--tokens", o->tokens, "Numbers of tokens to generate; 0: none")
      ->delimiter(',')
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  model->add_option("--batch", o->batch, "Prompt tokens that run at a time")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  model->add_option("--repeat", o->repeat, "Runs of each test")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  model->add_option("--device", o->device, "Where to run")->capture_default_str();
  model->add_option("--threads", o->threads, "CPU threads (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  model->add_flag("--json", o->json, "Print one JSON array, an object for each test");
  model->footer(footer());
  model->callback([o] { bench_model(*o); });
}

}  // namespace beeswax::cli
