// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/pool.h"

#include <algorithm>
#include <bit>

#include "core/fail.h"

namespace beeswax::gpu {
namespace {

// Blocks come in sizes that are eighths of powers of two: at most an eighth is lost, and few sizes wait for
// use.
size_t block_bytes(size_t bytes) {
  constexpr size_t kLeast = 512;
  bytes = std::max(bytes, kLeast);
  const size_t step = std::max(std::bit_floor(bytes) / 8, kLeast);
  return (bytes + step - 1) / step * step;
}

}  // namespace

Pool::~Pool() {
  if (!sizes_.empty() && driver_.use(device_).ok()) release_kept();
}

void* Pool::take(size_t bytes) {
  const size_t size = block_bytes(bytes);
  if (size < bytes) fail(ErrorKind::TooLarge, "allocate", bytes, " bytes");
  const std::scoped_lock lock(mutex_);
  void* data = nullptr;
  if (const auto found = kept_.find(size); found != kept_.end() && !found->second.empty()) {
    data = found->second.back();
    found->second.pop_back();
    statistics_.kept_bytes -= size;
  } else {
    const auto refused = [&](std::string_view why) {
      fail(ErrorKind::OutOfMemory, "allocate", bytes, " bytes on the GPU: ", why, "; ",
           statistics_.used_bytes, " bytes are in use");
    };
    if (limit_ != 0 && statistics_.used_bytes + statistics_.kept_bytes + size > limit_) release_kept();
    if (limit_ != 0 && statistics_.used_bytes + size > limit_) refused("over the limit that was set");
    use_device(driver_, device_);
    Result result = driver_.allocate(size, &data);
    if (result.code == Code::OutOfMemory) {
      release_kept();
      result = driver_.allocate(size, &data);
    }
    if (result.code == Code::OutOfMemory) refused(driver_.error_text(result.number));
    check(driver_, result, "allocating memory");
    sizes_.emplace(data, size);
    ++statistics_.driver_calls;
  }
  statistics_.used_bytes += size;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.used_bytes);
  return data;
}

void Pool::give(void* data) {
  const std::scoped_lock lock(mutex_);
  const size_t size = sizes_.at(data);
  kept_[size].push_back(data);
  statistics_.used_bytes -= size;
  statistics_.kept_bytes += size;
}

void Pool::release_kept() {
  // The driver's release waits for the device by itself, so nothing that is still in use goes away.
  for (auto& [size, blocks] : kept_) {
    for (void* data : blocks) {
      driver_.release(data);
      sizes_.erase(data);
      statistics_.kept_bytes -= size;
    }
    blocks.clear();
  }
}

void Pool::trim() {
  const std::scoped_lock lock(mutex_);
  use_device(driver_, device_);
  release_kept();
}

void Pool::set_limit(size_t bytes) {
  const std::scoped_lock lock(mutex_);
  limit_ = bytes;
}

Pool::Statistics Pool::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

}  // namespace beeswax::gpu
