// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/indexing.h"

#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class T>
BW_FN constexpr T largest() {
  return static_cast<T>(-1) > 0 ? static_cast<T>(-1)
                                : static_cast<T>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
}

// A legal id is below the size as an unsigned number; that refuses negative ones too.
template <class T>
BW_FN bool legal(T id, int64_t size) {
  return static_cast<uint64_t>(static_cast<int64_t>(id)) < static_cast<uint64_t>(size);
}

// 1 for an id that is neither legal nor the one that means "skip"; without branches, so that loops become
// vectors.
template <class T>
BW_FN int64_t wrong(T id, int64_t size) {
  return int64_t{legal(id, size) ? 0 : 1} & int64_t{id == largest<T>() ? 0 : 1};
}

template <class T>
bool load(int64_t* out, const void* ids, int64_t stride, int64_t count, int64_t size) {
  const T* x = static_cast<const T*>(ids);
  int64_t bad = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = legal(x[i], size) ? static_cast<int64_t>(x[i]) : -1;
      bad |= wrong(x[i], size);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const T id = x[i * stride];
      out[i] = legal(id, size) ? static_cast<int64_t>(id) : -1;
      bad |= wrong(id, size);
    }
  }
  return bad == 0;
}

template <class T>
bool check(const void* ids, int64_t stride, int64_t count, int64_t size) {
  const T* x = static_cast<const T*>(ids);
  int64_t bad = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) bad |= wrong(x[i], size);
  } else {
    for (int64_t i = 0; i < count; ++i) bad |= wrong(x[i * stride], size);
  }
  return bad == 0;
}

// Gather and scatter instructions are slower here than plain loads and stores, on many processors by far; an
// empty asm keeps the compiler from using them.
#define BW_ONE_BY_ONE asm volatile("")

template <class T>
void take(void* out, const void* from, int64_t step, int64_t axis_stride, const int64_t* ids, int64_t count) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  if (step == 0 && axis_stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      y[i] = ids[i] < 0 ? T{0} : x[ids[i]];
      BW_ONE_BY_ONE;
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    y[i] = ids[i] < 0 ? T{0} : x[i * step + ids[i] * axis_stride];
    BW_ONE_BY_ONE;
  }
}

template <class Id, class T>
bool gather(const GatherRun& run) {
  T* y = static_cast<T*>(run.out);
  const T* from = static_cast<const T*>(run.from);
  const Id* ids = static_cast<const Id*>(run.ids);
  const int64_t step = run.step, axis_stride = run.axis_stride, id_stride = run.id_stride, size = run.size;
  bool good = true;
  const auto one = [&](int64_t i, Id id, int64_t by, int64_t along) __attribute__((always_inline)) {
    if (legal(id, size)) {
      y[i] = from[i * by + static_cast<int64_t>(id) * along];
    } else {
      y[i] = T{0};
      if (id != largest<Id>()) good = false;
    }
    BW_ONE_BY_ONE;
  };
  if (run.far) {
    constexpr int64_t kAhead = 64;
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t later = i + kAhead;
      if (later < run.count && legal(ids[later * id_stride], size))
        __builtin_prefetch(from +
                           (later * step + static_cast<int64_t>(ids[later * id_stride]) * axis_stride));
      one(i, ids[i * id_stride], step, axis_stride);
    }
  } else if (step == 0 && axis_stride == 1 && id_stride == 1) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < run.count; ++i) one(i, ids[i], 0, 1);
  } else {
    for (int64_t i = 0; i < run.count; ++i) one(i, ids[i * id_stride], step, axis_stride);
  }
  return good;
}

template <class T>
void put(void* out, int64_t step, int64_t axis_stride, const int64_t* ids, const void* from,
         int64_t from_stride, int64_t count) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] >= 0) y[i * step + ids[i] * axis_stride] = x[i * from_stride];
    BW_ONE_BY_ONE;
  }
}

}  // namespace

const IndexingKernels& indexing_kernels() {
  static constexpr IndexingKernels kTable = {
      {load<uint8_t>, load<uint32_t>, load<int16_t>, load<int32_t>, load<int64_t>},
      {check<uint8_t>, check<uint32_t>, check<int16_t>, check<int32_t>, check<int64_t>},
      {take<uint8_t>, take<uint16_t>, take<uint32_t>, take<uint64_t>},
      {
#define BW_GATHER(Id) {gather<Id, uint8_t>, gather<Id, uint16_t>, gather<Id, uint32_t>, gather<Id, uint64_t>}
          BW_GATHER(uint8_t),
          BW_GATHER(uint32_t),
          BW_GATHER(int16_t),
          BW_GATHER(int32_t),
          BW_GATHER(int64_t),
#undef BW_GATHER
      },
      {put<uint8_t>, put<uint16_t>, put<uint32_t>, put<uint64_t>},
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
