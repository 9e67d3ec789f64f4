// SPDX-License-Identifier: Apache-2.0
// How bytes that threads read once are cut into tasks. Each thread begins with a share of its own
// (thread_pool.h), in pieces of up to kMostPiece: every beginning waits for memory, and with 64 KiB two Zen 4
// cores multiply stripes of Q4_0 at 0.86 to 0.93 of the speed of reading (64 GB/s), with 128 KiB and more at
// 0.94 to 0.96. Towards the end of a share pieces halve down to kLeastPiece, so that threads end together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/divide.h"

namespace beeswax::cpu {

class ByteShares {
 public:
  static constexpr int64_t kLeastPiece = 64 << 10, kMostPiece = 1 << 20;

  ByteShares() = default;
  ByteShares(int64_t bytes, int64_t threads)
      : bytes_(bytes), shares_(std::clamp<int64_t>(bytes / kLeastPiece, 1, threads)) {
    const int64_t share = ceil_div(bytes, shares_);
    while (kLeastPiece << halves_ < kMostPiece && tail(halves_ + 1) <= share / 2) ++halves_;
    front_ = share - tail(halves_);
    each_ = ceil_div(front_, kMostPiece) + halves_;
  }

  int64_t tasks() const { return bytes_ > 0 ? shares_ * each_ : 0; }
  /// Where a task begins; that of tasks() is where the last one ends.
  int64_t begin(int64_t task) const {
    const int64_t share = task / each_, piece = task % each_, whole = each_ - halves_;
    const int64_t from = bytes_ * share / shares_, length = bytes_ * (share + 1) / shares_ - from;
    // Of the longest share; others are a byte shorter.
    const int64_t at = piece <= whole ? front_ * piece / whole : front_ + tail(halves_) - tail(each_ - piece);
    return from + std::min(at, length);
  }

 private:
  /// Bytes of so many last pieces.
  static int64_t tail(int64_t pieces) { return ((int64_t{1} << pieces) - 1) * kLeastPiece; }

  int64_t bytes_ = 0, shares_ = 1, front_ = 0;
  int64_t halves_ = 0, each_ = 1;  // pieces that halve, and all of a share
};

}  // namespace beeswax::cpu
