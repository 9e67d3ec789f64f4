// SPDX-License-Identifier: Apache-2.0
// `beeswax quantize`: a model file with its matrices in another format.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "models/quantize_file.h"

namespace beeswax::cli {

void add_quantize(CLI::App& app) {
  CLI::App* command = app.add_subcommand("quantize", "Write a GGUF file with its matrices quantized");
  struct Options {
    std::string in, out, type, embedding;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("in", o->in, "A GGUF file, best in f32, f16 or bf16")->required();
  command->add_option("out", o->out, "The file to write")->required();
  command->add_option("--type", o->type, "Format of the matrices: q4_0 ... q8_0, q2_k ... q6_k")->required();
  command->add_option("--embedding", o->embedding,
                      "Format of the token embedding and the output (default: as --type)");
  command->footer(
      "\nVectors stay as they are, and so do matrices whose rows are no whole blocks.\n"
      "\nExamples:\n"
      "  beeswax quantize model-f16.gguf model-q8_0.gguf --type q8_0\n"
      "  beeswax quantize model-f16.gguf model.gguf --type q4_k --embedding q6_k\n");
  command->callback([o] {
    models::QuantizeFileOptions options{.type = parse_quant_type(o->type)};
    if (!o->embedding.empty()) options.embedding = parse_quant_type(o->embedding);
    const auto file = io::GgufFile::open(o->in);
    for (const std::string& name : models::quantize_file(*file, o->out, options))
      std::fprintf(stderr, "%s stays as it is: its rows are no whole blocks\n", name.c_str());
  });
}

}  // namespace beeswax::cli
