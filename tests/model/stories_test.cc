// SPDX-License-Identifier: Apache-2.0
// The published stories260K checkpoints: the text that their publisher expects at temperature 0, byte for
// byte, whatever the batch size, thread count and cache length. Skipped where the files are not there.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/thread_pool.h"
#include "generate/generator.h"
#include "io/gguf.h"
#include "models/gguf_tokenizer.h"
#include "models/model.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

constexpr const char* kStory =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, "
    "she saw "
    "a big, red ball. She wanted to play with it, but it was too high.\n"
    "Lily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know what to do. She said, \"I "
    "want to "
    "play with your ball, but I can't find it.\"\n"
    "Lily was sad and didn't know what to do. She said, \"I'm sorry, Lily. I didn't know what to do.\"\n"
    "Lily didn't want to help her mom, so she said, \"I'm sorry, mom. I didn't know what to do.\" Her mom "
    "said, "
    "\"Don't worry, Lily. We can help you.";

struct Loaded {
  std::shared_ptr<const io::GgufFile> file;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<models::Model> model;
};

std::string path_of(const std::string& type) {
  return BW_SOURCE_DIR "/../shared/models/stories260K-" + type + ".gguf";
}

Loaded load(const std::string& type) {
  Loaded out;
  out.file = io::GgufFile::open(path_of(type));
  out.tokenizer = models::load_tokenizer(*out.file);
  out.model = models::load_model(*out.file, 512);
  return out;
}

generate::Generated tell(const Loaded& m, const std::string& prompt, generate::GenerateOptions options,
                         int64_t context = 512) {
  options.sampling.temperature = 0;
  models::Cache past = m.model->make_cache(context);
  return generate::generate(*m.model, *m.tokenizer, m.tokenizer->encode(prompt), past, options);
}

class Stories : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(path_of("f32"))) GTEST_SKIP() << "no ../shared/models/stories260K-f32.gguf";
  }
};

TEST_F(Stories, TheExpectedText) {
  const generate::Generated out = tell(load("f32"), "", {.max_tokens = 256});
  EXPECT_EQ(out.text, kStory);
  EXPECT_EQ(out.prompt_tokens, 1);
  EXPECT_EQ(out.reason, generate::StopReason::Length);
  EXPECT_EQ(tell(load("f16"), "", {.max_tokens = 256}).text.substr(0, 150),
            std::string(kStory).substr(0, 150));
  EXPECT_EQ(tell(load("q8_0"), "", {.max_tokens = 256}).text.substr(0, 150),
            std::string(kStory).substr(0, 150));
}

// A prompt is run in one batch, a generation token by token: both must see the same past.
TEST_F(Stories, PromptsContinueAlikeInAnyBatch) {
  const Loaded m = load("f32");
  const std::string whole = kStory;
  const std::string prompt = whole.substr(0, 100);
  std::string first;
  for (const int64_t batch : {1, 3, 512}) {
    const std::string text = tell(m, prompt, {.max_tokens = 40, .batch = batch}).text;
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << batch;
  }
  EXPECT_FALSE(first.empty());
}

TEST_F(Stories, ThreadsDoNotChangeAnything) {
  const int before = ThreadPool::global().threads();
  std::vector<int32_t> ids;
  for (const int threads : {1, 2, 5}) {
    ThreadPool::global().set_threads(threads);
    const std::vector<int32_t> now = tell(load("q8_0"), "Once", {.max_tokens = 60}).ids;
    if (ids.empty()) ids = now;
    EXPECT_EQ(now, ids);
  }
  ThreadPool::global().set_threads(before);
}

TEST_F(Stories, StopsAsAsked) {
  const Loaded m = load("f32");
  const generate::Generated stopped = tell(m, "", {.max_tokens = 256, .stop = {"absent", "park. One"}});
  EXPECT_EQ(stopped.reason, generate::StopReason::StopString);
  EXPECT_EQ(stopped.text, std::string(kStory).substr(0, std::string(kStory).find("park. One")));
  const generate::Generated full = tell(m, "", {}, 20);
  EXPECT_EQ(full.reason, generate::StopReason::ContextFull);
  EXPECT_EQ(full.ids.size(), 20u);
  EXPECT_TRUE(std::string(kStory).starts_with(full.text));
  EXPECT_EQ(tell(m, "", {.max_tokens = 0}).ids.size(), 0u);
  EXPECT_ERROR(tell(m, kStory, {}, 20), TooLarge, "do not fit the context of 20 positions");
}

TEST_F(Stories, TokensGoToTextAndBack) {
  const Loaded m = load("f32");
  for (const std::string text :
       {"Once upon a time", "  two  spaces ", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "a\nb\tc", ""}) {
    const std::vector<int32_t> ids = m.tokenizer->encode(text);
    ASSERT_FALSE(ids.empty());
    EXPECT_EQ(ids[0], m.tokenizer->vocabulary().special().bos);
    EXPECT_EQ(m.tokenizer->decode(ids), text);
  }
}

}  // namespace
}  // namespace beeswax
