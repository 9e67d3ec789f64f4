// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/host_calls.h"

#include <string>
#include <string_view>

#include "emu/exec/service.h"
#include "emu/exec/worker.h"
#include "emu/heap.h"
#include "emu/hostcall.h"

namespace emu::exec {
namespace {

constexpr uint32_t kMessageMask = 15, kInterrupt = 1;
// AMDGPU's calling convention: a 64-bit argument or result in v[0:1], the way back in s[30:31].
constexpr unsigned kReturnAddress = 30;

uint64_t lanes_of(const Wave& w) {
  return word64(const_cast<uint32_t*>(w.s) + kExec) & (w.lanes > 32 ? ~uint64_t(0) : 0xffffffffu);
}
KernelHeap& heap_of(const Wave& w, const Op* op) {
  const HostSide* host = w.group->launch->host;
  if (host == nullptr || host->heap == nullptr)
    raise(w, op, Fault::Kind::Unsupported, -1, 0, "this launch has no memory for kernels to allocate");
  return *host->heap;
}
uint64_t argument(const Wave& w, unsigned lane) { return w.v[lane] | uint64_t(w.v[w.lanes + lane]) << 32; }
void need_argument(const Wave& w, const Op* op, const char* what) {
  if (w.checker == nullptr) return;
  const uint64_t undefined = lanes_of(w) & ~(w.initialized[0] & w.initialized[1]);
  if (undefined != 0) raise(w, op, Fault::Kind::Uninitialized, __builtin_ctzll(undefined), 0, what);
}
const Op* go_back(Wave& w, const Op* op) {
  return find_code(w, op, w.s[kReturnAddress] | uint64_t(w.s[kReturnAddress + 1]) << 32);
}

const Op* allocate_blocks(Wave& w, const Op* op) {
  KernelHeap& heap = heap_of(w, op);
  need_argument(w, op, "the number of bytes to allocate was never written");
  for (uint64_t lanes = lanes_of(w); lanes != 0; lanes &= lanes - 1) {
    const auto lane = unsigned(__builtin_ctzll(lanes));
    const uint64_t bytes = argument(w, lane), block = bytes == 0 ? 0 : heap.allocate(bytes);
    if (w.checker != nullptr && w.checker->races != nullptr && block != 0)
      w.checker->races->forget(block, bytes);
    w.v[lane] = uint32_t(block);
    w.v[w.lanes + lane] = uint32_t(block >> 32);
  }
  return go_back(w, op);
}
const Op* free_blocks(Wave& w, const Op* op) {
  KernelHeap& heap = heap_of(w, op);
  need_argument(w, op, "the address to free was never written");
  for (uint64_t lanes = lanes_of(w); lanes != 0; lanes &= lanes - 1) {
    const auto lane = unsigned(__builtin_ctzll(lanes));
    const uint64_t block = argument(w, lane);
    if (block == 0 || heap.release(block)) continue;
    // The place of the call says more than the library's function.
    raise(w, go_back(w, op) - 1, Fault::Kind::BadFree, int(lane), block, heap.describe(block).c_str());
  }
  return go_back(w, op);
}

bool is_wait(const Op& op) { return op.row != nullptr && op.row->cls == Class::Wait; }

/// Whether the function reads its argument, as far as the first operations say: compilers move a constant
/// into a function that nobody calls with another, and then the registers hold anything.
bool reads_argument(const std::vector<Op>& ops, size_t at) {
  for (; at < ops.size(); ++at) {
    const Op& op = ops[at];
    for (const Source& s : op.src)
      if (s.place == Place::Vector && s.reg == 0) return true;
    if (op.dst_place == Place::Vector && op.dst == 0) return false;
    if (op.row == nullptr || op.row->cls == Class::Branch) return false;
  }
  return false;
}

constexpr Row kHeapRow = {"(a function of the device library's heap)",
                          nullptr,
                          Form::Immediate,
                          Class::Other,
                          Type::None,
                          Type::None,
                          {},
                          0,
                          0,
                          0,
                          {},
                          0};

}  // namespace

void send_message(Wave& w, const Op* op) {
  const HostSide* host = w.group->launch->host;
  if ((uint32_t(op->raw[0]) & kMessageMask) != kInterrupt || host == nullptr || host->calls == nullptr)
    return;
  try {
    host->calls->serve(*host->heap);
  } catch (Fault& fault) {
    // Several waves had called, and nobody knows which of them was wrong.
    if (fault.wave < 0) {
      fault.kernel = w.group->launch->kernel->name;
      throw;
    }
    raise(w, op, fault.kind, fault.lane, fault.address, fault.what());
  }
}

void replace_heap_functions(const Image& image, uint64_t base, size_t bytes,
                            const std::unordered_map<uint32_t, uint32_t>& index_of, std::vector<Op>& ops) {
  const auto replace = [&](const char* name, Handler handler) {
    const uint64_t address = image.find_function(name);
    if (address < base || address - base >= bytes) return;
    const auto found = index_of.find(uint32_t(address - base));
    if (found == index_of.end()) return;
    size_t at = found->second;
    // The waits for what the caller's registers still get are the function's.
    while (at < ops.size() && is_wait(ops[at])) ++at;
    if (!reads_argument(ops, at)) return;
    Op& op = ops[at];
    const uint32_t offset = op.offset, text = op.text;
    op = Op{};
    op.run = handler;
    op.row = &kHeapRow;
    op.offset = offset;
    op.text = text;
    op.index = uint32_t(Class::Other);
  };
  replace("__ockl_dm_alloc", allocate_blocks);
  replace("__ockl_dm_dealloc", free_blocks);
}

}  // namespace emu::exec
