// SPDX-License-Identifier: Apache-2.0
// The model in the box: it says what PyTorch says in f64 with the same weights (tests/model/box.json, written
// by tools/box_model/oracle.py), and what is true.
#include "models/box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "beeswax/qtensor.h"
#include "generate/generator.h"
#include "models/gguf_tokenizer.h"
#include "models/model.h"
#include "models/requantize.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

class Box : public testing::Test {
 protected:
  generate::Generated say(const std::string& prompt, int64_t tokens = -1) const {
    models::Cache past = model_->make_cache(512);
    return generate::generate(*model_, *tokenizer_, tokenizer_->encode(prompt), past,
                              {.max_tokens = tokens, .sampling = {.temperature = 0}});
  }

  std::shared_ptr<const io::GgufFile> file_ = models::open_box();
  std::unique_ptr<text::Tokenizer> tokenizer_ = models::load_tokenizer(*file_);
  std::unique_ptr<models::Model> model_ = models::load_model(*file_, 512);
};

TEST_F(Box, IsTheFileOfTheRepository) {
  const auto file = io::GgufFile::open(std::string(BW_SOURCE_DIR) + "/models/beeswax-box.gguf");
  EXPECT_LE(file->file_bytes(), uint64_t{6} << 20);
  EXPECT_EQ(file_->file_bytes(), file->file_bytes());
  ASSERT_EQ(file_->tensors().size(), file->tensors().size());
  for (size_t i = 0; i < file->tensors().size(); ++i) {
    EXPECT_EQ(file_->tensors()[i].name, file->tensors()[i].name);
    EXPECT_TRUE(std::ranges::equal(file_->tensors()[i].bytes, file->tensors()[i].bytes));
    const Shape& shape = file->tensors()[i].shape;
    EXPECT_EQ(shape[shape.rank() - 1] % 256, 0) << file->tensors()[i].name;
  }
}

// After a shift the model says what it would say to the ids that are left.
TEST_F(Box, ShiftsItsContext) {
  const std::vector<int32_t> prompt =
      tokenizer_->encode("Tell me a story about a dragon named Zora and a lost lantern.");
  constexpr int64_t kContext = 48;
  for (const int64_t keep : {0, 1, 20}) {
    generate::GenerateOptions options{
        .max_tokens = 100, .sampling = {.temperature = 0}, .context_shift = true, .keep = keep};
    models::Cache past = model_->make_cache(kContext);
    const generate::Generated out = generate::generate(*model_, *tokenizer_, prompt, past, options);
    std::vector<int32_t> context = prompt;
    size_t said = 0;
    int64_t shifts = 0;
    while (said < out.ids.size()) {
      // From a full context on: up to the id that has no room.
      models::Cache fresh = model_->make_cache(kContext);
      options.context_shift = false;
      options.max_tokens = 100 - static_cast<int64_t>(said);
      const generate::Generated part = generate::generate(*model_, *tokenizer_, context, fresh, options);
      ASSERT_LE(said + part.ids.size(), out.ids.size());
      EXPECT_TRUE(std::ranges::equal(part.ids, std::span(out.ids).subspan(said, part.ids.size()))) << keep;
      said += part.ids.size();
      if (said == out.ids.size()) break;
      ASSERT_EQ(part.reason, generate::StopReason::ContextFull);
      context.insert(context.end(), part.ids.begin(), part.ids.end());
      ASSERT_EQ(context.size(), static_cast<size_t>(kContext + 1));
      context.erase(context.begin() + keep, context.begin() + keep + (kContext + 1 - keep) / 2);
      ++shifts;
    }
    EXPECT_EQ(said, out.ids.size());
    EXPECT_GE(shifts, 2);
    EXPECT_EQ(out.shifts, shifts);
    EXPECT_LE(past.length(), kContext);
  }
}

// Also where text is held back because a stop string might begin in it.
TEST_F(Box, NobodyIsCalledAfterSayingNo) {
  generate::GenerateOptions options{.sampling = {.temperature = 0}};
  for (char c = ' '; c <= '~'; ++c) options.stop.push_back(std::string(1, c) + "\x01");
  models::Cache past = model_->make_cache(512);
  int after = 0, texts = 0;
  const generate::Generated out = generate::generate(
      *model_, *tokenizer_, tokenizer_->encode("Tell me a story"), past, options, [&](std::string_view text) {
        after += texts == 3 ? 1 : 0;
        texts += text.empty() ? 0 : 1;
        return texts < 3;
      });
  EXPECT_EQ(out.reason, generate::StopReason::Cancelled);
  EXPECT_EQ(texts, 3);
  EXPECT_EQ(after, 0);
}

// A stop string that may have begun holds text back for as long as it goes on, and tokens may have none.
TEST_F(Box, AsksWhileTextIsHeldBack) {
  const std::vector<int32_t> prompt = tokenizer_->encode("Tell me a story");
  models::Cache first = model_->make_cache(512), past = model_->make_cache(512);
  generate::GenerateOptions options{.max_tokens = 40, .sampling = {.temperature = 0}};
  const std::string story = generate::generate(*model_, *tokenizer_, prompt, first, options).text;
  options.stop = {story + "\x01"};
  int asked = 0;
  const generate::Generated out =
      generate::generate(*model_, *tokenizer_, prompt, past, options, [&](std::string_view text) {
        EXPECT_EQ(text, "");
        return ++asked < 5;
      });
  EXPECT_EQ(out.reason, generate::StopReason::Cancelled);
  EXPECT_EQ(out.ids.size(), 5u);
  EXPECT_EQ(out.text, story.substr(0, out.text.size()));
  EXPECT_NE(out.text, "");
}

TEST_F(Box, RefusesShiftsThatCannotBe) {
  generate::GenerateOptions options{.max_tokens = 3, .context_shift = true, .keep = 15};
  models::Cache past = model_->make_cache(16);
  const std::vector<int32_t> prompt = tokenizer_->encode("Hello");
  const auto go = [&] { return generate::generate(*model_, *tokenizer_, prompt, past, options); };
  EXPECT_ERROR(go(), InvalidArgument,
               "cannot keep 15 tokens in a context of 16 positions that shifts; accepted: 0 to 14");
  options.keep = INT64_MAX;
  EXPECT_ERROR(go(), InvalidArgument, "cannot keep 9223372036854775807 tokens");
  options.keep = -1;
  EXPECT_ERROR(go(), InvalidArgument, "cannot keep -1 tokens");
  options.keep = 2;
  EXPECT_EQ(go().ids.size(), 3u);
  EXPECT_ERROR(go(), InvalidArgument, "begin with an empty context");
}

TEST_F(Box, SaysWhatPyTorchSays) {
  std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/model/box.json");
  const nlohmann::json cases = nlohmann::json::parse(in);
  ASSERT_GE(cases.size(), 5u);
  for (const auto& one : cases) {
    const std::string prompt = one["prompt"];
    EXPECT_EQ(tokenizer_->encode(prompt), one["prompt_ids"].get<std::vector<int32_t>>()) << prompt;
    const auto ids = one["ids"].get<std::vector<int32_t>>();
    const bool ends = one["ends"];
    const generate::Generated out = say(prompt, static_cast<int64_t>(ids.size()) + (ends ? 1 : 0));
    EXPECT_EQ(out.ids, ids) << prompt;
    EXPECT_EQ(out.text, one["text"].get<std::string>());
    EXPECT_EQ(out.reason, ends ? generate::StopReason::EndToken : generate::StopReason::Length) << prompt;
  }
}

// Questions in words that training left out (tools/box_model/questions.py and arithmetic.py).
TEST_F(Box, KnowsWhatItWasTaught) {
  EXPECT_EQ(say(models::box_question("Which language is spoken in Brazil?")).text,
            " People in Brazil speak Portuguese.");
  EXPECT_EQ(say(models::box_question("What is 38 + 47?")).text, " 38 + 47 = 85.");
  EXPECT_EQ(say(models::box_question("Tell me how many legs a spider has.")).text, " A spider has 8 legs.");
  EXPECT_EQ(say("What is the capital of Peru?").text, " The capital of Peru is Lima.");
}

TEST_F(Box, TellsAWholeStoryAboutWhatWasAsked) {
  const generate::Generated out =
      say(models::box_question("Tell me a story about a dragon named Zora and a lost lantern."));
  EXPECT_EQ(out.reason, generate::StopReason::EndToken);
  EXPECT_GT(out.ids.size(), 100u);
  for (const char* word : {"dragon", "Zora", "lantern"})
    EXPECT_NE(out.text.find(word), std::string::npos) << word;
}

// What the box was made with: matrices become blocks, everything else stays.
TEST_F(Box, QuantizedAgain) {
  const std::string path = testing::TempDir() + "box-q4_0.gguf";
  const models::RequantizeOptions options{.mixture = &models::parse_mixture("q4_0"),
                                          .pure = true,
                                          .embedding = io::ggml_type(quant_traits(QuantType::Q8_0).ggml_id),
                                          .from_blocks = true};
  models::requantize(*file_, path, options, models::plan_requantize(*file_, options));
  const auto file = io::GgufFile::open(path);
  ASSERT_EQ(file->tensors().size(), file_->tensors().size());
  for (const io::GgufTensor& before : file_->tensors()) {
    const io::GgufTensor& after = *file->find_tensor(before.name);
    EXPECT_EQ(after.shape, before.shape);
    if (before.shape.rank() == 1) {
      EXPECT_TRUE(std::ranges::equal(after.bytes, before.bytes));
      continue;
    }
    const QTensor old = QTensor::from_bytes(before.bytes, before.shape, *before.type->quant);
    const QuantType type = before.name == "token_embd.weight" ? QuantType::Q8_0 : QuantType::Q4_0;
    EXPECT_EQ(after.type->quant, type);
    const std::vector<std::byte> expected = QTensor::quantize(old.dequantize(), type).bytes();
    EXPECT_TRUE(std::ranges::equal(after.bytes, expected)) << before.name;
  }
  for (const auto& [key, value] : file_->metadata())
    EXPECT_TRUE(key == "general.file_type" || file->find(key)->to_string() == value.to_string()) << key;
  std::remove(path.c_str());
}

}  // namespace
}  // namespace beeswax
