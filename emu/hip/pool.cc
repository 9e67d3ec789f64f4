// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/pool.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "emu/hip/device.h"
#include "emu/hip/graph.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {

// A pool here only counts: the device's memory hands out the blocks, so that each has its own bounds.
class Pool {
 public:
  explicit Pool(Device& home) : device(home) {}
  Device& device;
  std::mutex mutex;
  uint64_t used = 0, high = 0;
  uint64_t threshold = 0;
  int reuse[3] = {1, 1, 1};

  void refresh() {
    const std::lock_guard lock(mutex);
    used = high = threshold = 0;
    std::fill(std::begin(reuse), std::end(reuse), 1);
  }
};

namespace {

Handles<Pool> live_pools;

struct Block {
  Pool* pool;
  size_t bytes;
};
std::mutex blocks_mutex;
std::map<void*, Block> blocks;
std::map<int, Pool*> defaults, chosen;  // by device

Pool& default_pool(Device& device) {
  const std::lock_guard lock(blocks_mutex);
  Pool*& pool = defaults[device.index()];
  if (pool == nullptr) pool = live_pools.add(std::make_unique<Pool>(device));
  return *pool;
}

Pool& current_pool(Device& device) {
  {
    const std::lock_guard lock(blocks_mutex);
    if (const auto found = chosen.find(device.index()); found != chosen.end())
      return live_pools.check(found->second);
  }
  return default_pool(device);
}

void* allocate(Pool& pool, size_t bytes, Stream& stream) {
  forbid_captured(stream);
  require(&stream.device() == &pool.device, hipErrorInvalidValue,
          "the pool and the stream are of different devices");
  pool.device.check();
  void* block = pool.device.allocate(bytes);
  const std::lock_guard lock(blocks_mutex);
  blocks[block] = {&pool, bytes};
  const std::lock_guard pool_lock(pool.mutex);
  pool.used += bytes;
  pool.high = std::max(pool.high, pool.used);
  return block;
}

// The entry of a live block, taken out of the table.
bool take(void* block, Block& entry) {
  const std::lock_guard lock(blocks_mutex);
  const auto found = blocks.find(block);
  if (found == blocks.end()) return false;
  entry = found->second;
  blocks.erase(found);
  const std::lock_guard pool_lock(entry.pool->mutex);
  entry.pool->used -= entry.bytes;
  return true;
}

// hipMemPoolAttr, by number.
enum PoolAttribute {
  kFollowEvents = 1,
  kOpportunistic,
  kInternal,
  kThreshold,
  kReservedNow,
  kReservedHigh,
  kUsedNow,
  kUsedHigh
};

}  // namespace

bool free_pooled_now(void* block) {
  Block entry;
  return take(block, entry) && entry.pool->device.release(block);
}

void reset_pools(Device& device) {
  std::vector<Pool*> gone;
  {
    const std::lock_guard lock(blocks_mutex);
    std::erase_if(blocks, [&](const auto& entry) { return &entry.second.pool->device == &device; });
    chosen.erase(device.index());
    for (Pool* pool : live_pools.all()) {
      if (&pool->device != &device) continue;
      if (defaults[device.index()] == pool) {
        pool->refresh();
      } else {
        gone.push_back(pool);
      }
    }
  }
  for (Pool* pool : gone) live_pools.take(pool);
}

void clear_pools() {
  live_pools.clear();
  const std::lock_guard lock(blocks_mutex);
  blocks.clear();
  defaults.clear();
  chosen.clear();
}

}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipMallocFromPoolAsync(void** block, size_t bytes, Pool* pool, StreamHandle stream) {
  return api("hipMallocFromPoolAsync", [&] {
    require(block != nullptr, hipErrorInvalidValue, "no place for the address");
    *block = bytes == 0 ? nullptr : allocate(live_pools.check(pool), bytes, find_stream(stream));
  });
}

EMU_API int hipMallocAsync(void** block, size_t bytes, StreamHandle handle) {
  return api("hipMallocAsync", [&] {
    require(block != nullptr, hipErrorInvalidValue, "no place for the address");
    Stream& stream = find_stream(handle);
    *block = bytes == 0 ? nullptr : allocate(current_pool(stream.device()), bytes, stream);
  });
}

EMU_API int hipFreeAsync(void* block, StreamHandle handle) {
  return api("hipFreeAsync", [&] {
    if (block == nullptr) return;
    Stream& stream = find_stream(handle);
    forbid_captured(stream);
    Device* owner = Runtime::get().owner(reinterpret_cast<uint64_t>(block));
    require(owner != nullptr, hipErrorInvalidValue, "not device memory");
    Block entry;
    take(block, entry);  // blocks of hipMalloc may be freed so too
    if (!owner->disown(block))
      throw ApiError(hipErrorInvalidValue,
                     "hipFreeAsync of " + owner->memory().describe(reinterpret_cast<uint64_t>(block)));
    // The block goes with the task, even when the device has stopped and does no more work.
    const std::shared_ptr<void> last(block, [owner](void* address) { owner->memory().release(address); });
    stream.device().submit(stream, [last] {});
  });
}

EMU_API int hipDeviceGetDefaultMemPool(Pool** pool, int device) {
  return api("hipDeviceGetDefaultMemPool", [&] {
    require(pool != nullptr, hipErrorInvalidValue);
    *pool = &default_pool(Runtime::get().device(device));
  });
}
EMU_API int hipDeviceGetMemPool(Pool** pool, int device) {
  return api("hipDeviceGetMemPool", [&] {
    require(pool != nullptr, hipErrorInvalidValue);
    *pool = &current_pool(Runtime::get().device(device));
  });
}
EMU_API int hipDeviceSetMemPool(int device, Pool* pool) {
  return api("hipDeviceSetMemPool", [&] {
    Device& home = Runtime::get().device(device);
    require(&live_pools.check(pool).device == &home, hipErrorInvalidValue, "the pool is another device's");
    const std::lock_guard lock(blocks_mutex);
    chosen[device] = pool;
  });
}

namespace {

struct PoolProperties {
  int allocation_type, handle_types, location_type, location;
  void* security;
  unsigned char reserved[64];
};
static_assert(sizeof(PoolProperties) == 88);

}  // namespace

EMU_API int hipMemPoolCreate(Pool** pool, const PoolProperties* properties) {
  return api("hipMemPoolCreate", [&] {
    require(pool != nullptr && properties != nullptr, hipErrorInvalidValue, "a null pointer");
    // 1: pinned memory; 1: a device. Handles for other processes are not offered.
    require(
        properties->allocation_type == 1 && properties->location_type == 1 && properties->handle_types == 0,
        hipErrorInvalidValue, "only pinned memory of a device, without handles for other processes");
    *pool = live_pools.add(std::make_unique<Pool>(Runtime::get().device(properties->location)));
  });
}

EMU_API int hipMemPoolDestroy(Pool* handle) {
  return api("hipMemPoolDestroy", [&] {
    Pool& pool = live_pools.check(handle);
    std::map<void*, Block> left;
    {
      const std::lock_guard lock(blocks_mutex);
      require(defaults[pool.device.index()] != handle, hipErrorInvalidValue, "the default pool stays");
      std::erase_if(chosen, [&](const auto& entry) { return entry.second == handle; });
      for (const auto& [block, entry] : blocks)
        if (entry.pool == handle) left[block] = entry;
      for (const auto& [block, entry] : left) blocks.erase(block);
    }
    pool.device.synchronize();
    for (const auto& [block, entry] : left) pool.device.release(block);
    live_pools.take(handle);
  });
}

EMU_API int hipMemPoolTrimTo(Pool* pool, size_t) {
  // Nothing is held back that could be given away.
  return api("hipMemPoolTrimTo", [&] { live_pools.check(pool); });
}

EMU_API int hipMemPoolSetAttribute(Pool* handle, int which, void* value) {
  return api("hipMemPoolSetAttribute", [&] {
    Pool& pool = live_pools.check(handle);
    require(value != nullptr, hipErrorInvalidValue);
    const std::lock_guard lock(pool.mutex);
    if (which >= kFollowEvents && which <= kInternal) {
      std::memcpy(&pool.reuse[which - 1], value, sizeof(int));
    } else if (which == kThreshold) {
      std::memcpy(&pool.threshold, value, sizeof pool.threshold);
    } else {
      require(which == kReservedHigh || which == kUsedHigh, hipErrorInvalidValue,
              "no such attribute, or it cannot be set");
      uint64_t zero = 1;
      std::memcpy(&zero, value, sizeof zero);
      require(zero == 0, hipErrorInvalidValue, "a high-water mark can only be set to 0");
      pool.high = pool.used;
    }
  });
}

EMU_API int hipMemPoolGetAttribute(Pool* handle, int which, void* value) {
  return api("hipMemPoolGetAttribute", [&] {
    Pool& pool = live_pools.check(handle);
    require(value != nullptr, hipErrorInvalidValue);
    const std::lock_guard lock(pool.mutex);
    switch (which) {
      case kFollowEvents:
      case kOpportunistic:
      case kInternal:
        std::memcpy(value, &pool.reuse[which - 1], sizeof(int));
        break;
      case kThreshold:
        std::memcpy(value, &pool.threshold, sizeof pool.threshold);
        break;
      case kReservedNow:
      case kUsedNow:
        std::memcpy(value, &pool.used, sizeof pool.used);
        break;
      case kReservedHigh:
      case kUsedHigh:
        std::memcpy(value, &pool.high, sizeof pool.high);
        break;
      default:
        throw ApiError(hipErrorInvalidValue, "no such attribute");
    }
  });
}

namespace {

struct AccessDescription {
  int location_type, location, flags;
};

}  // namespace

EMU_API int hipMemPoolSetAccess(Pool* handle, const AccessDescription* wanted, size_t count) {
  return api("hipMemPoolSetAccess", [&] {
    Pool& pool = live_pools.check(handle);
    require(wanted != nullptr || count == 0, hipErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
      Device& device = Runtime::get().device(wanted[i].location);
      if (&device != &pool.device) device.memory().set_peer(&pool.device.memory(), wanted[i].flags != 0);
    }
  });
}
