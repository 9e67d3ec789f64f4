// SPDX-License-Identifier: Apache-2.0
// `beeswax quantize`: a model file with its matrices in another type.
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "beeswax/system.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "core/fail.h"
#include "core/shown.h"
#include "models/requantize.h"

namespace beeswax::cli {
namespace {

struct QuantizeOptions {
  std::string in, out, type, embedding, imatrix;
  bool pure = false, allow_requantize = false, json = false;
  int threads = 0;
};

/// Thrown where a signal asked for the end.
struct Interrupted {};

std::atomic<int> interrupted{0};  // the signal

/// The sums over a plan.
struct Totals {
  uint64_t before = 0, after = 0;
  int64_t elements = 0, weighted = 0, changed = 0;
  std::map<std::string_view, int64_t> types;
  double bits() const {
    return elements == 0 ? 0 : 8 * static_cast<double>(after) / static_cast<double>(elements);
  }
};

Totals totals_of(const std::vector<models::RequantizedTensor>& plan) {
  Totals out;
  for (const models::RequantizedTensor& step : plan) {
    out.before += step.bytes_before;
    out.after += step.bytes_after;
    out.elements += step.shape.elem_count();
    out.weighted += step.weighted ? 1 : 0;
    out.changed += step.after != step.before ? 1 : 0;
    ++out.types[step.after->name];
  }
  return out;
}

// A mixture's base type alone is no mixture.
std::string_view name_of(const models::RequantizeOptions& settings) {
  return settings.pure ? io::ggml_type(settings.mixture->base)->name : settings.mixture->name;
}

void print_json(const QuantizeOptions& options, const std::vector<models::RequantizedTensor>& plan,
                std::string_view type, double seconds) {
  const Totals totals = totals_of(plan);
  nlohmann::json tensors = nlohmann::json::array();
  for (const models::RequantizedTensor& step : plan)
    tensors.push_back({{"name", step.name},
                       {"shape", step.shape.to_string()},
                       {"type_before", step.before->name},
                       {"type", step.after->name},
                       {"type_wanted", step.wanted->name},
                       {"importance", step.weighted},
                       {"bytes_before", step.bytes_before},
                       {"bytes", step.bytes_after}});
  const nlohmann::json out = {{"in", options.in},
                              {"out", options.out},
                              {"type", type},
                              {"bytes_before", totals.before},
                              {"bytes", totals.after},
                              {"parameters", totals.elements},
                              {"bits_per_weight", totals.bits()},
                              {"seconds", seconds},
                              {"threads", num_threads()},
                              {"tensors", tensors}};
  std::printf("%s\n", json_text(out).c_str());
}

void print_step(size_t index, size_t count, const models::RequantizedTensor& step) {
  const std::string change = step.before == step.after
                                 ? std::string(step.before->name) + ", as it is"
                                 : join_text(step.before->name, " -> ", step.after->name);
  std::fprintf(stderr, "%4zu/%zu  %-36s %-18s %-18s %10s\n", index + 1, count, shown(step.name).c_str(),
               step.shape.to_string().c_str(), change.c_str(), size_text(step.bytes_after).c_str());
}

void warn_of_rows(const std::vector<models::RequantizedTensor>& plan) {
  for (const models::RequantizedTensor& step : plan)
    if (step.after != step.wanted)
      std::fprintf(stderr, "%s becomes %s: its rows of %s are no whole blocks of %s\n",
                   shown(step.name).c_str(), std::string(step.after->name).c_str(),
                   std::to_string(step.shape[step.shape.rank() - 1]).c_str(),
                   std::string(step.wanted->name).c_str());
}

// A type for the embedding: blocks or floats that a file can hold.
const io::GgmlType* type_named(const std::string& name) {
  std::string wanted = name;
  for (char& c : wanted) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const models::Mixture* found = nullptr;
  for (const models::Mixture& mixture : models::mixtures())
    if (io::ggml_type(mixture.base)->name == wanted) found = &mixture;
  if (found == nullptr)
    fail(ErrorKind::InvalidArgument, "quantize", "--embedding ", name,
         ": give f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k or q6_k");
  return io::ggml_type(found->base);
}

void run(const QuantizeOptions& options) {
  use_threads(options.threads);
  models::RequantizeOptions settings;
  settings.mixture = &models::parse_mixture(options.type);
  settings.pure = options.pure;
  settings.from_blocks = options.allow_requantize;
  if (!options.embedding.empty()) settings.embedding = type_named(options.embedding);
  std::optional<io::Imatrix> importance;
  if (!options.imatrix.empty()) settings.importance = &importance.emplace(io::Imatrix::open(options.imatrix));
  const auto file = open_model(options.in);
  std::optional<models::HfTokenizer> tokenizer;
  if (models::is_folder(options.in))
    settings.tokenizer = &tokenizer.emplace(models::read_tokenizer(options.in, *file));
  const std::vector<models::RequantizedTensor> plan = models::plan_requantize(*file, settings);
  const Totals totals = totals_of(plan);
  warn_of_rows(plan);

  const auto start = std::chrono::steady_clock::now();
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, [](int got) { interrupted = got; }) == SIG_IGN)
      std::signal(number, SIG_IGN);  // nohup
  const Progress progress(static_cast<double>(totals.elements));
  int64_t finished = 0;
  try {
    models::requantize(*file, options.out, settings, plan, [&](size_t index, int64_t elements) {
      if (interrupted != 0) throw Interrupted();
      const models::RequantizedTensor& step = plan[index];
      progress.show(static_cast<double>(finished + elements), shown(step.name));
      if (elements < step.shape.elem_count()) return;
      finished += elements;
      if (!progress.shown() && !options.json) print_step(index, plan.size(), step);
    });
  } catch (const Interrupted&) {
    progress.clear();
    std::fprintf(stderr, "interrupted; %s is not written\n", options.out.c_str());
    std::exit(128 + interrupted);
  }
  progress.clear();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) return print_json(options, plan, name_of(settings), seconds);
  std::string types;
  for (const auto& [type, count] : totals.types)
    types.append(join_text(types.empty() ? "" : ", ", count, " ", type));
  std::printf("%s: %s from %s, %.2f bits per weight, in %.1f s\n  tensors: %s\n", options.out.c_str(),
              size_text(totals.after).c_str(), size_text(totals.before).c_str(), totals.bits(), seconds,
              types.c_str());
  if (settings.importance != nullptr)
    std::printf("  %s of them by the importance matrix\n", std::to_string(totals.weighted).c_str());
}

std::string known_types() {
  std::string out;
  for (const models::Mixture& mixture : models::mixtures())
    out.append(out.empty() ? "" : ", ").append(mixture.name);
  return out;
}

}  // namespace

void add_quantize(CLI::App& app) {
  CLI::App* command = app.add_subcommand("quantize", "Write a model file with its matrices in another type");
  const auto o = std::make_shared<QuantizeOptions>();
  command->add_option("in", o->in, "A GGUF file or a Hugging Face folder in f32, f16 or bf16")
      ->required()
      ->check(not_empty());
  command->add_option("out", o->out, "The file to write")->required()->check(not_empty());
  command->add_option("--type", o->type, "One of: " + known_types())->required();
  command
      ->add_option(
          "--imatrix", o->imatrix,
          "Importance matrix of llama.cpp's imatrix (.dat or .gguf), for every type with blocks but q8_0")
      ->check(not_empty());
  command
      ->add_option("--embedding", o->embedding,
                   "Type of the token embedding and the output matrix (default: the mixture's choice)")
      ->check(not_empty());
  command->add_flag("--pure", o->pure, "One type for all matrices, none of the mixture's better ones");
  command->add_flag("--allow-requantize", o->allow_requantize, "Take an input that is quantized already");
  add_whole_number(command, "--threads", o->threads, 1, 1024, "CPU threads (default: physical cores)");
  command->add_flag("--json", o->json, "Print one JSON object: sizes, bits per weight, every tensor");
  command->footer(
      "\nMatrices are quantized; norms and other vectors stay as they are, and so does the metadata. q3_k, "
      "q4_k"
      "\nand q5_k mean the mixtures ending in _m. Rows that are no multiple of 256 get another type than the "
      "_k"
      "\nones: q4_0 for q2_k and q3_k, q5_0 for q4_k, q5_1 for q5_k, q8_0 for q6_k. docs/quant-formats.md "
      "says"
      "\nwhich tensors of a mixture get which type.\n"
      "\nExamples:\n"
      "  beeswax quantize model-f16.gguf model-q4_k_m.gguf --type q4_k_m\n"
      "  beeswax quantize folder model-q4_k_m.gguf --type q4_k_m\n"
      "  beeswax quantize model-f16.gguf model-q2_k.gguf --type q2_k --imatrix imatrix.dat\n"
      "  beeswax quantize model-f16.gguf small.gguf --type q4_k --pure --embedding q6_k --json\n");
  command->callback([o] { run(*o); });
}

}  // namespace beeswax::cli
