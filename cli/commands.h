// SPDX-License-Identifier: Apache-2.0
// The commands of `beeswax`. Each adds itself to the parser; what it does runs after parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "beeswax/system.h"
#include "io/gguf.h"

namespace beeswax::cli {

void add_bench(CLI::App& app);
void add_devices(CLI::App& app);
void add_inspect(CLI::App& app);
void add_quantize(CLI::App& app);
void add_run(CLI::App& app);
void add_demo(CLI::App& app);

/// A check of options that take a name, or another text that must be there: "" is what a shell variable that
/// is not set leaves.
inline CLI::Validator not_empty(const std::string& what = "name") {
  return CLI::Validator(
      [what](const std::string& text) { return text.empty() ? "the " + what + " is empty" : std::string(); },
      "");
}

/// Sets the number of threads; 0: BEESWAX_THREADS or the default, so that a wrong variable is told before
/// work begins.
void use_threads(int threads);

/// models::open_model; where `path` is a part of a model, or a folder around one, the error says what to give
/// instead.
std::shared_ptr<const io::GgufFile> open_model(const std::string& path);

/// A context that a command is about to make.
struct Context {
  std::string_view command;
  int64_t positions = 0;
  DType cache_type = DType::F32;
  std::string_view smaller;  ///< the options that make it smaller
};
/// Throws TooLarge, with what helps, where a model and the context's keys and values would not fit a device's
/// memory. Reads no weights.
void check_memory(const io::GgufFile& file, const Context& context, const DeviceInfo& device);

/// Part of `bench`.
void add_bench_ops(CLI::App& bench);
/// Part of the demo: the model in the box at work.
void show_model();

}  // namespace beeswax::cli
