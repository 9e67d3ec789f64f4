// SPDX-License-Identifier: Apache-2.0
// Sampler: the next token from logits. In order: repetition, frequency and presence penalties; temperature 0
// takes the largest logit (the lowest id of equals); else top-k, typical, top-p, min-p, temperature, and a
// draw from the stream of the seed. The draws depend on the seed and the number of tokens drawn before only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::generate {

struct SamplingOptions {
  double temperature = 0.8;
  int64_t top_k = 40;            ///< 0: all
  double top_p = 0.95;           ///< 1: all
  double min_p = 0.05;           ///< 0: all
  double typical_p = 1;          ///< 1: all. Meister et al., "Locally Typical Sampling", 2022
  double repeat_penalty = 1;     ///< divides positive and multiplies negative logits of recent tokens
  double frequency_penalty = 0;  ///< subtracted for each recent occurrence
  double presence_penalty = 0;   ///< subtracted once for each recent token
  int64_t penalty_window = 64;   ///< recent tokens that penalties look at
  uint64_t seed = 0;
};

class BW_API Sampler {
 public:
  /// InvalidArgument naming the option that is out of range.
  explicit Sampler(const SamplingOptions& options);

  /// The token that follows; `recent` are the tokens so far, the last one last. NaN logits are never chosen;
  /// Format where all are NaN, which a model's weights are to blame for.
  int32_t next(std::span<const float> logits, std::span<const int32_t> recent);

 private:
  struct Candidate {
    int32_t id;
    double logit;
    double probability;
    /// Whether it comes before: the likelier one does, the lowest id of equals.
    bool operator<(const Candidate& other) const {
      return logit != other.logit ? logit > other.logit : id < other.id;
    }
  };
  /// The recent tokens' logits where penalties changed them, by id.
  std::map<int32_t, double> penalized(std::span<const float> logits, std::span<const int32_t> recent) const;
  void find_best(std::span<const float> logits, const std::map<int32_t, double>& changed, size_t count);
  void take_all(std::span<const float> logits, const std::map<int32_t, double>& changed);
  void order(size_t count);
  void keep(size_t count);
  void normalize();
  void keep_typical();
  void keep_top_p();
  void keep_min_p();

  SamplingOptions options_;
  uint64_t drawn_ = 0;
  std::vector<Candidate> candidates_;
  size_t ordered_ = 0;  // the likeliest of them lie first, in order; behind these there is none
};

}  // namespace beeswax::generate
