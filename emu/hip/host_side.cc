// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/host_side.h"

#include <algorithm>
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

}  // namespace

RunHost::RunHost(const Kernel& kernel, Device& device, std::byte* kernargs)
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
    } else {
      continue;
    }
    std::memcpy(kernargs + argument.offset, &value, std::min<size_t>(argument.size, sizeof value));
  }
}

RunHost::~RunHost() {
  // After a fault too: what was printed before it says how it came to that.
  if (printed_ != nullptr) print_what_is_buffered();
  if (finished_ && calls_ != nullptr) device_.give_back(std::move(calls_));
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
