// SPDX-License-Identifier: Apache-2.0
// The second half of `beeswax demo`: the model in the box tells a story and answers three questions, none of
// which it was taught in these words.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "generate/generator.h"
#include "models/box.h"
#include "models/gguf_tokenizer.h"
#include "models/model.h"

namespace beeswax::cli {
namespace {

constexpr const char* kStory = "Tell me a story about a dragon named Zora and a lost lantern.";
constexpr const char* kQuestions[] = {"Which language is spoken in Brazil?", "What is 38 + 47?",
                                      "Tell me how many legs a spider has."};

// Breaks lines at spaces.
void print_wrapped(std::string_view text) {
  constexpr size_t kColumns = 88;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > kColumns) line = line.substr(0, line.rfind(' ', kColumns));
    std::printf("    %.*s\n", static_cast<int>(line.size()), line.data());
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

}  // namespace

void show_model() {
  const auto start = std::chrono::steady_clock::now();
  const auto file = models::open_box();
  const auto tokenizer = models::load_tokenizer(*file);
  const int64_t context = file->get_int("llama.context_length");
  const auto model = models::load_model(*file, context);
  const double load = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  int64_t elements = 0;
  for (const io::GgufTensor& tensor : file->tensors()) elements += tensor.shape.elem_count();
  std::printf("the model in the box: %.1f million parameters in %.1f MiB, trained by us on text of ours\n",
              static_cast<double>(elements) * 1e-6, static_cast<double>(file->file_bytes()) / (1 << 20));

  generate::Generated sum;
  const auto ask = [&](const char* question) {
    std::printf("\n  %s\n", question);
    models::Cache past = model->make_cache(context);
    const generate::Generated out =
        generate::generate(*model, *tokenizer, tokenizer->encode(models::box_question(question)), past,
                           {.sampling = {.temperature = 0}});
    print_wrapped(out.text);
    sum.prompt_tokens += out.prompt_tokens;
    sum.prefill_seconds += out.prefill_seconds;
    sum.decoded += out.decoded;
    sum.decode_seconds += out.decode_seconds;
  };
  ask(kStory);
  for (const char* question : kQuestions) ask(question);
  std::printf("\n  load %.3f s, prompts at %.0f tokens/s, text at %.0f tokens/s\n", load,
              static_cast<double>(sum.prompt_tokens) / sum.prefill_seconds,
              static_cast<double>(sum.decoded) / sum.decode_seconds);
}

}  // namespace beeswax::cli
