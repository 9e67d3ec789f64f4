// SPDX-License-Identifier: Apache-2.0
// Quantized weights that are kept a second time, repacked into stripes: the order in which products with few
// activations read them, where a level has loops for that (StripeKernels). Generating text meets the same
// weights again and again; with stripes memory and not the core limits it. So they are made only where few
// threads work: a Zen 4 core takes 31 to 47 GB/s from caches with loops over rows too (and 60 to 110 with
// stripes), so five would outrun most memory; more than four were not measured.
//
// They are made while the kMakeAt-th such product of a weight runs, by the threads that read it anyway, so
// that loading takes no longer, and what is used less often pays nothing. Two Zen 4 cores took 0.16 s for a
// model of 1.2 billion in Q4_0, which some 30 tokens gain where memory is fast; longer where the system had
// to find the memory first. They live as long as the weights' storage, and results do not change.
//
// Memory: as much as the weights. So they are made only while that leaves as much available as all of them
// take together, for weights of a file are read from its pages in memory, which other memory displaces. The
// variable BEESWAX_CPU_REPACK=off does without; =on asks neither for threads nor for processors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/kernels/quantized.h"
#include "backends/cpu/processor.h"
#include "beeswax/detail/ref.h"
#include "beeswax/qtensor_type.h"
#include "beeswax/system.h"
#include "core/storage.h"

namespace beeswax::cpu {

constexpr int kMakeAt = 16;            // products of a weight
constexpr int kMostStripeThreads = 4;  // that work
/// Whether stripes are known to help on this processor; on a Zen 5 they were not measured.
inline bool repacks() { return kMaker != Maker::zen5; }

/// A weight's stripes, or its chance to get them.
class Stripes final : public detail::RefCounted {
 public:
  Stripes(QuantType type, int64_t n, int64_t k) : type_(type), n_(n), k_(k) {}

  bool is_of(QuantType type, int64_t n, int64_t k) const { return type == type_ && n == n_ && k == k_; }

 private:
  friend class StripesUse;
  // Products so far, or less than 0: being made, there, or not to be.
  enum State : int { kMaking = -3, kMade, kNone };
  std::atomic<int> uses_{0};
  QuantType type_;
  int64_t n_, k_;
  std::shared_ptr<std::byte> memory_;
};

/// One product's use of the stripes of its weights.
class StripesUse {
 public:
  StripesUse() = default;
  /// Of weights [n, k] whose blocks are all of the storage.
  StripesUse(const Storage& blocks, QuantType type, int64_t n, int64_t k, const QuantizedDotKernels& kernels);
  ~StripesUse();
  StripesUse(const StripesUse&) = delete;
  StripesUse& operator=(const StripesUse&) = delete;
  StripesUse(StripesUse&& other) noexcept;
  StripesUse& operator=(StripesUse&& other) noexcept;

  /// Where the stripes are of the rows that fill them, n / stripe_rows; null: the product reads rows.
  std::byte* data() const { return data_; }
  /// Whether this product is to make each of them before it reads it, and to call made() then; without that
  /// there will be none.
  bool is_making() const { return making_ != nullptr; }
  /// After so many seconds.
  void made(double seconds);

 private:
  std::byte* data_ = nullptr;
  Stripes* making_ = nullptr;  // which the weights keep
};

/// Where stripes are made: nowhere, where they are known to help, or wherever a level has loops for them.
enum class Repack { Off, Auto, On };
/// What the variable says; InvalidArgument where that is something else.
Repack repack_of_variable();
/// For tests: instead of what the variable said at the start.
void set_repack(Repack repack);
/// Whether so many bytes more may be kept beside those that are, where so many are available.
inline bool may_keep_stripes(size_t bytes, size_t kept, size_t available) {
  return bytes <= available && kept + bytes <= available - bytes;
}
/// Bytes of all stripes now, and the time of the products so far that made any.
RepackedWeights stripes_statistics();

}  // namespace beeswax::cpu
