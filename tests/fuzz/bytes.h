// SPDX-License-Identifier: Apache-2.0
// Bytes: draws numbers from a fuzz target's input. An exhausted input gives zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace beeswax::fuzz {

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : at_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  /// In [lo, hi].
  int64_t between(int64_t lo, int64_t hi) { return lo + byte() % (hi - lo + 1); }

 private:
  const uint8_t* at_;
  size_t left_;
};

/// A broken promise: says so and stops, so that the fuzzer keeps the input.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

}  // namespace beeswax::fuzz
