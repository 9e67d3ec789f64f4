// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "emu/hip/device.h"
#include "emu/hip/graph.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

uint64_t at(const void* address) { return reinterpret_cast<uint64_t>(address); }

// The memory that knows the address; null for pageable memory.
Memory* memory_of(const void* address) {
  Runtime& runtime = Runtime::get();
  if (Device* device = runtime.owner(at(address))) return &device->memory();
  return runtime.host().pinned().contains(at(address)) ? &runtime.host().pinned() : nullptr;
}

size_t extent(const Side& side, CopyShape shape) {
  if (shape.width == 0 || shape.height == 0 || shape.depth == 0) return 0;
  return sum(sum(product(shape.depth - 1, side.slice_pitch), product(shape.height - 1, side.row_pitch)),
             shape.width);
}

// Why the range is not good, or nothing.
std::string complaint(const Side& side, CopyShape shape, const char* what) {
  const size_t bytes = extent(side, shape);
  const Memory* memory = memory_of(side.start);
  if (memory == nullptr || bytes == 0 || memory->valid(at(side.start), bytes)) return "";
  // The first byte that is outside tells most.
  uint64_t bad = at(side.start);
  if (const auto block = memory->block_at(bad); block.bytes > 0) bad = block.address + block.bytes;
  return std::string(what) + " of " + std::to_string(bytes) + " bytes: byte " +
         std::to_string(bad - at(side.start)) + " lies " + memory->describe(bad);
}

void check_now(const Side& side, CopyShape shape, const char* what) {
  const size_t bytes = extent(side, shape);
  require(bytes == 0 || side.start != nullptr, hipErrorInvalidValue, "a null pointer");
  sum(at(side.start), bytes);
  if (const std::string text = complaint(side, shape, what); !text.empty())
    throw ApiError(hipErrorInvalidValue, text);
}

void check_later(const Side& side, CopyShape shape, const char* what) {
  const std::string text = complaint(side, shape, what);
  if (text.empty()) return;
  Fault fault(Fault::Kind::OutOfBounds, text);
  fault.address = at(side.start);
  throw fault;
}

// Bytes and what is known about them.
void move_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  std::memmove(to, from, bytes);
  const Memory* target = memory_of(to);
  uint8_t* shadow = target == nullptr ? nullptr : target->initialized(at(to));
  if (shadow == nullptr) return;
  const Memory* source = memory_of(from);
  const uint8_t* known = source == nullptr ? nullptr : source->initialized(at(from));
  if (known == nullptr) {
    std::memset(shadow, 1, bytes);
  } else {
    std::memmove(shadow, known, bytes);
  }
}

template <class Row>
void each_row(CopyShape shape, Row row) {
  for (size_t z = 0; z < shape.depth; ++z)
    for (size_t y = 0; y < shape.height; ++y) row(z, y);
}

void do_copy(Side to, Side from, CopyShape shape) {
  if (extent(to, shape) == 0) return;
  check_later(to, shape, "a copy's destination");
  check_later(from, shape, "a copy's source");
  const auto dense = [&](const Side& side) {
    return (shape.height == 1 || side.row_pitch == shape.width) &&
           (shape.depth == 1 || side.slice_pitch == shape.width * shape.height);
  };
  if (dense(to) && dense(from)) {
    move_bytes(to.start, from.start, shape.width * shape.height * shape.depth);
    return;
  }
  each_row(shape, [&](size_t z, size_t y) {
    move_bytes(to.start + z * to.slice_pitch + y * to.row_pitch,
               from.start + z * from.slice_pitch + y * from.row_pitch, shape.width);
  });
}

void fill_row(std::byte* row, size_t width, uint32_t value, size_t value_bytes) {
  if (value_bytes == 1) {
    std::memset(row, static_cast<int>(value & 255), width);
  } else {
    for (size_t i = 0; i + value_bytes <= width; i += value_bytes) std::memcpy(row + i, &value, value_bytes);
  }
  if (const Memory* memory = memory_of(row)) memory->mark_initialized(at(row), width);
}

// Bytes of pageable memory as they were at a call, for a copy that runs later. All there are at one time have
// kMost bytes at most.
class Taken {
 public:
  static constexpr size_t kMost = size_t{64} << 20;

  // Null where there would be more.
  static std::shared_ptr<Taken> from(const std::byte* start, size_t bytes) {
    auto taken = std::make_shared<Taken>();
    size_t before = total.load();
    do {
      if (bytes > kMost - before) return nullptr;
    } while (!total.compare_exchange_weak(before, before + bytes));
    taken->counted_ = bytes;
    taken->bytes_.assign(start, start + bytes);
    return taken;
  }
  Taken() = default;
  ~Taken() { total -= counted_; }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  std::byte* data() { return bytes_.data(); }

 private:
  static inline std::atomic<size_t> total{0};
  size_t counted_ = 0;
  std::vector<std::byte> bytes_;
};

bool strict() { return Runtime::get().settings().options.check == Check::Strict; }

}  // namespace

size_t product(size_t a, size_t b) {
  size_t result = 0;
  require(!__builtin_mul_overflow(a, b, &result), hipErrorInvalidValue, "a size wraps");
  return result;
}

size_t sum(size_t a, size_t b) {
  size_t result = 0;
  require(!__builtin_add_overflow(a, b, &result), hipErrorInvalidValue, "a range wraps");
  return result;
}

Place place_of(const void* address) {
  Runtime& runtime = Runtime::get();
  if (runtime.owner(at(address)) != nullptr) return Place::Device;
  if (runtime.host().pinned().contains(at(address)) || runtime.host().registered_at(at(address)).bytes > 0)
    return Place::Pinned;
  return Place::Pageable;
}

Work copy_work(Side to, Side from, CopyShape shape) {
  check_now(to, shape, "a copy's destination");
  check_now(from, shape, "a copy's source");
  return [=] { do_copy(to, from, shape); };
}

Work fill_work(Side to, CopyShape shape, uint32_t value, size_t value_bytes) {
  check_now(to, shape, "a fill");
  require(extent(to, shape) == 0 || place_of(to.start) != Place::Pageable, hipErrorInvalidValue,
          "a fill of memory that HIP does not know");
  return [=] {
    if (extent(to, shape) == 0) return;
    check_later(to, shape, "a fill");
    each_row(shape, [&](size_t z, size_t y) {
      fill_row(to.start + z * to.slice_pitch + y * to.row_pitch, shape.width, value, value_bytes);
    });
  };
}

void copy(Side to, Side from, CopyShape shape, int kind, Stream& stream, bool wait) {
  require((kind >= kHostToHost && kind <= kDefault) || kind == 1024, hipErrorInvalidMemcpyDirection,
          "no such direction");
  Work work = copy_work(to, from, shape);
  if (wait) forbid_while_capturing();
  Work staged;
  bool must_wait = wait;
  const bool from_pageable = place_of(from.start) == Place::Pageable,
             to_pageable = place_of(to.start) == Place::Pageable;
  const size_t bytes = extent(from, shape);
  if (!wait && !strict() && from_pageable && bytes > 0 && !is_capturing(stream)) {
    // The program may change its memory as soon as the call returns.
    if (const auto taken = Taken::from(from.start, bytes)) {
      staged = [=] { do_copy(to, {taken->data(), from.row_pitch, from.slice_pitch}, shape); };
    } else {
      must_wait = true;
    }
  }
  const Ticket ticket = enqueue(stream, {NodeType::Memcpy, std::move(work), nullptr}, std::move(staged));
  if (ticket && (must_wait || (to_pageable && !strict()))) {
    ticket->wait();
    stream.device().check();
  }
}

void copy_flat(void* to, const void* from, size_t bytes, int kind, Stream& stream, bool wait) {
  auto* source = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  copy({static_cast<std::byte*>(to), bytes, bytes}, {source, bytes, bytes}, {bytes, 1, 1}, kind, stream,
       wait);
}

void fill(Side to, CopyShape shape, uint32_t value, size_t value_bytes, Stream& stream, bool wait) {
  const Ticket ticket =
      enqueue(stream, {NodeType::Memset, fill_work(to, shape, value, value_bytes), nullptr});
  if (ticket && wait) {
    ticket->wait();
    stream.device().check();
  }
}

}  // namespace emu::hip

using namespace emu::hip;

namespace {

std::byte* bytes_at(const void* address) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(address));
}

int copy_call(const char* name, void* to, const void* from, size_t bytes, int kind, StreamHandle stream,
              bool wait) {
  return api(name, [&] {
    if (bytes == 0) return;
    copy_flat(to, from, bytes, kind, find_stream(stream), wait);
  });
}

int peer_copy_call(const char* name, void* to, int to_device, const void* from, int from_device, size_t bytes,
                   StreamHandle stream, bool wait) {
  return api(name, [&] {
    Runtime::get().device(to_device);
    Runtime::get().device(from_device);
    if (bytes == 0) return;
    copy_flat(to, from, bytes, kDeviceToDevice, find_stream(stream), wait);
  });
}

int copy_2d_call(const char* name, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                 size_t width, size_t height, int kind, StreamHandle stream, bool wait) {
  return api(name, [&] {
    if (width == 0 || height == 0) return;
    require(width <= to_pitch && width <= from_pitch, hipErrorInvalidPitchValue,
            "a row is wider than the pitch");
    copy({bytes_at(to), to_pitch, product(to_pitch, height)},
         {bytes_at(from), from_pitch, product(from_pitch, height)}, {width, height, 1}, kind,
         find_stream(stream), wait);
  });
}

int fill_call(const char* name, void* to, uint32_t value, size_t value_bytes, size_t count,
              StreamHandle stream) {
  return api(name, [&] {
    if (count == 0) return;
    const size_t bytes = product(count, value_bytes);
    require(at(to) % value_bytes == 0, hipErrorInvalidValue,
            "the address is not aligned to the value's size");
    Stream& used = find_stream(stream);
    fill({bytes_at(to), bytes, bytes}, {bytes, 1, 1}, value, value_bytes, used,
         place_of(to) != Place::Device && !is_capturing(used));
  });
}

int fill_2d_call(const char* name, void* to, size_t pitch, int value, size_t width, size_t height,
                 StreamHandle stream) {
  return api(name, [&] {
    if (width == 0 || height == 0) return;
    require(width <= pitch, hipErrorInvalidPitchValue, "a row is wider than the pitch");
    fill({bytes_at(to), pitch, product(pitch, height)}, {width, height, 1}, static_cast<uint32_t>(value), 1,
         find_stream(stream), false);
  });
}

}  // namespace

EMU_API int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return copy_call("hipMemcpy", to, from, bytes, kind, nullptr, true);
}
EMU_API int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, StreamHandle stream) {
  return copy_call("hipMemcpyAsync", to, from, bytes, kind, stream, false);
}
EMU_API int hipMemcpyWithStream(void* to, const void* from, size_t bytes, int kind, StreamHandle stream) {
  return copy_call("hipMemcpyWithStream", to, from, bytes, kind, stream, true);
}
EMU_API int hipMemcpyHtoD(void* to, void* from, size_t bytes) {
  return copy_call("hipMemcpyHtoD", to, from, bytes, kHostToDevice, nullptr, true);
}
EMU_API int hipMemcpyDtoH(void* to, void* from, size_t bytes) {
  return copy_call("hipMemcpyDtoH", to, from, bytes, kDeviceToHost, nullptr, true);
}
EMU_API int hipMemcpyDtoD(void* to, void* from, size_t bytes) {
  return copy_call("hipMemcpyDtoD", to, from, bytes, kDeviceToDevice, nullptr, true);
}
EMU_API int hipMemcpyHtoDAsync(void* to, void* from, size_t bytes, StreamHandle stream) {
  return copy_call("hipMemcpyHtoDAsync", to, from, bytes, kHostToDevice, stream, false);
}
EMU_API int hipMemcpyDtoHAsync(void* to, void* from, size_t bytes, StreamHandle stream) {
  return copy_call("hipMemcpyDtoHAsync", to, from, bytes, kDeviceToHost, stream, false);
}
EMU_API int hipMemcpyDtoDAsync(void* to, void* from, size_t bytes, StreamHandle stream) {
  return copy_call("hipMemcpyDtoDAsync", to, from, bytes, kDeviceToDevice, stream, false);
}
// The devices are known by their memory; the numbers must exist. Nothing waits for the other device's
// streams.
EMU_API int hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return peer_copy_call("hipMemcpyPeer", to, to_device, from, from_device, bytes, nullptr, true);
}
EMU_API int hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                               StreamHandle stream) {
  return peer_copy_call("hipMemcpyPeerAsync", to, to_device, from, from_device, bytes, stream, false);
}
EMU_API int hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                        size_t height, int kind) {
  return copy_2d_call("hipMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}
EMU_API int hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                             size_t height, int kind, StreamHandle stream) {
  return copy_2d_call("hipMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}

namespace {

struct Extent {
  size_t width, height, depth;
};
struct PitchedPointer {
  void* pointer;
  size_t pitch, width, height;
};
struct Copy3d {
  void* from_array;
  Extent from_position;
  PitchedPointer from;
  void* to_array;
  Extent to_position;
  PitchedPointer to;
  Extent extent;
  int kind;
};
static_assert(sizeof(Copy3d) == 160);

Side side_of(const PitchedPointer& place, const Extent& position) {
  const size_t slice = product(place.pitch, place.height);
  const size_t skipped =
      sum(sum(product(position.depth, slice), product(position.height, place.pitch)), position.width);
  return {reinterpret_cast<std::byte*>(sum(at(place.pointer), skipped)), place.pitch, slice};
}

int copy_3d_call(const char* name, const Copy3d* p, StreamHandle stream, bool wait) {
  return api(name, [&] {
    require(p != nullptr, hipErrorInvalidValue);
    require(p->from_array == nullptr && p->to_array == nullptr, hipErrorNotSupported,
            "there are no arrays here");
    const Extent& extent = p->extent;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
    require(extent.width <= p->from.pitch && extent.width <= p->to.pitch, hipErrorInvalidPitchValue,
            "a row is wider than the pitch");
    copy(side_of(p->to, p->to_position), side_of(p->from, p->from_position),
         {extent.width, extent.height, extent.depth}, p->kind, find_stream(stream), wait);
  });
}

}  // namespace

EMU_API int hipMemcpy3D(const Copy3d* p) { return copy_3d_call("hipMemcpy3D", p, nullptr, true); }
EMU_API int hipMemcpy3DAsync(const Copy3d* p, StreamHandle stream) {
  return copy_3d_call("hipMemcpy3DAsync", p, stream, false);
}

EMU_API int hipMemset(void* to, int value, size_t bytes) {
  return fill_call("hipMemset", to, static_cast<uint32_t>(value), 1, bytes, nullptr);
}
EMU_API int hipMemsetAsync(void* to, int value, size_t bytes, StreamHandle stream) {
  return fill_call("hipMemsetAsync", to, static_cast<uint32_t>(value), 1, bytes, stream);
}
EMU_API int hipMemsetD8(void* to, unsigned char value, size_t count) {
  return fill_call("hipMemsetD8", to, value, 1, count, nullptr);
}
EMU_API int hipMemsetD8Async(void* to, unsigned char value, size_t count, StreamHandle stream) {
  return fill_call("hipMemsetD8Async", to, value, 1, count, stream);
}
EMU_API int hipMemsetD16(void* to, unsigned short value, size_t count) {
  return fill_call("hipMemsetD16", to, value, 2, count, nullptr);
}
EMU_API int hipMemsetD16Async(void* to, unsigned short value, size_t count, StreamHandle stream) {
  return fill_call("hipMemsetD16Async", to, value, 2, count, stream);
}
EMU_API int hipMemsetD32(void* to, int value, size_t count) {
  return fill_call("hipMemsetD32", to, static_cast<uint32_t>(value), 4, count, nullptr);
}
EMU_API int hipMemsetD32Async(void* to, int value, size_t count, StreamHandle stream) {
  return fill_call("hipMemsetD32Async", to, static_cast<uint32_t>(value), 4, count, stream);
}
EMU_API int hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_2d_call("hipMemset2D", to, pitch, value, width, height, nullptr);
}
EMU_API int hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                             StreamHandle stream) {
  return fill_2d_call("hipMemset2DAsync", to, pitch, value, width, height, stream);
}
