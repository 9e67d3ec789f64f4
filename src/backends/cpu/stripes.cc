// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/stripes.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/fail.h"
#include "core/os/memory.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

std::atomic<size_t> kept_bytes{0};
std::atomic<int64_t> nanoseconds{0};

/// Memory that several weights share, so that small ones lie on huge pages too: on others two cores of a
/// Zen 4 read at 0.8 of the speed.
class Chunks {
 public:
  /// Null where there is none.
  std::shared_ptr<std::byte> take(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<std::byte> chunk = chunk_.lock();
    if (chunk == nullptr || bytes > kChunk - used_) {
      const size_t size = std::max(bytes, kChunk);
      chunk = std::shared_ptr<std::byte>(static_cast<std::byte*>(os::allocate_pages(size)),
                                         [size](std::byte* memory) { os::free_pages(memory, size); });
      if (chunk == nullptr || size > kChunk) return chunk;
      chunk_ = chunk;
      used_ = 0;
    }
    return {chunk, chunk.get() + std::exchange(used_, used_ + bytes)};
  }

 private:
  static constexpr size_t kChunk = size_t{32} << 20;  // takes memory where it is written
  std::mutex mutex_;
  std::weak_ptr<std::byte> chunk_;  // the last one, while some weight has a part of it
  size_t used_ = 0;
};

/// Memory for stripes, if there may be any more.
std::shared_ptr<std::byte> take_memory(size_t bytes) {
  // Never destroyed: weights with static storage may be used while the process ends.
  static auto* const chunks = new Chunks;
  // Added before it is asked for, so that threads which ask at the same time count each other's.
  const size_t before = kept_bytes.fetch_add(bytes, std::memory_order_relaxed);
  const std::shared_ptr<std::byte> memory =
      may_keep_stripes(bytes, before, os::available_memory_bytes()) ? chunks->take(bytes) : nullptr;
  if (memory == nullptr) {
    kept_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    return nullptr;
  }
  return {memory.get(),
          [memory, bytes](std::byte*) { kept_bytes.fetch_sub(bytes, std::memory_order_relaxed); }};
}

std::atomic<Repack>& setting() {
  static std::atomic<Repack> repack{repack_of_variable()};
  return repack;
}

bool may_make() {
  const Repack repack = setting().load(std::memory_order_relaxed);
  return repack == Repack::On ||
         (repack == Repack::Auto && repacks() && ThreadPool::global().threads() <= kMostStripeThreads);
}

}  // namespace

Repack repack_of_variable() {
  const char* said = std::getenv("BEESWAX_CPU_REPACK");
  const std::string_view wanted = said == nullptr ? "" : said;
  if (wanted == "off") return Repack::Off;
  if (wanted == "on") return Repack::On;
  if (!wanted.empty())
    fail(ErrorKind::InvalidArgument, "cpu", "BEESWAX_CPU_REPACK=", wanted, " is neither off nor on");
  return Repack::Auto;
}

void set_repack(Repack repack) { setting() = repack; }

RepackedWeights stripes_statistics() {
  return {kept_bytes.load(std::memory_order_relaxed),
          1e-9 * static_cast<double>(nanoseconds.load(std::memory_order_relaxed))};
}

StripesUse::StripesUse(const Storage& blocks, QuantType type, int64_t n, int64_t k,
                       const QuantizedDotKernels& kernels) {
  const StripeKernels& loops = kernels.stripes[static_cast<size_t>(type)];
  if (loops.rows == nullptr || n < kernels.stripe_rows) return;
  detail::RefCounted* kept = blocks.companion();
  if (kept == nullptr) kept = blocks.keep_companion(detail::Ref<detail::RefCounted>(new Stripes(type, n, k)));
  auto* const stripes = static_cast<Stripes*>(kept);
  if (!stripes->is_of(type, n, k)) return;
  int uses = stripes->uses_.load(std::memory_order_acquire);
  if (uses == Stripes::kMade) data_ = stripes->memory_.get();
  if (uses < 0 || !may_make()) return;
  // Where threads count at the same time, one of them may not be counted.
  const bool now = uses + 1 == kMakeAt;
  if (!stripes->uses_.compare_exchange_strong(uses, now ? Stripes::kMaking : uses + 1) || !now) return;
  stripes->memory_ = take_memory(static_cast<size_t>(n / kernels.stripe_rows * loops.bytes(k)));
  if (stripes->memory_ == nullptr) {
    stripes->uses_.store(Stripes::kNone);
    return;
  }
  data_ = stripes->memory_.get();
  making_ = stripes;
}

StripesUse::~StripesUse() {
  if (making_ == nullptr) return;
  making_->memory_.reset();
  making_->uses_.store(Stripes::kNone);
}

StripesUse::StripesUse(StripesUse&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), making_(std::exchange(other.making_, nullptr)) {}

StripesUse& StripesUse::operator=(StripesUse&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(making_, other.making_);
  return *this;
}

void StripesUse::made(double seconds) {
  if (making_ == nullptr) return;
  nanoseconds.fetch_add(static_cast<int64_t>(seconds * 1e9), std::memory_order_relaxed);
  std::exchange(making_, nullptr)->uses_.store(Stripes::kMade, std::memory_order_release);
}

}  // namespace beeswax::cpu
