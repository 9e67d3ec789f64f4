// SPDX-License-Identifier: Apache-2.0
#include "generate/generator.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>

#include "core/fail.h"

namespace beeswax::generate {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Holds text back while it may be the beginning of a stop string.
class StopFilter {
 public:
  explicit StopFilter(const std::vector<std::string>& stops) : stops_(stops) {}

  /// The text that is certain now. stopped() is true once a stop string has come.
  std::string push(std::string_view text) {
    held_ += text;
    size_t end = std::string::npos;
    for (const std::string& stop : stops_)
      if (!stop.empty()) end = std::min(end, held_.find(stop));
    if (end != std::string::npos) {
      stopped_ = true;
      return take(end);
    }
    return take(held_.size() - longest_beginning());
  }
  std::string finish() { return stopped_ ? std::string() : take(held_.size()); }
  bool stopped() const { return stopped_; }

 private:
  std::string take(size_t count) {
    std::string out = held_.substr(0, count);
    held_.erase(0, count);
    return out;
  }
  // Of the ends of the held text, the longest that begins a stop string.
  size_t longest_beginning() const {
    size_t longest = 0;
    for (const std::string& stop : stops_)
      for (size_t size = std::min(stop.size() - std::min<size_t>(stop.size(), 1), held_.size());
           size > longest; --size)
        if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, size))) longest = size;
    return longest;
  }

  const std::vector<std::string>& stops_;
  std::string held_;
  bool stopped_ = false;
};

// Logits of what follows; nothing where `go_on` said no between two batches.
std::optional<Tensor> run_prompt(const models::Model& model, std::span<const int32_t> prompt,
                                 models::Cache& past, int64_t batch, const std::function<bool()>& go_on) {
  Tensor logits;
  const auto step = static_cast<size_t>(std::max<int64_t>(1, batch));
  for (size_t first = 0; first < prompt.size(); first += step) {
    if (first > 0 && !go_on()) return std::nullopt;
    const size_t count = std::min(step, prompt.size() - first);
    logits = model.forward(prompt.subspan(first, count), past);
  }
  return logits;
}

// Of the ids that are in `past`, and the one that has no room there: half of those behind the first `keep`
// go, the others are run again. The logits of what follows.
std::optional<Tensor> shift_context(const models::Model& model, const GenerateOptions& options,
                                    std::vector<int32_t>& ids, models::Cache& past,
                                    const std::function<bool()>& go_on) {
  const auto first = ids.begin() + options.keep;
  ids.erase(first, first + (ids.end() - first) / 2);
  past.truncate(options.keep);
  return run_prompt(model, std::span(ids).subspan(static_cast<size_t>(options.keep)), past, options.batch,
                    go_on);
}

void check_shift(const GenerateOptions& options, const models::Cache& past) {
  if (past.length() > 0)
    fail(ErrorKind::InvalidArgument, "generate", "a context shift must know the ids of the ", past.length(),
         " positions before the prompt; begin with an empty context");
  if (past.capacity() < 2)
    fail(ErrorKind::InvalidArgument, "generate", "a context of ", past.capacity(),
         " positions cannot shift; it needs at least 2");
  if (options.keep < 0 || options.keep > past.capacity() - 2)
    fail(ErrorKind::InvalidArgument, "generate", "cannot keep ", options.keep, " tokens in a context of ",
         past.capacity(), " positions that shifts; accepted: 0 to ", past.capacity() - 2);
}

}  // namespace

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::EndToken:
      return "end_token";
    case StopReason::StopString:
      return "stop_string";
    case StopReason::Length:
      return "length";
    case StopReason::ContextFull:
      return "context_full";
    case StopReason::Cancelled:
      return "cancelled";
  }
  return "";
}

Generated generate(const models::Model& model, const text::Tokenizer& tokenizer,
                   const std::vector<int32_t>& prompt, models::Cache& past, const GenerateOptions& options,
                   const OnText& on_text) {
  if (prompt.empty())
    fail(ErrorKind::InvalidArgument, "generate", "the prompt is empty, and the model has no begin token");
  const auto length = static_cast<int64_t>(prompt.size());
  if (past.length() + length > past.capacity())
    fail(ErrorKind::TooLarge, "generate", "the prompt's ", length, " tokens after ", past.length(),
         " do not fit the context of ", past.capacity(), " positions");
  if (options.context_shift) check_shift(options, past);
  Sampler sampler(options.sampling);
  text::StreamDecoder decoder(tokenizer, prompt);
  StopFilter filter(options.stop);
  std::vector<int32_t> all = prompt, in_context = prompt;
  Generated out;
  bool wanted = true;
  const auto ask = [&](std::string_view text) { return wanted = wanted && (!on_text || on_text(text)); };
  const std::function<bool()> go_on = [&] { return ask({}); };

  const auto enough = [&] {
    return options.max_tokens >= 0 && static_cast<int64_t>(out.ids.size()) >= options.max_tokens;
  };

  auto start = Clock::now();
  const int64_t before = past.length();
  std::optional<Tensor> logits = run_prompt(model, prompt, past, options.batch, go_on);
  // Tables of embeddings are often longer than the vocabulary; what lies behind it is no token.
  const int64_t known = std::min(model.info().vocabulary, tokenizer.vocabulary().size());
  std::vector<float> values(static_cast<size_t>(known));
  const auto take_values = [&] { logits->narrow(0, 0, known).copy_to(std::span<float>(values)); };
  if (logits) take_values();
  out.prompt_tokens = past.length() - before;
  out.prefill_seconds = seconds_since(start);
  start = Clock::now();
  for (;;) {
    if (!logits) {
      out.reason = StopReason::Cancelled;
      break;
    }
    if (enough()) break;
    const int32_t id = sampler.next(values, all);
    if (tokenizer.vocabulary().is_stop(id)) {
      out.reason = StopReason::EndToken;
      break;
    }
    out.ids.push_back(id);
    all.push_back(id);
    const std::string text = filter.push(decoder.push(id));
    out.text += text;
    ask(text);
    if (filter.stopped()) {
      out.reason = StopReason::StopString;
      break;
    }
    if (!wanted) {
      out.reason = StopReason::Cancelled;
      break;
    }
    if (enough()) break;
    const bool full = past.length() == past.capacity();
    if (full && !options.context_shift) {
      out.reason = StopReason::ContextFull;
      break;
    }
    in_context.push_back(id);
    logits = full ? shift_context(model, options, in_context, past, go_on)
                  : model.forward(std::span(&id, 1), past);
    out.shifts += full ? 1 : 0;
    if (!logits) continue;
    take_values();
    ++out.decoded;
  }
  out.decode_seconds = seconds_since(start);
  std::string held = filter.push(decoder.finish());
  if (filter.stopped()) out.reason = StopReason::StopString;  // it took the last bytes to show
  held += filter.finish();
  out.text += held;
  if (!held.empty()) ask(held);
  return out;
}

}  // namespace beeswax::generate
