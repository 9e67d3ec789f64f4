// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "beeswax/error.h"
#include "clock.h"
#include "median.h"

namespace beeswax::bench {
namespace {

constexpr double kShortestSample = 1e-3;  // shorter bodies are repeated within one sample
constexpr double kLongBody = 0.1;         // longer ones are warm after one call

// Calls that make one sample long enough for the clock and the threads' wake-up. Warms up on the way.
int64_t calls_per_sample(const std::function<void()>& body) {
  int64_t calls = 1;
  const Stopwatch first;
  body();
  if (first.seconds() > kLongBody) return 1;
  for (;;) {
    const Stopwatch watch;
    for (int64_t i = 0; i < calls; ++i) body();
    const double seconds = watch.seconds();
    if (seconds >= kShortestSample / 2) {
      const double wanted = kShortestSample / seconds * static_cast<double>(calls);
      return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(wanted)));
    }
    calls *= 8;
  }
}

// Times a thread of ours was taken off its processor for another program.
int64_t preemptions() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

struct Sample {
  double seconds = 0;
  double ceiling_before = 0, ceiling_after = 0;
  double in_cache = 0;      // bytes per second
  int64_t preemptions = 0;  // from the ceiling before to the one after
};

// The samples nobody disturbed, if there are enough of them to stand for all.
std::vector<Sample> calm_ones(const std::vector<Sample>& samples, size_t enough) {
  std::vector<Sample> calm;
  for (const Sample& one : samples)
    if (one.preemptions == 0) calm.push_back(one);
  return calm.size() >= enough ? calm : samples;
}

Result measure(const Case& one, Ceilings& ceilings, const Effort& effort) {
  ceilings.prepare(one.ceiling);
  const std::function<void()> body = one.make();
  const std::function<void()> cached = one.make_in_cache ? one.make_in_cache() : Body();
  const Stopwatch total;
  const int64_t calls = calls_per_sample(body);
  const int64_t cached_calls = cached ? calls_per_sample(cached) : 0;
  const double work = counts_operations(one) ? one.flops : one.bytes;
  const bool has_ceiling = one.ceiling != Ceiling::None;
  const auto wanted = static_cast<size_t>(effort.samples);
  const auto least = static_cast<size_t>(effort.least);
  double hint = 2e-3;
  const auto sample_ceiling = [&] { return has_ceiling ? ceilings.sample(one.ceiling, hint) : 0.0; };
  std::vector<Sample> samples;
  size_t calm = 0;
  int64_t before = preemptions();
  double last_ceiling = sample_ceiling();
  const auto more = [&] {
    const double seconds = total.seconds();
    if (samples.empty() || seconds < effort.seconds) return calm < wanted;
    return samples.size() < least && seconds < 3 * effort.seconds;
  };
  while (more()) {
    Sample sample;
    sample.ceiling_before = last_ceiling;
    const int64_t during = preemptions();
    const Stopwatch watch;
    for (int64_t i = 0; i < calls; ++i) body();
    sample.seconds = watch.seconds() / static_cast<double>(calls);
    hint = std::clamp(sample.seconds * static_cast<double>(calls), 1e-3, 2e-2);
    if (cached) {
      const Stopwatch cached_watch;
      for (int64_t i = 0; i < cached_calls; ++i) cached();
      sample.in_cache = one.bytes_in_cache * static_cast<double>(cached_calls) / cached_watch.seconds();
    }
    sample.ceiling_after = last_ceiling = sample_ceiling();
    sample.preemptions = preemptions() - before;
    before = during;
    if (sample.preemptions == 0) ++calm;
    samples.push_back(sample);
  }
  const std::vector<Sample> used = calm_ones(samples, least);
  std::vector<double> seconds, rates, in_cache, ratios, shares;
  size_t by_in_cache = 0;
  for (const Sample& sample : used) {
    const double ceiling = (sample.ceiling_before + sample.ceiling_after) / 2;
    seconds.push_back(sample.seconds);
    rates.push_back(ceiling);
    in_cache.push_back(sample.in_cache);
    if (!has_ceiling) continue;
    const bool computes = cached && sample.in_cache < ceiling;
    by_in_cache += computes ? 1 : 0;
    ratios.push_back(work / sample.seconds / ceiling);
    shares.push_back(work / sample.seconds / (computes ? sample.in_cache : ceiling));
  }
  Result out;
  out.samples = static_cast<int>(used.size());
  out.disturbed = static_cast<int>(samples.size() - calm);
  out.median_seconds = median(seconds);
  out.min_seconds = *std::min_element(seconds.begin(), seconds.end());
  out.rate = work / out.median_seconds;
  out.ceiling = median(rates);
  out.in_cache = median(in_cache);
  out.by_in_cache = 2 * by_in_cache > used.size();
  if (has_ceiling) {
    out.share = median(shares);
    out.ceiling_share = median(ratios);
  }
  return out;
}

}  // namespace

bool counts_operations(const Case& one) {
  return one.ceiling == Ceiling::None ? one.flops > 0 : ceiling_counts_operations(one.ceiling);
}

Result run_case(const Case& one, Ceilings& ceilings, const Effort& effort) {
  Result out;
  try {
    return measure(one, ceilings, effort);
  } catch (const Error& error) {
    const bool missing =
        error.kind() == ErrorKind::Unsupported || error.kind() == ErrorKind::UnsupportedDType;
    out.status = missing ? Status::Missing : Status::Failed;
    out.message = error.what();
  } catch (const std::exception& error) {
    out.status = Status::Failed;
    out.message = error.what();
  }
  return out;
}

}  // namespace beeswax::bench
