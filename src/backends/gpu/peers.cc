// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/peers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/gpu/reduction.h"

namespace beeswax::gpu {
namespace {

enum class Way : uint8_t { Unknown, Direct, ByHost };
/// From the GPU of the first number to that of the second.
std::array<std::array<std::atomic<Way>, kMostGpus>, kMostGpus> ways{};
std::mutex finding;

constexpr std::string_view kNoGraph = "a copy to another device; copy before capturing";

void wait_for_stream(const Gpu& gpu) {
  gpu.use();
  gpu.driver().wait_for_stream(gpu.current().handle());
}

// The driver's answer to the copy: nothing was submitted where it is not ok.
Result copy_directly(Gpu& source, const void* from, Gpu& target, void* to, size_t bytes) {
  const Driver& driver = source.driver();
  const void* const read[] = {from};
  const void* const written[] = {to};
  // Events may go before what waits for them has run: drivers keep them so long.
  Event ready(driver), done(driver);
  target.use();
  target.check_work(target.with_memory([&] { return driver.create_event(false, ready.out()); }),
                    "creating an event");
  target.check_work(driver.record_event(ready.get(), target.current().handle()), "recording an event");
  source.use();
  source.check_work(source.with_memory([&] { return driver.create_event(false, done.out()); }),
                    "creating an event");
  Result copied;
  const Result submitted = source.submit_ordered(
      read,
      [&](StreamHandle stream) {
        if (const Result waits = driver.make_stream_wait(stream, ready.get()); !waits.ok()) return waits;
        copied = driver.copy_between(to, target.ordinal(), from, source.ordinal(), bytes, stream);
        if (!copied.ok()) return copied;
        const Result recorded = driver.record_event(done.get(), stream);
        // Without the event nobody could tell when the memory is free.
        if (!recorded.ok()) wait_for_stream(source);
        return recorded;
      },
      bytes);
  if (!copied.ok() && copied.code != Code::Lost) return copied;
  source.check_work(submitted, "copying to another device from");
  const Result waits = target.submit_ordered(
      written, [&](StreamHandle stream) { return driver.make_stream_wait(stream, done.get()); });
  if (!waits.ok()) wait_for_stream(source);
  target.check_work(waits, "making a stream wait for another device's on");
  return {};
}

void copy_by_host(Gpu& source, const void* from, Gpu& target, void* to, size_t bytes) {
  std::vector<std::byte> part(std::min(bytes, Staging::kMostBytes));
  for (size_t at = 0; at < bytes; at += part.size()) {
    const size_t some = std::min(part.size(), bytes - at);
    source.download(part.data(), static_cast<const std::byte*>(from) + at, some);
    target.upload(static_cast<std::byte*>(to) + at, part.data(), some);
  }
}

Way go_by_host(const Gpu& source, const Gpu& target, std::string_view why) {
  std::fprintf(stderr, "beeswax: copies from %s to %s go by way of the host: %.*s\n",
               source.device().to_string().c_str(), target.device().to_string().c_str(),
               static_cast<int>(why.size()), why.data());
  return Way::ByHost;
}

// Whether a pattern arrives that is copied: between some boards direct copies lose bytes without a word.
Way try_pattern(Gpu& source, Gpu& target) {
  constexpr size_t kWords = size_t{1} << 16;
  std::vector<uint32_t> sent(kWords), arrived(kWords);
  for (size_t i = 0; i < kWords; ++i) sent[i] = static_cast<uint32_t>(i * 2654435761u + 1);
  constexpr size_t kBytes = kWords * sizeof(uint32_t);
  std::optional<PoolScratch> here, there;
  try {
    here.emplace(source, kBytes);
    there.emplace(target, kBytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::OutOfMemory) throw;
    return Way::Unknown;  // a later copy may find room
  }
  source.upload(here->data(), sent.data(), kBytes);
  target.fill_bytes(there->data(), 0, kBytes);
  const Result copied = copy_directly(source, here->data(), target, there->data(), kBytes);
  if (!copied.ok()) return go_by_host(source, target, source.driver().error_text(copied.number));
  target.download(arrived.data(), there->data(), kBytes);
  if (arrived != sent) return go_by_host(source, target, "a direct copy did not arrive whole");
  return Way::Direct;
}

Way find_way(Gpu& source, Gpu& target) {
  const Driver& driver = source.driver();
  if (&driver != &target.driver()) return Way::ByHost;
  source.use();
  const Result reached = driver.reach_device(source.ordinal(), target.ordinal());
  // Where it cannot reach the other one's memory the driver finds a way of its own.
  if (reached.code == Code::Lost) check(driver, reached, "letting a device reach another one");
  return try_pattern(source, target);
}

std::atomic<Way>& way_of(const Gpu& source, const Gpu& target) {
  return ways.at(static_cast<size_t>(source.number())).at(static_cast<size_t>(target.number()));
}

Way way_between(Gpu& source, Gpu& target) {
  std::atomic<Way>& way = way_of(source, target);
  if (way.load(std::memory_order_acquire) != Way::Unknown) return way.load(std::memory_order_acquire);
  const std::scoped_lock lock(finding);
  if (way.load(std::memory_order_relaxed) == Way::Unknown)
    way.store(find_way(source, target), std::memory_order_release);
  return way.load(std::memory_order_relaxed);
}

}  // namespace

void copy_between(Gpu& source, const void* from, Gpu& target, void* to, size_t bytes) {
  source.refuse_recording(kNoGraph);
  target.refuse_recording(kNoGraph);
  if (way_between(source, target) == Way::Direct) {
    const Result copied = copy_directly(source, from, target, to, bytes);
    if (copied.ok()) return;
    way_of(source, target) = go_by_host(source, target, source.driver().error_text(copied.number));
  }
  copy_by_host(source, from, target, to, bytes);
}

}  // namespace beeswax::gpu
