// SPDX-License-Identifier: Apache-2.0
// where_<condition bytes>_<bytes>: elements move as bits.
#include "kernels/map.h"

namespace beeswax::gpu {

template <class C, class S>
BW_DEVICE S select(uint32_t, C condition, S on_true, S on_false) {
  return condition != 0 ? on_true : on_false;
}

#define BW_WHERE(C, condition_bytes, S, bytes)                                                               \
  BW_KERNEL(kMapThreads) where_##condition_bytes##_##bytes(WhereArgs args) {                                 \
    map_dense(                                                                                               \
        static_cast<S*>(args.y), args.count, select<C, S>, Memory<C>{static_cast<const C*>(args.condition)}, \
        Memory<S>{static_cast<const S*>(args.on_true)}, Memory<S>{static_cast<const S*>(args.on_false)});    \
  }                                                                                                          \
  BW_KERNEL(kMapThreads) where_##condition_bytes##_##bytes##_strided(WhereStridedArgs args) {                \
    const WhereArgs& dense = args.dense;                                                                     \
    map_strided(static_cast<S*>(dense.y), dense.count, args.walk, select<C, S>,                              \
                Memory<C>{static_cast<const C*>(dense.condition)},                                           \
                Memory<S>{static_cast<const S*>(dense.on_true)},                                             \
                Memory<S>{static_cast<const S*>(dense.on_false)});                                           \
  }
#define BW_WHERE_ALL(C, condition_bytes)    \
  BW_WHERE(C, condition_bytes, uint8_t, 1)  \
  BW_WHERE(C, condition_bytes, uint16_t, 2) \
  BW_WHERE(C, condition_bytes, uint32_t, 4) \
  BW_WHERE(C, condition_bytes, uint64_t, 8)
BW_WHERE_ALL(uint8_t, 1)
BW_WHERE_ALL(uint16_t, 2)
BW_WHERE_ALL(uint32_t, 4)
BW_WHERE_ALL(uint64_t, 8)

}  // namespace beeswax::gpu
