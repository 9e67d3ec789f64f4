// SPDX-License-Identifier: Apache-2.0
// Storages of a GPU and copies between it and the host.
#include "backends/gpu/backend.h"
#include "backends/gpu/peers.h"
#include "backends/gpu/per_gpu.h"

namespace beeswax::gpu {

GpuBackend& GpuBackend::of(const Device& device) {
  static constinit PerGpu<GpuBackend> backends;
  Gpu& gpu = Gpu::of(device);
  return backends.of(gpu, gpu);
}

detail::Ref<Storage> GpuBackend::allocate(size_t bytes) {
  void* data = gpu_.pool().take(bytes, gpu_.current());
  return Storage::make(data, bytes, gpu_.device(),
                       [](void* block, size_t, const Device& device) { Gpu::of(device).pool().give(block); });
}

void GpuBackend::upload(Storage& to, size_t offset, std::span<const std::byte> from) {
  gpu_.upload(to.data() + offset, from.data(), from.size());
}

void GpuBackend::download(const Storage& from, size_t offset, std::span<std::byte> to) {
  gpu_.download(to.data(), from.data() + offset, to.size());
}

void GpuBackend::copy_from(const Storage& from, size_t offset, Storage& to, size_t bytes) {
  copy_between(Gpu::of(from.device()), from.data() + offset, gpu_, to.data(), bytes);
}

void GpuBackend::begin_write(Storage& storage) { gpu_.begin_write(storage.data()); }

void GpuBackend::end_write(Storage& storage) { gpu_.end_write(storage.data()); }

void GpuBackend::synchronize() { gpu_.synchronize(); }

}  // namespace beeswax::gpu
