// SPDX-License-Identifier: Apache-2.0
// Times one case, interleaved with its ceiling: ceiling, case, ceiling, case, ..., ceiling. Each sample of
// the case is divided by the mean of the ceilings before and after it, and the case's share is the median of
// these ratios: what slows the machine for a while slows both.
#pragma once

#include <string>

#include "ceilings.h"
#include "harness.h"

namespace beeswax::bench {

enum class Status { Ok, Missing, Failed };

struct Result {
  Status status = Status::Ok;
  std::string message;     ///< of Missing and Failed
  bool again = false;      ///< the second, longer measurement of a case that was below its target
  double first_share = 0;  ///< then: the share of the first measurement
  int samples = 0;         ///< that the figures are made of
  int disturbed = 0;       ///< in which another program took a processor from a thread of ours
  double median_seconds = 0;
  double min_seconds = 0;
  double rate = 0;           ///< of the median: operations or bytes per second, see counts_operations()
  double ceiling = 0;        ///< median of its samples, 0 without one
  double in_cache = 0;       ///< median rate of the case in a cache, 0 if it has none
  bool by_in_cache = false;  ///< whether that is less than the ceiling, most of the time
  double share = 0;          ///< of the lesser of the ceiling and the rate in a cache; 0 without a ceiling
  double ceiling_share = 0;  ///< of the ceiling itself
  bool below_target(const Case& one) const {
    return status == Status::Ok && one.target > 0 && share < one.target;
  }
};

struct Effort {
  int samples = 15;      ///< at most
  double seconds = 1.5;  ///< for one case, after which no sample begins,
  int least = 3;         ///< unless there are fewer than this; then three times as long
};

/// Whether the case's rate counts operations rather than bytes.
bool counts_operations(const Case& one);

/// Never throws: what the case throws becomes the status.
Result run_case(const Case& one, Ceilings& ceilings, const Effort& effort);

}  // namespace beeswax::bench
