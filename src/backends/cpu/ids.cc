// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/ids.h"

#include "core/thread_pool.h"

namespace beeswax::cpu {

static_assert(static_cast<int>(DType::U8) == 0 && static_cast<int>(DType::U32) == 1 &&
                  static_cast<int>(DType::I16) == 2 && static_cast<int>(DType::I32) == 3 &&
                  static_cast<int>(DType::I64) == 4,
              "the kernels for ids are found by the number of their dtype");

void Ids::note_bad(int64_t offset, int64_t stride, int64_t count, int64_t linear) {
  for (int64_t i = 0; i < count; ++i) {
    if (check_(at(offset + i * stride), 1, 1, size_)) continue;
    const int64_t place = linear + i;
    int64_t first = bad_.load(std::memory_order_relaxed);
    while (place < first && !bad_.compare_exchange_weak(first, place, std::memory_order_relaxed)) {
    }
    return;
  }
}

void Ids::check_all() {
  const Nest<1> nest({ids_.layout});
  parallel_ranges(nest.count, 1 << 16, [&](int64_t begin, int64_t end) {
    NestPosition<1> position(nest, begin);
    for (int64_t i = begin; i < end;) {
      const int64_t run = std::min(end - i, position.left());
      const int64_t stride = nest.strides[0][nest.last()];
      if (!check_(at(position.offset(0)), stride, run, size_)) note_bad(position.offset(0), stride, run, i);
      i += run;
      position.advance(run);
    }
  });
  require_good();
}

int64_t Ids::value(int64_t offset) const {
  const std::byte* from = at(offset);
  const auto read = [from](auto id) {
    std::memcpy(&id, from, sizeof(id));
    return static_cast<int64_t>(id);
  };
  switch (ids_.dtype) {
    case DType::U8:
      return read(uint8_t{});
    case DType::U32:
      return read(uint32_t{});
    case DType::I16:
      return read(int16_t{});
    case DType::I32:
      return read(int32_t{});
    default:
      return read(int64_t{});
  }
}

void Ids::report() const {
  int64_t rest = bad_.load(std::memory_order_relaxed);
  int64_t offset = 0;
  const Layout& layout = *ids_.layout;
  Shape place = layout.shape();
  for (int axis = place.rank(); axis-- > 0;) {
    place.set(axis, rest % layout.dim(axis));
    rest /= layout.dim(axis);
    offset += place[axis] * layout.stride(axis);
  }
  fail(ErrorKind::IndexOutOfRange, operation_, "id ", value(offset), " at ", place, " of the ids ",
       layout.shape(), " ", dtype_name(ids_.dtype), " is out of range for axis ", axis_, " of ", shape_,
       " (size ", size_, ")");
}

}  // namespace beeswax::cpu
