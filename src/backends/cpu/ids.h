// SPDX-License-Identifier: Apache-2.0
// Ids of an indexing operation: reading them, and the error for the first one that is out of range.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/cpu/kernels/indexing.h"
#include "backends/cpu/nest.h"
#include "core/fail.h"

namespace beeswax::cpu {

/// The ids of one operation along an axis of `size`, from any thread. Bad ones are remembered by their place
/// in row-major order, so the same one is reported for any number of threads.
class Ids {
 public:
  Ids(std::string_view operation, const Operand& ids, const Shape& shape, int axis)
      : operation_(operation),
        ids_(ids),
        shape_(shape),
        axis_(axis),
        size_(shape[axis]),
        load_(indexing_kernels().load[kind()]),
        check_(indexing_kernels().check[kind()]) {}

  /// ids[offset + i * stride] as numbers, -1 for "skip"; `linear` is the place of the first in row-major
  /// order.
  void load(int64_t* out, int64_t offset, int64_t stride, int64_t count, int64_t linear) {
    if (!load_(out, at(offset), stride, count, size_)) note_bad(offset, stride, count, linear);
  }

  /// The run's elements for the ids from `offset` on; `linear` as for load. The ids of `run` are filled in.
  void gather(GatherRun run, size_t element_class, int64_t offset, int64_t linear) {
    run.ids = at(offset);
    run.size = size_;
    if (!indexing_kernels().gather[kind()][element_class](run))
      note_bad(offset, run.id_stride, run.count, linear);
  }

  /// Looks at all ids; throws where one is out of range.
  void check_all();

  /// Throws if a bad id was seen.
  void require_good() const {
    if (bad_.load(std::memory_order_relaxed) != INT64_MAX) report();
  }

 private:
  size_t kind() const { return static_cast<size_t>(ids_.dtype); }
  int64_t bytes() const { return dtype_bits(ids_.dtype) / 8; }
  const std::byte* at(int64_t offset) const { return ids_.data() + offset * bytes(); }
  void note_bad(int64_t offset, int64_t stride, int64_t count, int64_t linear);
  int64_t value(int64_t offset) const;
  [[noreturn]] void report() const;

  std::string_view operation_;
  const Operand& ids_;
  const Shape& shape_;
  int axis_;
  int64_t size_;
  bool (*load_)(int64_t*, const void*, int64_t, int64_t, int64_t);
  bool (*check_)(const void*, int64_t, int64_t, int64_t);
  std::atomic<int64_t> bad_{INT64_MAX};
};

/// Looks at all ids before anything is written.
inline void check_ids(std::string_view operation, const Operand& ids, const Shape& shape, int axis) {
  Ids(operation, ids, shape, axis).check_all();
}

/// Ids that were checked: out[i] = ids[offset + i * stride], -1 for "skip".
inline void load_ids(int64_t* out, const Operand& ids, int64_t offset, int64_t stride, int64_t count,
                     int64_t size) {
  const auto bytes = static_cast<int64_t>(dtype_bytes(ids.dtype, 1));
  indexing_kernels().load[static_cast<size_t>(ids.dtype)](out, ids.data() + offset * bytes, stride, count,
                                                          size);
}

}  // namespace beeswax::cpu
