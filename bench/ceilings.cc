// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "clock.h"
#include "core/fail.h"
#include "core/os/memory.h"
#include "core/thread_pool.h"
#include "loops.h"
#include "median.h"

namespace beeswax::bench {
namespace {

// Keeps results alive that nobody reads.
std::atomic<uint64_t> sink{0};

// Nominal bytes for each byte of the largest array.
double bytes_moved(Ceiling ceiling) {
  switch (ceiling) {
    case Ceiling::Triad:
      return 3;
    case Ceiling::Copy:
      return 2;
    case Ceiling::Widen2:
    case Ceiling::Narrow2:
      return 1.5;
    case Ceiling::Widen4:
    case Ceiling::Narrow4:
      return 1.25;
    case Ceiling::Narrow8:
      return 1.125;
    default:
      return 1;
  }
}

// Bytes written for each byte read.
int64_t widening(Ceiling ceiling) {
  return ceiling == Ceiling::Widen4 ? 4 : ceiling == Ceiling::Widen2 ? 2 : 1;
}

// Bytes read for each byte written.
int64_t narrowing(Ceiling ceiling) {
  return ceiling == Ceiling::Narrow8   ? 8
         : ceiling == Ceiling::Narrow4 ? 4
         : ceiling == Ceiling::Narrow2 ? 2
                                       : 1;
}

// Pieces of the work: small enough that a thread which loses its core for a while holds nobody up.
double run_arithmetic(const ArithmeticVariant& variant, int64_t rounds, int pieces) {
  const Stopwatch watch;
  ThreadPool::global().parallel_for(
      pieces, [&](int64_t) { sink.fetch_add(variant.loop(rounds), std::memory_order_relaxed); });
  return static_cast<double>(rounds) * pieces * variant.operations / watch.seconds();
}

std::string piece_text(int64_t bytes) {
  return bytes < (1 << 20) ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes >> 20) + " MiB";
}

constexpr int kPiecesPerThread = 8;
constexpr int kRounds = 3;

}  // namespace

Ceilings::~Ceilings() {
  for (std::byte* array : arrays_)
    if (array != nullptr) os::free_pages(array, static_cast<size_t>(bytes_));
}

std::byte* Ceilings::array(size_t which) {
  if (arrays_[which] == nullptr) {
    arrays_[which] = static_cast<std::byte*>(os::allocate_pages(static_cast<size_t>(bytes_)));
    if (arrays_[which] == nullptr)
      fail(ErrorKind::OutOfMemory, "ceilings", bytes_, " bytes for an array to measure bandwidth over");
    std::memset(arrays_[which], 1, static_cast<size_t>(bytes_));
  }
  return arrays_[which];
}

double Ceilings::run_bandwidth(Ceiling ceiling, size_t variant, int64_t piece) {
  const MemoryLoop loop = memory_variants(ceiling)[variant].loop;
  std::byte* out = array(0);
  const std::byte* a = array(1);
  const std::byte* b = ceiling == Ceiling::Triad ? array(2) : nullptr;
  const int64_t widen = widening(ceiling);
  const int64_t narrow = narrowing(ceiling);
  const Stopwatch watch;
  parallel_ranges(bytes_, piece, [&](int64_t begin, int64_t end) {
    sink.fetch_add(
        loop(out + begin / narrow, a + begin / widen, b == nullptr ? nullptr : b + begin, end - begin),
        std::memory_order_relaxed);
  });
  return static_cast<double>(bytes_) * bytes_moved(ceiling) / watch.seconds();
}

void Ceilings::prepare(Ceiling ceiling) {
  if (ceiling == Ceiling::None || prepared(ceiling)) return;
  std::vector<Chosen> candidates;
  if (ceiling_counts_operations(ceiling)) {
    const std::vector<ArithmeticVariant> variants = arithmetic_variants(ceiling);
    for (size_t i = 0; i < variants.size(); ++i) candidates.push_back({i, 0, variants[i].name});
  } else {
    const int64_t share = bytes_ / ThreadPool::global().threads() / 4096 * 4096;
    const std::vector<MemoryVariant> variants = memory_variants(ceiling);
    for (size_t i = 0; i < variants.size(); ++i)
      for (const int64_t piece : {int64_t{256} << 10, int64_t{2} << 20, share})
        candidates.push_back({i, piece, variants[i].name + std::string(", pieces of ") + piece_text(piece)});
  }
  if (candidates.empty())
    fail(ErrorKind::Unsupported, "ceilings", "no loop for ", ceiling_name(ceiling), " on this processor");
  // The machine's speed drifts, so all candidates run once per round, and one is as good as the median of its
  // rates divided by those of the round.
  std::vector<std::vector<double>> relative(candidates.size());
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> rates;
    for (const Chosen& one : candidates) rates.push_back(run(ceiling, one, 1e-3));
    const double middle = median(rates);
    for (size_t i = 0; i < rates.size(); ++i) relative[i].push_back(rates[i] / middle);
  }
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i)
    if (median(relative[i]) > median(relative[best])) best = i;
  chosen_[index(ceiling)] = candidates[best];
}

double Ceilings::run(Ceiling ceiling, const Chosen& chosen, double seconds) {
  if (!ceiling_counts_operations(ceiling)) return run_bandwidth(ceiling, chosen.variant, chosen.piece);
  const ArithmeticVariant variant = arithmetic_variants(ceiling)[chosen.variant];
  const int pieces = kPiecesPerThread * ThreadPool::global().threads();
  double& rate = last_rate_[index(ceiling)];
  if (rate <= 0) rate = run_arithmetic(variant, 1000, pieces);
  const double rounds = seconds * rate / (variant.operations * pieces);
  rate = run_arithmetic(variant, std::max<int64_t>(100, static_cast<int64_t>(rounds)), pieces);
  return rate;
}

double Ceilings::sample(Ceiling ceiling, double seconds) {
  std::vector<double>& samples = samples_[index(ceiling)];
  samples.push_back(run(ceiling, chosen_[index(ceiling)], seconds));
  return samples.back();
}

Spread Ceilings::spread(Ceiling ceiling) const {
  std::vector<double> samples = samples_[index(ceiling)];
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? Spread{} : Spread{samples.front(), median(samples), samples.back()};
}

}  // namespace beeswax::bench
