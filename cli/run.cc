// SPDX-License-Identifier: Apache-2.0
// `beeswax run`: a model file and a prompt in, text out. Only the generated text goes to standard output.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "beeswax/error.h"
#include "beeswax/system.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/numbers.h"
#include "core/fail.h"
#include "core/os/terminal.h"
#include "generate/generator.h"
#include "io/gguf.h"
#include "models/box.h"
#include "models/gguf_tokenizer.h"
#include "models/hf_folder.h"
#include "models/model.h"

namespace beeswax::cli {
namespace {

constexpr int64_t kDefaultContext = 4096;

std::atomic<bool> interrupted{false};

struct RunOptions {
  std::string model, prompt, prompt_file, device = "cpu", cache_type = "f32";
  int64_t context = 0;
  int threads = 0;
  std::optional<uint64_t> seed;  // none: another one each time
  int64_t penalty_window = 64;
  bool json = false, special = false;
  bool prompt_given = false;  // "" is a prompt too
  bool keep_given = false;
  generate::GenerateOptions generate;
};

std::string read_all(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Editors and echo end text with a line end that nobody means as a part of it.
std::string without_last_line_end(std::string text) {
  const size_t end = text.ends_with("\r\n") ? 2 : text.ends_with('\n') ? 1 : 0;
  text.resize(text.size() - end);
  return text;
}

std::string prompt_of(const RunOptions& options) {
  if (!options.prompt_file.empty()) {
    const Error unreadable(ErrorKind::Io, "run", options.prompt_file + " cannot be read");
    std::ifstream in(options.prompt_file, std::ios::binary);
    if (!in) throw unreadable;
    try {
      return without_last_line_end(read_all(in));
    } catch (const std::ios::failure&) {
      throw unreadable;  // a folder opens, and fails when it is read
    }
  }
  if (options.prompt_given || os::is_terminal(os::Stream::Input)) return options.prompt;
  std::string text = read_all(std::cin);
  if (std::ferror(stdin) != 0)
    throw Error(ErrorKind::Io, "run", "standard input cannot be read; give a prompt by -p or -f");
  return without_last_line_end(std::move(text));
}

// Any seed of 64 bits; one below 0 is none.
std::optional<uint64_t> parse_seed(const std::string& text) {
  if (const auto seed = number_of<uint64_t>(text)) return seed;
  const auto below = number_of<int64_t>(text);
  if (!below)
    throw CLI::ValidationError("--seed",
                               no_whole_number(text, std::to_string(INT64_MIN), std::to_string(UINT64_MAX)));
  return *below < 0 ? std::nullopt : std::optional<uint64_t>(0);  // -0
}

// The library would refuse it too, without words for a command line.
void check_prompt(int64_t length, int64_t context, int64_t trained, bool shifts) {
  if (length <= context) return;
  const std::string advice = length < trained
                                 ? join_text("give a larger --ctx, up to the ", trained,
                                             " positions that the model was trained on, or a shorter prompt")
                                 : join_text("give a shorter prompt, or a larger --ctx; behind the ", trained,
                                             " positions that the model was trained on, text gets worse");
  fail(ErrorKind::InvalidArgument, "run", "the prompt's ", length, " tokens do not fit the context of ",
       context, " positions; ", advice, shifts ? "; --context-shift does not shorten prompts" : "");
}

double rate(int64_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

void print_json(const generate::Generated& out, uint64_t seed, double load_seconds, int64_t cache_bytes) {
  const nlohmann::json json = {
      {"text", out.text},
      {"ids", out.ids},
      {"stop_reason", generate::stop_reason_name(out.reason)},
      {"seed", seed},
      {"prompt_tokens", out.prompt_tokens},
      {"load_seconds", load_seconds},
      {"cache_bytes", cache_bytes},
      {"prefill_seconds", out.prefill_seconds},
      {"prefill_tokens_per_second", rate(out.prompt_tokens, out.prefill_seconds)},
      {"decode_seconds", out.decode_seconds},
      {"decode_tokens_per_second", rate(out.decoded, out.decode_seconds)},
      {"repacked_bytes", repacked_weights().bytes},
      {"repack_seconds", repacked_weights().seconds},
      {"context_shifts", out.shifts},
  };
  std::printf("%s\n", json_text(json).c_str());
}

void print_timings(const generate::Generated& out, const generate::SamplingOptions& sampling,
                   double load_seconds) {
  // The text ends with a line end for people only: where it goes elsewhere, before what they see of the rest.
  if (os::is_terminal(os::Stream::Output)) std::printf("\n");
  std::fflush(stdout);
  if (!os::is_terminal(os::Stream::Output) && os::is_terminal(os::Stream::Error)) std::fprintf(stderr, "\n");
  // Nothing is drawn at temperature 0.
  const std::string seed = sampling.temperature > 0 ? ", seed " + std::to_string(sampling.seed) : "";
  // Part of the time of decoding; of small models not worth a word.
  constexpr size_t kWorthAWord = size_t{64} << 20;
  const RepackedWeights repacked = repacked_weights();
  char repack[64] = "";
  if (repacked.bytes >= kWorthAWord)
    std::snprintf(repack, sizeof(repack), " with %.2f s of repacking weights", repacked.seconds);
  std::fprintf(
      stderr, "load %.2f s, prefill %s tokens at %.1f tokens/s, decode %s tokens at %.1f tokens/s%s (%s)%s\n",
      load_seconds, std::to_string(out.prompt_tokens).c_str(), rate(out.prompt_tokens, out.prefill_seconds),
      std::to_string(out.decoded).c_str(), rate(out.decoded, out.decode_seconds), repack,
      std::string(generate::stop_reason_name(out.reason)).c_str(), seed.c_str());
}

void run(const RunOptions& options) {
  auto start = std::chrono::steady_clock::now();
  const Device device = Device::parse(options.device);
  device.synchronize();  // opens it: one that is not there is the first thing to say
  use_threads(options.threads);
  const auto file = options.model.empty() ? models::open_box() : open_model(options.model);
  const models::ModelInfo info = models::check_model(*file);  // the plainest reason first
  const auto tokenizer =
      options.model.empty() ? models::load_tokenizer(*file) : models::open_tokenizer(options.model, *file);
  const int64_t context = options.context > 0 ? options.context : std::min(info.context, kDefaultContext);
  if (context > info.context)
    std::fprintf(stderr, "the model was trained on %s positions; text behind them gets worse\n",
                 std::to_string(info.context).c_str());
  const DType cache_type = options.cache_type == "f16" ? DType::F16 : DType::F32;
  if (device.is_cpu()) {
    models::check_context(info, context, cache_type);  // weights stay in their file, whatever its size
  } else {
    const bool wide = cache_type == DType::F32;
    check_memory(*file,
                 {"run", context, cache_type, wide ? "a smaller --ctx, --cache-type f16" : "a smaller --ctx"},
                 device_info(device));
  }
  // Before the weights are read; a pipe may take its time.
  const auto asked = std::chrono::steady_clock::now();
  const std::vector<int32_t> prompt =
      tokenizer->encode(prompt_of(options), {.add_special = true, .parse_special = options.special});
  start += std::chrono::steady_clock::now() - asked;
  check_prompt(static_cast<int64_t>(prompt.size()), context, info.context, options.generate.context_shift);
  const auto model = models::load_model(*file, context, device);
  const double load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  generate::GenerateOptions settings = options.generate;
  // Of a context of two positions, one has to be forgotten.
  if (!options.keep_given) settings.keep = std::min(settings.keep, std::max<int64_t>(0, context - 2));
  settings.sampling.seed = options.seed ? *options.seed : uint64_t{std::random_device{}()} << 16;
  settings.sampling.penalty_window = options.penalty_window < 0 ? INT64_MAX : options.penalty_window;
  models::Cache past = model->make_cache(context, cache_type);
  const auto before = std::signal(SIGINT, [](int number) {
    interrupted = true;
    std::signal(number, SIG_DFL);  // the second one ends the program at once
  });
  if (before == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // as for a script's commands in the background
  size_t printed = 0;
  const auto print = [&](std::string_view text) {
    if (options.json) return;
    printed += std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  const generate::Generated out =
      generate::generate(*model, *tokenizer, prompt, past, settings, [&](std::string_view text) {
        print(text);
        return !interrupted && std::ferror(stdout) == 0;
      });
  print(std::string_view(out.text).substr(printed));  // what an interrupted one held back
  if (options.json) {
    print_json(out, settings.sampling.seed, load_seconds, past.bytes());
  } else {
    print_timings(out, settings.sampling, load_seconds);
  }
  if (out.reason == generate::StopReason::ContextFull)
    std::fprintf(stderr,
                 "the text ended because the context of %s positions is full; --ctx N makes it longer, "
                 "--context-shift goes on in it\n",
                 std::to_string(context).c_str());
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run a language model on a prompt");
  const auto o = std::make_shared<RunOptions>();
  generate::SamplingOptions& sampling = o->generate.sampling;
  command
      ->add_option("model", o->model,
                   "A GGUF file or a Hugging Face folder (default: the small model in the box)")
      ->check(not_empty());
  const CLI::Option* prompt = command->add_option(
      "-p,--prompt", o->prompt, "The prompt, \"\" for none (default: standard input, if it is piped)");
  command->add_option("-f,--file", o->prompt_file, "Read the prompt from a file")
      ->excludes("--prompt")
      ->check(not_empty());
  add_whole_number(
      command, "-n,--tokens", o->generate.max_tokens, -1, INT64_MAX,
      "Generate at most this many tokens (default, and -1: until the text ends or the context is "
      "full)");
  add_number(command, "--temp", sampling.temperature, "Temperature; 0 takes the likeliest token")
      ->capture_default_str();
  add_whole_number(command, "--top-k", sampling.top_k, 0, INT64_MAX,
                   "Keep the k likeliest tokens; 0 keeps all")
      ->capture_default_str();
  add_number(command, "--top-p", sampling.top_p, "Keep the likeliest tokens up to this probability")
      ->capture_default_str();
  add_number(command, "--min-p", sampling.min_p, "Keep tokens at least this likely beside the likeliest")
      ->capture_default_str();
  add_number(command, "--typical-p", sampling.typical_p, "Locally typical sampling; 1 is off")
      ->capture_default_str();
  add_number(command, "--repeat-penalty", sampling.repeat_penalty, "Penalty of repeated tokens; 1 is off")
      ->capture_default_str();
  add_number(command, "--frequency-penalty", sampling.frequency_penalty, "Penalty of each repetition")
      ->capture_default_str();
  add_number(command, "--presence-penalty", sampling.presence_penalty,
             "Penalty of tokens that are there already")
      ->capture_default_str();
  add_whole_number(command, "--repeat-last-n", o->penalty_window, -1, INT32_MAX,
                   "How many of the last tokens these penalties look at; -1 is all")
      ->capture_default_str();
  command->add_option("--stop", o->generate.stop, "End before this text (may be given more than once)")
      ->allow_extra_args(false)  // a model may stand behind it
      ->check(not_empty("text"));
  command
      ->add_option_function<std::string>(
          "--seed", [o](const std::string& text) { o->seed = parse_seed(text); },
          "Seed of the draws (default, and below 0: another one each time)")
      ->type_name("INT");
  add_whole_number(command, "--ctx", o->context, 1, INT32_MAX,
                   "Positions of context (default: the model's, at most 4096)");
  CLI::Option* shift = command->add_flag(
      "--context-shift", o->generate.context_shift,
      "Where the context is full, forget its older half and go on (default: the generation ends)");
  const CLI::Option* keep = add_whole_number(command, "--keep", o->generate.keep, 0, INT64_MAX,
                                             "With --context-shift: the first tokens that are not forgotten")
                                ->needs(shift)
                                ->capture_default_str();
  command
      ->add_option("--cache-type", o->cache_type,
                   "Type of the cached keys and values; f16 takes half the memory")
      ->check(CLI::IsMember({"f32", "f16"}))
      ->capture_default_str();
  command->add_option("--device", o->device, "Where to run")->capture_default_str();
  add_whole_number(command, "--threads", o->threads, 1, 1024, "CPU threads (default: physical cores)");
  command->add_flag("--special", o->special, "Text of control tokens in the prompt becomes these tokens");
  command->add_flag("--json", o->json, "Print one JSON object: text, ids, stop reason, timings");
  command->footer(
      "\nThe generated text goes to standard output, byte for byte (on a terminal with a line end behind "
      "it);\n"
      "timings go to standard error. Ctrl-C ends with what is there, between two tokens or two batches of a\n"
      "prompt; a second one ends at once.\n"
      "The last line end of a file or a pipe is no part of the prompt; --seed with the number beside the "
      "timings\n"
      "repeats a run.\n"
      "\nExamples:\n"
      "  beeswax run -p 'What is the capital of France?'\n"
      "  beeswax run model.gguf -p 'Once upon a time' -n 100\n"
      "  beeswax run model.gguf -f question.txt --temp 0\n"
      "  beeswax run folder -p 'Once upon a time'    (config.json, tokenizer.json, *.safetensors)\n"
      "  echo 'One, two,' | beeswax run model.gguf --seed 7 --json\n");
  command->callback([o, prompt, keep] {
    o->prompt_given = prompt->count() > 0;
    o->keep_given = keep->count() > 0;
    run(*o);
  });
}

}  // namespace beeswax::cli
