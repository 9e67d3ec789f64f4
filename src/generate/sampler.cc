// SPDX-License-Identifier: Apache-2.0
#include "generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/fail.h"
#include "core/philox.h"

namespace beeswax::generate {
namespace {

void check(bool good, std::string_view option, double value, std::string_view accepted) {
  if (!good) fail(ErrorKind::InvalidArgument, "sampling", option, " is ", value, "; accepted: ", accepted);
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options) : options_(options) {
  const SamplingOptions& o = options_;
  check(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature, "0 or more");
  check(o.top_k >= 0, "top-k", static_cast<double>(o.top_k), "0 or more");
  check(o.top_p > 0 && o.top_p <= 1, "top-p", o.top_p, "above 0, at most 1");
  check(o.min_p >= 0 && o.min_p <= 1, "min-p", o.min_p, "0 to 1");
  check(o.typical_p > 0 && o.typical_p <= 1, "typical-p", o.typical_p, "above 0, at most 1");
  check(o.repeat_penalty > 0 && std::isfinite(o.repeat_penalty), "repeat-penalty", o.repeat_penalty,
        "above 0");
  check(std::isfinite(o.frequency_penalty), "frequency-penalty", o.frequency_penalty, "a finite number");
  check(std::isfinite(o.presence_penalty), "presence-penalty", o.presence_penalty, "a finite number");
  check(o.penalty_window >= 0, "penalty window", static_cast<double>(o.penalty_window), "0 or more");
}

int32_t Sampler::next(std::span<const float> logits, std::span<const int32_t> recent) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) candidates_.push_back({static_cast<int32_t>(i), logits[i], 0});
  penalize(recent);
  std::erase_if(candidates_, [](const Candidate& c) { return std::isnan(c.logit); });
  if (candidates_.empty())
    fail(ErrorKind::Format, "sampling", "all logits are NaN: the model's weights hold NaN, or overflow");
  if (options_.temperature == 0) {
    const auto best =
        std::max_element(candidates_.begin(), candidates_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.logit < b.logit; });
    return best->id;
  }
  keep_top_k();
  normalize();
  keep_typical();
  keep_top_p();
  keep_min_p();
  const double top = candidates_.front().logit;
  // An infinite logit, or a difference that is none, must not become NaN.
  for (Candidate& c : candidates_) c.logit = c.logit == top ? 0 : (c.logit - top) / options_.temperature;
  normalize();
  // A number in [0, 1) with 53 bits from the seed's stream.
  const PhiloxBlock block = random_block(random_keys(options_.seed), drawn_++);
  const uint64_t bits = (uint64_t{block.word[0]} << 32 | block.word[1]) >> 11;
  double left = static_cast<double>(bits) * 0x1p-53;
  for (const Candidate& c : candidates_) {
    left -= c.probability;
    if (left < 0) return c.id;
  }
  return candidates_.back().id;
}

void Sampler::penalize(std::span<const int32_t> recent) {
  const SamplingOptions& o = options_;
  if (o.repeat_penalty == 1 && o.frequency_penalty == 0 && o.presence_penalty == 0) return;
  const auto window = static_cast<size_t>(o.penalty_window);
  if (recent.size() > window) recent = recent.last(window);
  std::unordered_map<int32_t, int> counts;
  for (const int32_t id : recent) ++counts[id];
  for (Candidate& c : candidates_) {
    const auto it = counts.find(c.id);
    if (it == counts.end()) continue;
    c.logit = c.logit > 0 ? c.logit / o.repeat_penalty : c.logit * o.repeat_penalty;
    c.logit -= it->second * o.frequency_penalty + o.presence_penalty;
  }
}

// The likeliest first, the lowest id of equals first.
void Sampler::keep_top_k() {
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  const auto k = static_cast<size_t>(options_.top_k);
  if (k > 0 && k < candidates_.size()) {
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k),
                      candidates_.end(), likelier);
    candidates_.resize(k);
  } else {
    std::sort(candidates_.begin(), candidates_.end(), likelier);
  }
}

void Sampler::normalize() {
  const double top = candidates_.front().logit;
  double sum = 0;
  for (Candidate& c : candidates_) {
    // An infinite logit takes everything.
    c.probability = c.logit == top ? 1 : std::exp(c.logit - top);
    sum += c.probability;
  }
  for (Candidate& c : candidates_) c.probability /= sum;
}

void Sampler::keep_typical() {
  if (options_.typical_p >= 1) return;
  double entropy = 0;
  for (const Candidate& c : candidates_)
    if (c.probability > 0) entropy -= c.probability * std::log(c.probability);
  const auto distance = [&](const Candidate& c) { return std::fabs(-std::log(c.probability) - entropy); };
  std::vector<Candidate> order = candidates_;
  std::stable_sort(order.begin(), order.end(),
                   [&](const Candidate& a, const Candidate& b) { return distance(a) < distance(b); });
  double sum = 0;
  size_t kept = 0;
  while (kept < order.size() && sum < options_.typical_p) sum += order[kept++].probability;
  order.resize(std::max<size_t>(kept, 1));
  std::stable_sort(order.begin(), order.end(),
                   [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
  candidates_ = std::move(order);
  normalize();
}

void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates_.size() && sum < options_.top_p) sum += candidates_[kept++].probability;
  candidates_.resize(std::max<size_t>(kept, 1));
  normalize();
}

void Sampler::keep_min_p() {
  const double least = options_.min_p * candidates_.front().probability;
  std::erase_if(candidates_, [&](const Candidate& c) { return c.probability < least; });
}

}  // namespace beeswax::generate
