// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/host_side.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "emu/hip/device.h"
#include "emu/printing.h"

namespace emu::hip {
namespace {

// The buffer of `-mprintf-kind=buffered` begins with the bytes that are taken and the bytes that there are.
struct PrintHead {
  uint32_t taken, room;
};

// What the device library's barriers of the grid work on where they are in memory, and what it says of grids
// on several devices, of which there is none here.
struct GridInfo {
  uint64_t devices;
  uint32_t number, count;
  uint64_t items_before, items;
  uint32_t counter, unused, groups;
};
static_assert(sizeof(GridInfo) == 48);

// Chips without global wave sync, or whose libraries leave it alone.
bool syncs_in_memory(const Chip& chip) {
  return chip.family == Family::Cdna3 || chip.family >= Family::Rdna3;
}

}  // namespace

RunHost::RunHost(const Kernel& kernel, Device& device, std::byte* kernargs, uint64_t groups, bool cooperative)
    : kernel_(kernel), device_(device) {
  side_.heap = &device.kernel_heap();
  const auto own = [&](uint64_t begin, uint64_t bytes) {
    side_.own.push_back({begin, bytes});
    return begin;
  };
  for (const Argument& argument : kernel.arguments) {
    uint64_t value = 0;
    if (argument.kind == "hidden_hostcall_buffer") {
      calls_ = device.take_hostcall();
      side_.calls = calls_.get();
      value = own(calls_->address(), calls_->bytes());
    } else if (argument.kind == "hidden_printf_buffer") {
      printed_room_ = device.print_bytes();
      printed_ = static_cast<std::byte*>(device.memory().allocate(printed_room_ + sizeof(PrintHead)));
      if (printed_ == nullptr)
        throw Fault(Fault::Kind::Unsupported, "no device memory is left for what a kernel prints");
      const PrintHead head{0, static_cast<uint32_t>(printed_room_)};
      std::memcpy(printed_, &head, sizeof head);
      value = own(reinterpret_cast<uint64_t>(printed_), printed_room_ + sizeof head);
      device.memory().mark_initialized(value, printed_room_ + sizeof head);
    } else if (argument.kind == "hidden_heap_v1") {
      value = own(device.library_heap(), Device::kLibraryHeapBytes);
    } else if (argument.kind == "hidden_multigrid_sync_arg" && cooperative) {
      value = grid_argument(groups);
    } else {
      continue;
    }
    std::memcpy(kernargs + argument.offset, &value, std::min<size_t>(argument.size, sizeof value));
  }
}

RunHost::~RunHost() {
  // After a fault too: what was printed before it says how it came to that.
  if (printed_ != nullptr) print_what_is_buffered();
  if (grid_ != nullptr) device_.memory().release(grid_, true);
  if (finished_ && calls_ != nullptr) device_.give_back(std::move(calls_));
}

uint64_t RunHost::grid_argument(uint64_t groups) {
  if (!syncs_in_memory(device_.chip())) return 1;  // only says that it is a cooperative launch
  grid_ = static_cast<std::byte*>(device_.memory().allocate(sizeof(GridInfo)));
  if (grid_ == nullptr)
    throw Fault(Fault::Kind::Unsupported, "no device memory is left for a kernel's barriers of the grid");
  GridInfo info{};
  info.groups = static_cast<uint32_t>(groups);
  std::memcpy(grid_, &info, sizeof info);
  const auto address = reinterpret_cast<uint64_t>(grid_);
  device_.memory().mark_initialized(address, sizeof info);
  side_.grid_counter = reinterpret_cast<const uint32_t*>(grid_ + offsetof(GridInfo, counter));
  side_.own.push_back({address, sizeof info, true});
  return address;
}

void RunHost::finish() { finished_ = true; }

void RunHost::print_what_is_buffered() {
  PrintHead head;
  std::memcpy(&head, printed_, sizeof head);
  const size_t taken = std::min<size_t>(head.taken, printed_room_);
  for (const Printed& printed :
       buffered_texts({printed_ + sizeof head, taken}, kernel_.image->print_formats()))
    print(printed);
  device_.memory().release(printed_, true);
}

}  // namespace emu::hip
