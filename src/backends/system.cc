// SPDX-License-Identifier: Apache-2.0
#include "beeswax/system.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "backends/cpu/isa.h"
#include "backends/cpu/stripes.h"
#include "backends/gpu/gpu.h"
#include "backends/gpu/report.h"
#include "core/fail.h"
#include "core/os/cpu.h"
#include "core/os/memory.h"
#include "core/thread_pool.h"

namespace beeswax {
namespace {

DeviceInfo cpu_info() {
  DeviceInfo info;
  info.device = "cpu";
  info.name = os::cpu_name();
  info.detail = join_text("x86-64 level ", cpu::isa_name(cpu::isa()), ", ", num_threads(), " threads");
#if !defined(__x86_64__)
  info.detail = join_text(num_threads(), " threads");
#endif
  info.memory_bytes = os::physical_memory_bytes();
  info.usable = true;
  return info;
}

gpu::Pool& pool_of(const Device& device, std::string_view what) {
  if (device.is_cpu())
    fail(ErrorKind::Unsupported, what, "the memory of the device cpu is the system's; give a GPU");
  return gpu::Gpu::of(device).pool();
}

std::atomic<bool> reduced_precision{false};

}  // namespace

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> out = {cpu_info()};
  const auto add = [&out](DeviceKind kind, std::string_view prefix) {
    if (kind == DeviceKind::Cpu) return;
    for (DeviceInfo& info : gpu::report(kind, prefix)) out.push_back(std::move(info));
  };
#define BW_BACKEND(Name, prefix, ...) add(DeviceKind::Name, #prefix);
#include "tables/backends.def"
  return out;
}

DeviceInfo device_info(const Device& device) {
  if (device.is_cpu()) return cpu_info();
  const std::string name = device.to_string();
  std::vector<DeviceInfo> all = gpu::report(device.kind(), name.substr(0, name.find(':')));
  const auto found = std::ranges::find(all, name, &DeviceInfo::device);
  if (found == all.end() || !found->usable) {
    static_cast<void>(gpu::Gpu::of(device));  // says what is amiss
    fail(ErrorKind::Device, "device", device, " is not in the list of devices");
  }
  found->memory_free_bytes = gpu::free_memory(device.kind(), static_cast<int>(found - all.begin()));
  return std::move(*found);
}

std::string list_libraries(const Device& device) {
  return device.is_cpu() ? "" : gpu::report_libraries(device.kind());
}

MemoryStatistics memory_statistics(const Device& device) {
  return pool_of(device, "memory_statistics").statistics();
}

void set_memory_limit(const Device& device, size_t bytes) {
  pool_of(device, "set_memory_limit").set_limit(bytes);
}

void trim_memory(const Device& device) { pool_of(device, "trim_memory").trim(); }

int num_threads() { return ThreadPool::global().threads(); }

void set_num_threads(int threads) {
  if (threads < 1 || threads > 1024)
    fail(ErrorKind::InvalidArgument, "threads", threads, " is not a number from 1 to 1024");
  ThreadPool::global().set_threads(threads);
}

RepackedWeights repacked_weights() { return cpu::stripes_statistics(); }

bool reduced_precision_f32() { return reduced_precision.load(std::memory_order_relaxed); }

void set_reduced_precision_f32(bool allowed) { reduced_precision.store(allowed, std::memory_order_relaxed); }

}  // namespace beeswax
