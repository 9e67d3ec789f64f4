// SPDX-License-Identifier: Apache-2.0
// The commands of `beeswax`. Each adds itself to the parser; what it does runs after parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace beeswax::cli {

void add_bench(CLI::App& app);
void add_devices(CLI::App& app);
void add_inspect(CLI::App& app);
void add_quantize(CLI::App& app);
void add_run(CLI::App& app);
void add_demo(CLI::App& app);

/// A check of options that take a name: "" is what a shell variable that is not set leaves.
inline CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "the name is empty" : std::string(); }, "");
}

/// Part of `bench`.
void add_bench_ops(CLI::App& bench);
/// Part of the demo: the model in the box at work.
void show_model();

}  // namespace beeswax::cli
