// SPDX-License-Identifier: Apache-2.0
// The ceilings: bandwidths and arithmetic rates of this machine, by our own loops on the library's threads.
// Each has several variants (ordinary or cache-bypassing stores, sizes of the parallel pieces, vector widths
// up to the instruction-set level in use); the fastest one is chosen when it is first needed and then kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ceiling.h"

namespace beeswax::bench {

struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
};

class Ceilings {
 public:
  /// `array_bytes`: the size of each array that the bandwidths are measured over.
  explicit Ceilings(int64_t array_bytes) : bytes_(array_bytes) {}
  ~Ceilings();
  Ceilings(const Ceilings&) = delete;
  Ceilings& operator=(const Ceilings&) = delete;

  /// Chooses the variant; nothing if that was done.
  void prepare(Ceiling ceiling);
  /// One run: bytes or operations per second. Arithmetic runs for about `seconds`.
  double sample(Ceiling ceiling, double seconds);
  bool prepared(Ceiling ceiling) const { return !chosen_[index(ceiling)].name.empty(); }
  /// Over the samples taken so far.
  Spread spread(Ceiling ceiling) const;
  /// What was chosen.
  const std::string& variant(Ceiling ceiling) const { return chosen_[index(ceiling)].name; }

 private:
  struct Chosen {
    size_t variant = 0;
    int64_t piece = 0;  // bytes of one parallel piece
    std::string name = {};
  };
  static size_t index(Ceiling ceiling) { return static_cast<size_t>(ceiling); }
  double run(Ceiling ceiling, const Chosen& chosen, double seconds);
  double run_bandwidth(Ceiling ceiling, size_t variant, int64_t piece);
  std::byte* array(size_t which);

  int64_t bytes_;
  std::array<std::byte*, 3> arrays_{};
  std::array<Chosen, kCeilingCount> chosen_;
  std::array<double, kCeilingCount> last_rate_{};  // of arithmetic: sets the length of the next run
  std::array<std::vector<double>, kCeilingCount> samples_;
};

}  // namespace beeswax::bench
