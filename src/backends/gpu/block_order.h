// SPDX-License-Identifier: Apache-2.0
// BlockOrder: who wrote a block of the pool and who read it since, as marks of streams. While only the first
// stream exists nothing is noted, and the pool gives every block the first stream's mark once a second is
// made.
//
// Launches do not say which of their operands they write. A block's stream writes it until another stream
// first reads it, which comes after the operation that made it has returned; then the block is shared, and
// everybody only reads it. Writing in place says so before and after.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "backends/gpu/streams.h"

namespace beeswax::gpu {

enum class Access : uint8_t { Read, Write };

/// Tickets to wait for, by stream; 0: none.
struct Needs {
  std::array<uint64_t, kMostStreams> tickets{};
  bool any = false;

  void add(const Mark& mark, const DeviceStream& stream) {
    if (stream.has_seen(mark)) return;
    tickets[mark.stream] = std::max(tickets[mark.stream], mark.ticket);
    any = true;
  }
};

class BlockOrder {
 public:
  /// What the next access by `stream` comes after and the stream has not waited for.
  void collect(const DeviceStream& stream, Access access, Needs& needs) const {
    needs.add(writer_, stream);
    if (access == Access::Write)
      for (const Mark& use : uses_) needs.add(use, stream);
  }
  /// Whether collect() finds nothing, whatever the stream has waited for.
  bool is_only_of(const DeviceStream& stream) const {
    return writer_.stream == stream.index() && uses_.empty();
  }
  /// The stream has waited for all that collect() names and will submit the access now.
  void begin(const DeviceStream& stream, Access access) {
    if (access == Access::Read) {
      shared_ = shared_ || writer_.stream != stream.index();
      return;
    }
    writer_ = {stream.index(), stream.ticket()};
    shared_ = false;
    uses_.clear();
  }
  /// Work that reads the block, or writes it where it is not shared, was submitted; `ticket` counts it.
  void end(const DeviceStream& stream, uint64_t ticket) {
    if (writer_.stream == stream.index() && !shared_) return raise(writer_, ticket);
    for (Mark& use : uses_)
      if (use.stream == stream.index()) return raise(use, ticket);
    uses_.push_back({stream.index(), ticket});
  }
  /// Work that writes the block was submitted, and the stream has waited for the writer that is noted:
  /// another one where two streams write parts of a block. Who waits for this one waits for both.
  void end_write(const DeviceStream& stream) { writer_ = {stream.index(), stream.ticket()}; }
  /// Notes what `mark` covers as written.
  void number(const Mark& mark) {
    if (writer_.stream == mark.stream) raise(writer_, mark.ticket);
  }

 private:
  static void raise(Mark& mark, uint64_t ticket) { mark.ticket = std::max(mark.ticket, ticket); }

  Mark writer_;
  bool shared_ = false;
  std::vector<Mark> uses_;  // by streams that only read it since; one for each
};

}  // namespace beeswax::gpu
