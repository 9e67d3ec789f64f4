// SPDX-License-Identifier: Apache-2.0
// Generation: ids in, text out, token by token, until a stop token, a stop string, a count, the end of the
// context, or the caller says so.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sampler.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace beeswax::generate {

enum class StopReason { EndToken, StopString, Length, ContextFull, Cancelled };
BW_API std::string_view stop_reason_name(StopReason reason);

struct GenerateOptions {
  int64_t max_tokens = -1;  ///< -1: until the model ends or the context is full
  std::vector<std::string> stop = {};
  SamplingOptions sampling = {};
  int64_t batch = 512;  ///< prompt tokens run at a time
  /// Where the context is full: forget the older half of it, except the first `keep` ids, run what is left
  /// again, and go on. What follows is what would follow a prompt of the ids that were left.
  bool context_shift = false;
  int64_t keep = 1;
};

struct Generated {
  std::string text;  ///< up to a stop string, exclusive
  std::vector<int32_t> ids;
  StopReason reason = StopReason::Length;
  int64_t prompt_tokens = 0;  ///< that were run: all, unless the caller ended it before
  double prefill_seconds = 0, decode_seconds = 0;
  int64_t decoded = 0;  ///< tokens that the decode seconds went into
  int64_t shifts = 0;   ///< times that the context was shifted; their time is in the decode seconds
};

/// Text as it becomes certain; return false to end the generation. Between the batches of a prompt, and
/// behind a token that makes no text certain, it is asked with no text. Nobody is called after saying no;
/// what was held back then is in Generated::text alone.
using OnText = std::function<bool(std::string_view text)>;

/// Runs the prompt behind `past` and generates. TooLarge, before anything is computed, where the prompt does
/// not fit the context; InvalidArgument for an empty prompt, and for a context shift with a `past` that is
/// not empty or has room for fewer than keep + 2 positions.
BW_API Generated generate(const models::Model& model, const text::Tokenizer& tokenizer,
                          const std::vector<int32_t>& prompt, models::Cache& past,
                          const GenerateOptions& options, const OnText& on_text = {});

}  // namespace beeswax::generate
