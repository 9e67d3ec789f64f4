// SPDX-License-Identifier: Apache-2.0
#include "generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  const std::map<int32_t, double> changed = penalized(logits, recent);
  const auto wanted = static_cast<size_t>(options_.temperature == 0 ? 1 : options_.top_k);
  if (wanted > 0 && wanted < logits.size())
    find_best(logits, changed, wanted);
  else
    take_all(logits, changed);
  if (candidates_.empty())
    fail(ErrorKind::Format, "sampling", "all logits are NaN: the model's weights hold NaN, or overflow");
  order(1);
  if (options_.temperature == 0) return candidates_.front().id;
  normalize();
  keep_typical();
  // Both keep the first ones. This one looks at fewer, and leaves the probabilities as top-p is to see them.
  keep_min_p();
  keep_top_p();
  const double top = candidates_.front().logit;
  // An infinite logit, or a difference that is none, must not become NaN.
  for (Candidate& c : candidates_) c.logit = c.logit == top ? 0 : (c.logit - top) / options_.temperature;
  normalize();
  // A number in [0, 1) with 53 bits from the seed's stream.
  const PhiloxBlock block = random_block(random_keys(options_.seed), drawn_++);
  const uint64_t bits = (uint64_t{block.word[0]} << 32 | block.word[1]) >> 11;
  double left = static_cast<double>(bits) * 0x1p-53;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    order(i + 1);
    left -= candidates_[i].probability;
    if (left < 0) return candidates_[i].id;
  }
  return candidates_.back().id;
}

std::map<int32_t, double> Sampler::penalized(std::span<const float> logits,
                                             std::span<const int32_t> recent) const {
  const SamplingOptions& o = options_;
  std::map<int32_t, double> changed;
  if (o.repeat_penalty == 1 && o.frequency_penalty == 0 && o.presence_penalty == 0) return changed;
  const auto window = static_cast<size_t>(o.penalty_window);
  if (recent.size() > window) recent = recent.last(window);
  for (const int32_t id : recent) {
    if (id < 0 || static_cast<size_t>(id) >= logits.size()) continue;
    const auto [it, first] = changed.try_emplace(id, logits[static_cast<size_t>(id)]);
    double& logit = it->second;
    if (first) {
      logit = logit > 0 ? logit / o.repeat_penalty : logit * o.repeat_penalty;
      logit -= o.presence_penalty;
    }
    logit -= o.frequency_penalty;
  }
  return changed;
}

// The `count` likeliest of more, in order. What is less likely than all of them is passed over by the block.
void Sampler::find_best(std::span<const float> logits, const std::map<int32_t, double>& changed,
                        size_t count) {
  constexpr size_t kBlock = 64;
  candidates_.clear();
  float least = -std::numeric_limits<float>::infinity();
  // A heap whose front is the least likely.
  const auto offer = [&](const Candidate& c) {
    if (std::isnan(c.logit)) return;
    if (candidates_.size() == count) {
      if (!(c < candidates_.front())) return;
      std::pop_heap(candidates_.begin(), candidates_.end());
      candidates_.back() = c;
    } else {
      candidates_.push_back(c);
    }
    std::push_heap(candidates_.begin(), candidates_.end());
    if (candidates_.size() == count) least = static_cast<float>(candidates_.front().logit);
  };
  for (const auto& [id, logit] : changed) offer({id, logit, 0});
  for (size_t first = 0; first < logits.size(); first += kBlock) {
    const std::span<const float> block = logits.subspan(first, std::min(kBlock, logits.size() - first));
    unsigned some = 0;
    for (const float logit : block) some |= static_cast<unsigned>(logit >= least);
    if (some == 0) continue;
    for (size_t i = 0; i < block.size(); ++i) {
      const auto id = static_cast<int32_t>(first + i);
      if (block[i] >= least && !changed.contains(id)) offer({id, block[i], 0});
    }
  }
  std::sort_heap(candidates_.begin(), candidates_.end());
  ordered_ = candidates_.size();
}

// In no order yet.
void Sampler::take_all(std::span<const float> logits, const std::map<int32_t, double>& changed) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) candidates_.push_back({static_cast<int32_t>(i), logits[i], 0});
  for (const auto& [id, logit] : changed) candidates_[static_cast<size_t>(id)].logit = logit;
  std::erase_if(candidates_, [](const Candidate& c) { return std::isnan(c.logit); });
  ordered_ = 0;
}

// Puts the `count` likeliest in order, and some more: mostly the first few of a vocabulary are asked for.
void Sampler::order(size_t count) {
  if (count <= ordered_) return;
  const auto at = [&](size_t i) { return candidates_.begin() + static_cast<std::ptrdiff_t>(i); };
  size_t wanted = std::max<size_t>({count, 8 * ordered_, 64});
  if (wanted > candidates_.size() / 8) wanted = candidates_.size();  // a sort is as fast then
  if (wanted == candidates_.size())
    std::sort(at(ordered_), candidates_.end());
  else
    std::partial_sort(at(ordered_), at(wanted), candidates_.end());
  ordered_ = wanted;
}

// Keeps the first ones, which are in order.
void Sampler::keep(size_t count) {
  candidates_.resize(count);
  ordered_ = std::min(ordered_, count);
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
  order(candidates_.size());
  double entropy = 0;
  for (const Candidate& c : candidates_)
    if (c.probability > 0) entropy -= c.probability * std::log(c.probability);
  const auto distance = [&](const Candidate& c) { return std::fabs(-std::log(c.probability) - entropy); };
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [&](const Candidate& a, const Candidate& b) { return distance(a) < distance(b); });
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates_.size() && sum < options_.typical_p) sum += candidates_[kept++].probability;
  keep(std::max<size_t>(kept, 1));
  std::sort(candidates_.begin(), candidates_.end());
  normalize();
}

void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates_.size() && sum < options_.top_p) {
    order(kept + 1);
    sum += candidates_[kept++].probability;
  }
  keep(std::max<size_t>(kept, 1));
  normalize();
}

void Sampler::keep_min_p() {
  const double least = options_.min_p * candidates_.front().probability;
  if (!(least > 0)) return;
  size_t kept = 1;
  for (; kept < candidates_.size(); ++kept) {
    order(kept + 1);
    if (candidates_[kept].probability < least) break;
  }
  keep(kept);
}

}  // namespace beeswax::generate
