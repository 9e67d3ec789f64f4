// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <iterator>

#include "backends/gpu/capture.h"
#include "core/fail.h"

namespace beeswax::gpu {
namespace {

// Blocks come in sizes that are eighths of powers of two: at most an eighth is lost, or 511 bytes of small
// ones, and few sizes wait for use.
size_t block_bytes(size_t bytes) {
  constexpr size_t kLeast = 512;
  bytes = std::max(bytes, kLeast);
  const size_t step = std::max(std::bit_floor(bytes) / 8, kLeast);
  return (bytes + step - 1) / step * step;
}

// A number for each of these sizes, in their order.
size_t class_of(size_t size) {
  constexpr int kLeastPower = 12;  // up to here the sizes are multiples of 512
  const int power = std::max(static_cast<int>(std::bit_width(size)) - 1, kLeastPower);
  return 8 * static_cast<size_t>(power - kLeastPower) + (size >> (power - 3));
}

constexpr std::string_view kGivingBack = "giving kept memory back";

}  // namespace

GraphMemory::~GraphMemory() { pool_.release(*this); }

void GraphMemory::end_capture() {
  blocks_.assign(held_.begin(), held_.end());
  taken_.clear();
  free_.clear();
}

Pool::~Pool() {
  if (!blocks_.empty() && driver_.use(ordinal_).ok()) release_kept();
}

GraphMemory* Pool::recording() const {
  return capturing != nullptr && capturing->pool == this ? &capturing->memory : nullptr;
}

void* Pool::take(size_t bytes, DeviceStream& stream) {
  const size_t size = block_bytes(bytes);
  if (size < bytes) fail(ErrorKind::TooLarge, "allocate", bytes, " bytes");
  std::unique_lock lock(mutex_);
  GraphMemory* graph = recording();
  if (graph != nullptr)
    if (void* data = take_again(*graph, size); data != nullptr) return data;
  // Kept blocks are no way around a limit: they may have been in use when it was set.
  if (over_limit(statistics_.used_bytes, size)) {
    if (graph == nullptr) {
      use_device(driver_, ordinal_);
      release_kept();
    }
    refuse(bytes, join_text("over the limit of ", statistics_.limit_bytes, " that was set"));
  }
  Block* block = take_kept(size, stream);
  if (block == nullptr && graph != nullptr)
    fail(ErrorKind::Unsupported, "allocate", "a graph cannot record that ", size,
         " bytes are asked of the driver; run the same operations once before capturing, and drop their "
         "results, so "
         "that the pool has memory for them");
  if (block == nullptr) block = &ask_driver(bytes, size);
  if (graph != nullptr) {
    hold(*block, *graph);
    graph->taken_.insert(block->data);
  }
  statistics_.used_bytes += size;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.used_bytes);
  block->home = stream.index();
  if (graph != nullptr) return block->data;
  if (!block->order.is_only_of(stream)) {
    try {
      wait(lock, {&block->data, 1}, stream, Access::Write);
    } catch (...) {
      lock.lock();
      keep(*block);
      throw;
    }
  }
  block->order.begin(stream, Access::Write);
  return block->data;
}

Pool::Block* Pool::take_kept(size_t size, const DeviceStream& stream) {
  KeptBlocks& kept = kept_[stream.index()];
  const size_t number = class_of(size);
  if (number >= kept.size() || kept[number].empty()) return nullptr;
  Block* block = kept[number].back();
  kept[number].pop_back();
  statistics_.kept_bytes -= size;
  block->state = State::Used;
  return block;
}

bool Pool::over_limit(size_t held, size_t more) const {
  const size_t limit = statistics_.limit_bytes;
  return limit != 0 && (held > limit || more > limit - held);
}

void Pool::refuse(size_t bytes, std::string_view why) const {
  size_t free = 0, total = 0;
  const std::string room = driver_.memory_info(&free, &total).ok()
                               ? join_text(", and the device has ", free, " free of ", total)
                               : "";
  fail(ErrorKind::OutOfMemory, "allocate", bytes, " bytes on ", device_, ": ", why, "; ",
       statistics_.used_bytes, " bytes are in use here", room);
}

Pool::Block& Pool::ask_driver(size_t bytes, size_t size) {
  use_device(driver_, ordinal_);
  if (over_limit(statistics_.used_bytes + statistics_.kept_bytes, size)) {
    const Result released = release_kept();
    if (over_limit(statistics_.used_bytes + statistics_.kept_bytes, size))
      check(driver_, released, kGivingBack);
  }
  void* data = nullptr;
  Result result = driver_.allocate(size, &data);
  if (result.code == Code::OutOfMemory) {
    release_kept();
    result = driver_.allocate(size, &data);
  }
  if (result.code == Code::OutOfMemory) refuse(bytes, driver_.error_text(result.number));
  check(driver_, result, "allocating memory");
  Block& block = blocks_.emplace(data, Block{data, size}).first->second;
  addresses_.emplace(static_cast<std::byte*>(data), &block);
  ++statistics_.driver_calls;
  return block;
}

void Pool::give(void* data) {
  const std::scoped_lock lock(mutex_);
  Block& block = blocks_.at(data);
  if (block.graphs != 0) {
    block.state = State::Given;
    GraphMemory* graph = recording();
    if (graph != nullptr && graph->taken_.contains(data)) graph->free_[block.bytes].push_back(data);
    return;
  }
  keep(block);
}

void Pool::keep(Block& block) {
  block.state = State::Kept;
  KeptBlocks& kept = kept_[block.home];
  const size_t number = class_of(block.bytes);
  if (number >= kept.size()) kept.resize(number + 1);
  kept[number].push_back(&block);
  statistics_.used_bytes -= block.bytes;
  statistics_.kept_bytes += block.bytes;
}

void* Pool::take_again(GraphMemory& graph, size_t size) {
  const auto found = graph.free_.find(size);
  if (found == graph.free_.end() || found->second.empty()) return nullptr;
  void* data = found->second.back();
  found->second.pop_back();
  blocks_.at(data).state = State::Used;
  return data;
}

void Pool::hold(Block& block, GraphMemory& graph) {
  if (!graph.held_.insert(block.data).second) return;
  ++block.graphs;
  graph.bytes_ += block.bytes;
}

template <class Visit>
void Pool::each_block(std::span<const std::byte> arguments, const Visit& visit) const {
  if (addresses_.empty()) return;
  const std::byte* first = addresses_.begin()->first;
  for (size_t at = 0; at + sizeof(void*) <= arguments.size(); at += sizeof(void*)) {
    std::byte* address = nullptr;
    std::memcpy(static_cast<void*>(&address), arguments.data() + at, sizeof(address));
    if (std::less<>()(address, first)) continue;  // most words are sizes
    const auto& [data, block] = *std::prev(addresses_.upper_bound(address));
    if (address < data + block->bytes && block->state != State::Kept) visit(*block);
  }
}

void Pool::hold(std::span<const std::byte> arguments, GraphMemory& graph) {
  const std::scoped_lock lock(mutex_);
  each_block(arguments, [&](Block& block) { hold(block, graph); });
}

void Pool::find(std::span<const std::byte> arguments, std::vector<void*>& blocks) const {
  const std::scoped_lock lock(mutex_);
  each_block(arguments, [&](Block& block) { blocks.push_back(block.data); });
}

void Pool::release(GraphMemory& graph) {
  const std::scoped_lock lock(mutex_);
  for (void* data : graph.held_) {
    Block& block = blocks_.at(data);
    if (--block.graphs == 0 && block.state == State::Given) keep(block);
  }
}

Result Pool::release_kept() {
  // The driver's release waits for the device by itself, so nothing that is still in use goes away.
  Result failed;
  const auto is_released = [&](const Block* block) {
    void* data = block->data;
    const Result result = driver_.release(data);
    if (failed.ok()) failed = result;
    if (!result.ok() && result.code != Code::Lost) return false;  // the driver did not take it
    statistics_.kept_bytes -= block->bytes;
    addresses_.erase(static_cast<std::byte*>(data));
    blocks_.erase(data);
    return true;
  };
  for (KeptBlocks& kept : kept_)
    for (std::vector<Block*>& blocks : kept) std::erase_if(blocks, is_released);
  return failed;
}

template <class Visit>
void Pool::each_order(std::span<void* const> blocks, const Visit& visit) {
  for (void* data : blocks)
    if (const auto found = blocks_.find(data); found != blocks_.end()) visit(found->second.order);
}

// Streams are made to wait outside of the lock, so there may be more to wait for when it is taken again.
void Pool::wait(std::unique_lock<std::mutex>& lock, std::span<void* const> blocks, DeviceStream& stream,
                Access access) {
  for (;;) {
    Needs needs;
    each_order(blocks, [&](const BlockOrder& order) { order.collect(stream, access, needs); });
    if (!needs.any) return;
    lock.unlock();
    for (uint32_t i = 0; i < kMostStreams; ++i)
      if (needs.tickets[i] != 0) stream.wait_for({i, needs.tickets[i]});
    lock.lock();
  }
}

void Pool::order(std::span<void* const> blocks, DeviceStream& stream, Access access) {
  std::unique_lock lock(mutex_);
  wait(lock, blocks, stream, access);
  each_order(blocks, [&](BlockOrder& order) { order.begin(stream, access); });
}

void Pool::mark_read(std::span<void* const> blocks, const DeviceStream& stream, uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  each_order(blocks, [&](BlockOrder& order) { order.end(stream, ticket); });
}

void Pool::mark_written(std::span<void* const> blocks, DeviceStream& stream) {
  std::unique_lock lock(mutex_);
  wait(lock, blocks, stream, Access::Read);
  each_order(blocks, [&](BlockOrder& order) { order.end_write(stream); });
}

void Pool::number_blocks(const Mark& mark) {
  const std::scoped_lock lock(mutex_);
  for (auto& [data, block] : blocks_) block.order.number(mark);
}

void Pool::refuse_recording(std::string_view operation) const {
  if (recording() != nullptr)
    fail(ErrorKind::Unsupported, operation,
         "a graph cannot record that memory goes back to the driver; call this after capturing");
}

void Pool::trim() {
  refuse_recording("trim_memory");
  const std::scoped_lock lock(mutex_);
  use_device(driver_, ordinal_);
  check(driver_, release_kept(), kGivingBack);
}

bool Pool::make_room() {
  if (recording() != nullptr) return false;
  const std::scoped_lock lock(mutex_);
  const size_t kept = statistics_.kept_bytes;
  if (kept != 0) release_kept();
  return statistics_.kept_bytes != kept;
}

void Pool::set_limit(size_t bytes) {
  refuse_recording("set_memory_limit");
  const std::scoped_lock lock(mutex_);
  statistics_.limit_bytes = bytes;
  if (!over_limit(statistics_.used_bytes + statistics_.kept_bytes, 0)) return;
  use_device(driver_, ordinal_);
  check(driver_, release_kept(), kGivingBack);
}

MemoryStatistics Pool::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

}  // namespace beeswax::gpu
