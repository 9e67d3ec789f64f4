// SPDX-License-Identifier: Apache-2.0
#include "emu/hostcall.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "emu/exec/run.h"
#include "emu/printing.h"

namespace emu {
namespace {

enum Service : uint32_t { kCallFunction = 1, kPrint = 2, kDeviceMemory = 3 };

// The first word of a slot of the print service: whether a message begins and ends here, how many of the next
// seven words are its, and from the second packet on the number that the first one's answer gave it.
constexpr uint64_t kBegins = 1, kEnds = 2;
constexpr unsigned kCountShift = 5, kNumberShift = 8;

constexpr uint64_t kSlab = uint64_t{2} << 20;  // of the library's own heap; it finds one by a block's address
constexpr size_t kPage = 4096;                 // larger blocks are told by their addresses

// An HSA signal, as far as device code knows it.
struct Signal {
  int64_t kind, value;
  uint64_t mailbox;
  uint32_t event, reserved[9];
};
static_assert(sizeof(Signal) == 64);

[[noreturn]] void refuse(const std::string& what) { throw Fault(Fault::Kind::Unsupported, what); }

}  // namespace

struct Hostcall::Header {
  uint64_t next, lanes;
  uint32_t service, ready;
};

struct Hostcall::Buffer {
  Header* headers;
  Slot* slots;  // 64 for each packet
  uint64_t doorbell;
  // Stacks: the lower bits are a packet's index, the others a count, so that no value comes twice. 0: empty.
  uint64_t free, ready;
  uint64_t index_mask;
  uint64_t mailbox, reserved;  // from here on ours
  Signal signal;
};

Hostcall::Hostcall(Memory& memory, uint32_t packets) : memory_(memory) {
  while (packets_ < packets) packets_ *= 2;
  const uint64_t headers = sizeof(Buffer), slots = headers + packets_ * sizeof(Header);
  bytes_ = slots + packets_ * 64 * sizeof(Slot);
  address_ = reinterpret_cast<uint64_t>(memory_.allocate(bytes_));
  if (address_ == 0) throw std::bad_alloc();
  memory_.mark_initialized(address_, bytes_);
  Buffer& b = buffer();
  b = Buffer{};
  b.headers = reinterpret_cast<Header*>(address_ + headers);
  b.slots = reinterpret_cast<Slot*>(address_ + slots);
  b.index_mask = packets_ - 1;
  b.doorbell = reinterpret_cast<uint64_t>(&b.signal);
  b.signal.mailbox = reinterpret_cast<uint64_t>(&b.mailbox);  // one that is there makes the wave ring
  // Packet 0 gets a count of 1, because 0 is the end.
  uint64_t top = 0;
  for (uint64_t i = 0; i < packets_; ++i) {
    b.headers[i] = {top, 0, 0, 0};
    top = i == 0 ? packets_ : i;
  }
  b.free = top;
}

Hostcall::~Hostcall() { memory_.release(reinterpret_cast<void*>(address_)); }

void Hostcall::serve(KernelHeap& heap) {
  const std::lock_guard lock(mutex_);
  Buffer& b = buffer();
  uint64_t next = __atomic_exchange_n(&b.ready, uint64_t{0}, __ATOMIC_ACQUIRE);
  std::vector<uint64_t> ready;
  for (; next != 0; next = b.headers[next & b.index_mask].next) {
    if (ready.size() == packets_) refuse("the kernel has overwritten the buffer of calls to the host");
    ready.push_back(next & b.index_mask);
  }
  // The newest is on top.
  std::reverse(ready.begin(), ready.end());
  for (const uint64_t packet : ready) {
    Header& header = b.headers[packet];
    for (uint64_t lanes = header.lanes; lanes != 0; lanes &= lanes - 1) {
      const int lane = __builtin_ctzll(lanes);
      try {
        answer(header.service, b.slots[packet * 64 + static_cast<uint64_t>(lane)], heap);
      } catch (Fault& fault) {
        fault.lane = lane;
        if (ready.size() == 1) fault.wave = 0;
        throw;
      }
    }
    __atomic_fetch_and(&header.ready, ~1u, __ATOMIC_RELEASE);
  }
}

void Hostcall::answer(uint32_t service, uint64_t* slot, KernelHeap& heap) {
  switch (service) {
    case kCallFunction: {
      // A function of the program, by its address.
      using Function = void (*)(uint64_t*, const uint64_t*);
      if (slot[0] == 0) refuse("the kernel calls a host function at a null pointer");
      uint64_t result[2] = {0, 0};
      reinterpret_cast<Function>(slot[0])(result, slot + 1);
      std::memcpy(slot, result, sizeof result);
      return;
    }
    case kPrint:
      return take_message(slot);
    case kDeviceMemory:
      if (slot[0] == 0) {
        slot[0] = heap.allocate(slot[1], slot[1] == kSlab ? kSlab : kPage);
      } else if (!heap.release(slot[0])) {
        Fault fault(Fault::Kind::BadFree, heap.describe(slot[0]));
        fault.address = slot[0];
        throw fault;
      }
      return;
    default:
      refuse("the kernel asks the host for service " + std::to_string(service));
  }
}

void Hostcall::take_message(uint64_t* slot) {
  const uint64_t head = slot[0], words = head >> kCountShift & 7;
  uint64_t number = head >> kNumberShift;
  if (head & kBegins) number = next_message_++;
  const auto found = head & kBegins ? messages_.try_emplace(number).first : messages_.find(number);
  if (found == messages_.end()) refuse("a part of a printed text comes without its beginning");
  std::vector<uint64_t>& message = found->second;
  message.insert(message.end(), slot + 1, slot + 1 + words);
  if ((head & kEnds) == 0) {
    slot[0] = (head & ~kBegins & ((uint64_t{1} << kNumberShift) - 1)) | number << kNumberShift;
    return;
  }
  const std::vector<uint64_t> whole = std::move(message);
  messages_.erase(found);
  // Where to, the format as a string, then the arguments.
  const auto bytes = std::as_bytes(std::span(whole));
  if (bytes.size() < 2 * sizeof(uint64_t)) refuse("a printed text without a format");
  const auto* format = reinterpret_cast<const char*>(bytes.data()) + sizeof(uint64_t);
  const size_t length = strnlen(format, bytes.size() - sizeof(uint64_t));
  const size_t arguments = std::min(bytes.size(), sizeof(uint64_t) + (length + 8) / 8 * 8);
  const Printed printed{(whole[0] & 1) != 0, print_text({format, length}, bytes.subspan(arguments))};
  print(printed);
  slot[0] = printed.text.size();
}

}  // namespace emu
