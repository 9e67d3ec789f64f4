// SPDX-License-Identifier: Apache-2.0
// The command `beeswax`: parses, runs one command, and turns an Error into a message and an exit status
// (tables/errors.def; 2 for a wrong command line).
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "beeswax/error.h"
#include "beeswax/version.h"
#include "cli/commands.h"
#include "core/os/streams.h"
#include "core/shown.h"

namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  beeswax demo                 compute with tensors, run a small language model, show the speed\n"
    "  beeswax run -p 'What is 3 + 4?'\n"
    "  beeswax run model.gguf -p 'Once upon a time'\n"
    "  beeswax inspect model.gguf   what a model file holds\n"
    "  beeswax quantize model-f16.gguf small.gguf --type q4_k_m\n"
    "  beeswax bench model --arch llama-1b --type q4_0\n"
    "  beeswax devices              what this machine offers\n"
    "  beeswax devices --json       the same for a program\n"
    "\nExit status: 0 done; 2 wrong arguments; 3 not supported; 4 too large, or out of memory; 5 device;\n"
    "6 a file cannot be read or written; 7 a file is damaged or of another kind; 70 an error of Beeswax's\n"
    "own; 130 interrupted.\n"
    "Environment: BEESWAX_THREADS=N, BEESWAX_CPU_ISA=base|v3|v4, BEESWAX_CPU_REPACK=off (no second copy of "
    "quantized weights), BEESWAX_TRACE=FILE.json (launches on a GPU), BEESWAX_BLAS and "
    "BEESWAX_DNN=own|vendor|auto (who makes a GPU's products and convolutions).\n";

}  // namespace

int main(int argc, char** argv) {
  beeswax::os::hold_standard_streams();
  CLI::App app{"Beeswax: tensors and language models on AMD, NVIDIA and CPU.", "beeswax"};
  app.footer(kExamples);
  app.set_version_flag("--version", beeswax::version(), "Print the version");
  app.require_subcommand(1);
  beeswax::cli::add_demo(app);
  beeswax::cli::add_run(app);
  beeswax::cli::add_inspect(app);
  beeswax::cli::add_quantize(app);
  beeswax::cli::add_bench(app);
  beeswax::cli::add_devices(app);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the shell's limit is one that cannot be written
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // for help, or the version
      app.exit(asked);
    }
    // What was printed may wait in a buffer; a full disk shows here at the latest.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw beeswax::Error(beeswax::ErrorKind::Io, "print", "standard output cannot be written");
    return 0;
  } catch (const CLI::ParseError& error) {
    // CLI11 would only say that a command is missing.
    if (argc > 1 && *argv[1] != '-' && app.get_subcommands().empty()) {
      std::string known;
      for (const CLI::App* command : app.get_subcommands(nullptr)) known += " " + command->get_name();
      std::fprintf(stderr, "beeswax: no command '%s'; the commands are:%s\n", beeswax::shown(argv[1]).c_str(),
                   known.c_str());
      return 2;
    }
    app.exit(error);
    return 2;
  } catch (const beeswax::Error& error) {
    std::fprintf(stderr, "beeswax: %s\n  (%.*s: %.*s)\n", beeswax::shown(error.what(), true).c_str(),
                 static_cast<int>(beeswax::error_kind_name(error.kind()).size()),
                 beeswax::error_kind_name(error.kind()).data(),
                 static_cast<int>(beeswax::error_kind_advice(error.kind()).size()),
                 beeswax::error_kind_advice(error.kind()).data());
    return beeswax::error_exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "beeswax: the machine is out of memory\n");
    return beeswax::error_exit_code(beeswax::ErrorKind::OutOfMemory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "beeswax: %s\n", error.what());
    return beeswax::error_exit_code(beeswax::ErrorKind::Internal);
  }
}
