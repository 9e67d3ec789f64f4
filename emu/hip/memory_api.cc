// SPDX-License-Identifier: Apache-2.0
// Allocation, pinned and registered host memory, what a pointer is.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "emu/hip/copy.h"
#include "emu/hip/device.h"
#include "emu/hip/pool.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

// What hipHostMalloc, hipMallocManaged and hipHostRegister were told.
struct HostBlock {
  unsigned flags;
  bool managed, registered;
  int device;
};
std::mutex blocks_mutex;
std::map<uint64_t, HostBlock> host_blocks;

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};
static_assert(sizeof(PointerAttributes) == 32);

void* allocate_host(size_t bytes, unsigned flags, bool managed) {
  Runtime& runtime = Runtime::get();
  runtime.current().check();
  void* block = runtime.host().pinned().allocate(bytes);
  if (block == nullptr) throw ApiError(hipErrorOutOfMemory, std::to_string(bytes) + " bytes of host memory");
  const std::lock_guard lock(blocks_mutex);
  host_blocks[number(block)] = {flags, managed, false, runtime.current_index()};
  return block;
}

// Everything may still use the block: wait for all devices, as the real call does.
void free_host(void* block) {
  Runtime& runtime = Runtime::get();
  for (const auto& device : runtime.devices()) device->synchronize();
  require(runtime.host().pinned().release(block), hipErrorInvalidValue,
          "not the start of a live block of pinned memory");
  const std::lock_guard lock(blocks_mutex);
  host_blocks.erase(number(block));
}

Memory::Block block_around(const void* address) {
  Runtime& runtime = Runtime::get();
  if (Device* device = runtime.owner(number(address))) return device->memory().block_at(number(address));
  if (runtime.host().pinned().contains(number(address)))
    return runtime.host().pinned().block_at(number(address));
  return runtime.host().registered_at(number(address));
}

constexpr int kHost = -1;                                // hipCpuDeviceId
constexpr int kSetReadMostly = 1, kUnsetReadMostly = 2;  // of hipMemoryAdvise

// A range inside one block, and the host or a device.
void check_hint(const void* address, size_t bytes, int device) {
  require(address != nullptr && bytes > 0, hipErrorInvalidValue, "no range");
  const auto block = block_around(address);
  require(block.bytes > 0, hipErrorInvalidValue, "not memory that HIP knows");
  require(bytes <= block.bytes - (number(address) - block.address), hipErrorInvalidValue,
          "the range ends beyond its block");
  if (device != kHost) Runtime::get().device(device);
}

}  // namespace
}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipMalloc(void** block, size_t bytes) {
  return api("hipMalloc", [&] {
    require(block != nullptr, hipErrorInvalidValue, "no place for the address");
    *block = nullptr;
    forbid_while_capturing();
    Device& device = Runtime::get().current();
    device.check();
    if (bytes > 0) *block = device.allocate(bytes);
  });
}
EMU_API int hipExtMallocWithFlags(void** block, size_t bytes, unsigned) { return hipMalloc(block, bytes); }

EMU_API int hipMallocPitch(void** block, size_t* pitch, size_t width, size_t height) {
  return api("hipMallocPitch", [&] {
    require(block != nullptr && pitch != nullptr, hipErrorInvalidValue, "a null pointer");
    *block = nullptr;
    forbid_while_capturing();
    Device& device = Runtime::get().current();
    device.check();
    *pitch = sum(width, 255) / 256 * 256;
    if (width > 0 && height > 0) *block = device.allocate(product(*pitch, height));
  });
}
EMU_API int hipMemAllocPitch(void** block, size_t* pitch, size_t width, size_t height, unsigned) {
  return hipMallocPitch(block, pitch, width, height);
}

EMU_API int hipFree(void* block) {
  return api("hipFree", [&] {
    if (block == nullptr) return;
    forbid_while_capturing();
    Runtime& runtime = Runtime::get();
    if (runtime.host().pinned().contains(number(block))) return free_host(block);
    Device* device = runtime.owner(number(block));
    require(device != nullptr, hipErrorInvalidValue, "not device memory");
    device->synchronize();
    if (free_pooled_now(block)) return;
    if (!device->release(block))
      throw ApiError(hipErrorInvalidValue, "hipFree of " + device->memory().describe(number(block)));
  });
}

EMU_API int hipHostMalloc(void** block, size_t bytes, unsigned flags) {
  return api("hipHostMalloc", [&] {
    require(block != nullptr, hipErrorInvalidValue, "no place for the address");
    *block = nullptr;
    forbid_while_capturing();
    require((flags & 0x40000000) == 0 || (flags & 0x80000000) == 0, hipErrorInvalidValue,
            "both coherent and not");
    if (bytes > 0) *block = allocate_host(bytes, flags, false);
  });
}
EMU_API int hipHostAlloc(void** block, size_t bytes, unsigned flags) {
  return hipHostMalloc(block, bytes, flags);
}
EMU_API int hipMallocHost(void** block, size_t bytes) { return hipHostMalloc(block, bytes, 0); }
EMU_API int hipMemAllocHost(void** block, size_t bytes) { return hipHostMalloc(block, bytes, 0); }

EMU_API int hipHostFree(void* block) {
  return api("hipHostFree", [&] {
    if (block == nullptr) return;
    forbid_while_capturing();
    free_host(block);
  });
}
EMU_API int hipFreeHost(void* block) { return hipHostFree(block); }

EMU_API int hipMallocManaged(void** block, size_t bytes, unsigned flags) {
  return api("hipMallocManaged", [&] {
    require(block != nullptr && (flags == 0 || flags == 1 || flags == 2), hipErrorInvalidValue,
            "unknown flags");
    *block = nullptr;
    forbid_while_capturing();
    if (bytes > 0) *block = allocate_host(bytes, flags, true);
  });
}

EMU_API int hipHostRegister(void* start, size_t bytes, unsigned flags) {
  return api("hipHostRegister", [&] {
    require(start != nullptr && bytes > 0, hipErrorInvalidValue, "nothing to register");
    sum(number(start), bytes);
    Runtime& runtime = Runtime::get();
    require(place_of(start) != Place::Device, hipErrorInvalidValue, "this is device memory");
    require(!runtime.host().pinned().contains(number(start)), hipErrorHostMemoryAlreadyRegistered,
            "this is pinned or managed memory");
    require(runtime.host().add(number(start), bytes), hipErrorHostMemoryAlreadyRegistered,
            "the range touches a registered one");
    const std::lock_guard lock(blocks_mutex);
    host_blocks[number(start)] = {flags, false, true, runtime.current_index()};
  });
}
EMU_API int hipHostUnregister(void* start) {
  return api("hipHostUnregister", [&] {
    Runtime& runtime = Runtime::get();
    for (const auto& device : runtime.devices()) device->synchronize();
    require(runtime.host().remove(number(start)), hipErrorHostMemoryNotRegistered,
            "no registered range starts here");
    const std::lock_guard lock(blocks_mutex);
    host_blocks.erase(number(start));
  });
}

EMU_API int hipHostGetDevicePointer(void** device_pointer, void* host, unsigned) {
  return api("hipHostGetDevicePointer", [&] {
    require(device_pointer != nullptr, hipErrorInvalidValue);
    require(host != nullptr && place_of(host) == Place::Pinned, hipErrorInvalidValue,
            "not pinned host memory");
    *device_pointer = host;
  });
}
EMU_API int hipHostGetFlags(unsigned* flags, void* host) {
  return api("hipHostGetFlags", [&] {
    require(flags != nullptr, hipErrorInvalidValue);
    const std::lock_guard lock(blocks_mutex);
    const auto found = host_blocks.find(number(host));
    require(found != host_blocks.end(), hipErrorInvalidValue, "not pinned host memory");
    *flags = found->second.flags;
  });
}

EMU_API int hipMemGetInfo(size_t* free_bytes, size_t* total) {
  return api("hipMemGetInfo", [&] {
    Device& device = Runtime::get().current();
    if (free_bytes != nullptr) *free_bytes = device.memory().capacity() - device.memory().used();
    if (total != nullptr) *total = device.memory().capacity();
  });
}

EMU_API int hipMemGetAddressRange(void** start, size_t* bytes, void* address) {
  return api("hipMemGetAddressRange", [&] {
    const auto block = block_around(address);
    require(block.bytes > 0, hipErrorNotFound, "no live block is there");
    if (start != nullptr) *start = reinterpret_cast<void*>(block.address);
    if (bytes != nullptr) *bytes = block.bytes;
  });
}
EMU_API int hipMemPtrGetInfo(void* address, size_t* bytes) {
  return hipMemGetAddressRange(nullptr, bytes, address);
}

EMU_API int hipPointerGetAttributes(PointerAttributes* attributes, const void* address) {
  return api("hipPointerGetAttributes", [&] {
    require(attributes != nullptr && address != nullptr, hipErrorInvalidValue, "a null pointer");
    Runtime& runtime = Runtime::get();
    const bool old = runtime.settings().rocm < 6;
    // Numbers changed with ROCm 6: host 0 -> 1, device 1 -> 2, managed 4 -> 3; "unregistered" (0) is new.
    const auto block = block_around(address);
    if (block.bytes == 0) {
      require(!old, hipErrorInvalidValue, "not memory that HIP knows");
      *attributes = {0, -2, nullptr, nullptr, 0, 0};
      return;
    }
    if (const Device* device = runtime.owner(number(address))) {
      *attributes = {old ? 1 : 2, device->index(), const_cast<void*>(address), nullptr, 0, 0};
      return;
    }
    const std::lock_guard lock(blocks_mutex);
    const auto found = host_blocks.find(block.address);
    const HostBlock known = found == host_blocks.end() ? HostBlock{} : found->second;
    const int type = known.managed ? (old ? 4 : 3) : old ? 0 : 1;
    *attributes = {type,          known.device, const_cast<void*>(address), const_cast<void*>(address),
                   known.managed, known.flags};
  });
}

// Memory is one: nothing moves, so advice and prefetching have nothing to do but to check what they are
// given.
EMU_API int hipMemPrefetchAsync(const void* address, size_t bytes, int device, StreamHandle stream) {
  return api("hipMemPrefetchAsync", [&] {
    check_hint(address, bytes, device);
    find_stream(stream);
  });
}
EMU_API int hipMemAdvise(const void* address, size_t bytes, int advice, int device) {
  return api("hipMemAdvise", [&] {
    const bool names_device = advice != kSetReadMostly && advice != kUnsetReadMostly;
    check_hint(address, bytes, names_device ? device : kHost);
  });
}
