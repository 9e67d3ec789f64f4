// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "beeswax/error.h"
#include "clock.h"
#include "median.h"

namespace beeswax::bench {
namespace {

constexpr double kShortestSample = 1e-3;  // shorter bodies are repeated within one sample

// Calls that make one sample long enough for the clock and the threads' wake-up. Warms up on the way.
int64_t calls_per_sample(const std::function<void()>& body) {
  int64_t calls = 1;
  body();
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

Result measure(const Case& one, Ceilings& ceilings, const Effort& effort) {
  ceilings.prepare(one.ceiling);
  const std::function<void()> body = one.make();
  const Stopwatch total;
  const int64_t calls = calls_per_sample(body);
  const double work = counts_operations(one) ? one.flops : one.bytes;
  std::vector<double> seconds;
  std::vector<double> ceiling_rates;
  double hint = 2e-3;
  const auto sample_ceiling = [&] {
    if (one.ceiling != Ceiling::None) ceiling_rates.push_back(ceilings.sample(one.ceiling, hint));
  };
  sample_ceiling();
  const auto wanted = static_cast<size_t>(effort.samples);
  while (seconds.size() < wanted &&
         (seconds.size() < static_cast<size_t>(effort.least) || total.seconds() < effort.seconds)) {
    const Stopwatch watch;
    for (int64_t i = 0; i < calls; ++i) body();
    seconds.push_back(watch.seconds() / static_cast<double>(calls));
    hint = std::clamp(seconds.back() * static_cast<double>(calls), 1e-3, 2e-2);
    sample_ceiling();
  }
  Result out;
  out.samples = static_cast<int>(seconds.size());
  out.median_seconds = median(seconds);
  out.min_seconds = *std::min_element(seconds.begin(), seconds.end());
  out.rate = work / out.median_seconds;
  if (one.ceiling != Ceiling::None) {
    std::vector<double> ratios;
    for (size_t i = 0; i < seconds.size(); ++i)
      ratios.push_back(work / seconds[i] / ((ceiling_rates[i] + ceiling_rates[i + 1]) / 2));
    out.share = median(ratios);
    out.ceiling = median(ceiling_rates);
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
