// SPDX-License-Identifier: Apache-2.0
// Staging: copies between the host's ordinary memory and a device by way of pinned buffers, from which the
// copy engine reads at its own speed. Threads of the CPU fill or empty one buffer while others are under way.
#pragma once

#include <array>
#include <mutex>

#include "backends/gpu/handles.h"

namespace beeswax::gpu {

class Gpu;

class Staging {
 public:
  static constexpr size_t kBuffers = 4;
  static constexpr size_t kMostBytes = size_t{4} << 20;  ///< of a buffer; larger copies take several

  Staging(Gpu& gpu, const Driver& driver);

  /// Copies to the device behind what the stream holds, without waiting for that; the source may change when
  /// it returns.
  void upload(void* to, const void* from, size_t bytes, StreamHandle stream);
  /// Copies to the host behind what the stream holds, and waits for it.
  void download(void* to, const void* from, size_t bytes, StreamHandle stream);
  /// Buffers that exist; each has an event. They are made when they are first needed.
  size_t buffers() const;

 private:
  struct Buffer {
    explicit Buffer(const Driver& driver) : memory(driver), done(driver) {}
    PinnedMemory memory;
    Event done;  // the last copy from or to it
    size_t bytes = 0;
    bool busy = false;  // with a copy that nobody waited for
  };
  void wait(Buffer& buffer);
  /// Waits for a buffer and gives it so many bytes.
  void prepare(Buffer& buffer, size_t bytes);
  /// Begins to copy between a buffer and the device.
  void start(Buffer& buffer, void* to, const void* from, size_t bytes, Direction direction,
             StreamHandle stream);

  Gpu& gpu_;
  const Driver& driver_;
  mutable std::mutex mutex_;
  std::array<Buffer, kBuffers> buffers_;
  size_t next_ = 0;
};

}  // namespace beeswax::gpu
