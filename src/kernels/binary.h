// SPDX-License-Identifier: Apache-2.0
// Kernels of binary.def: binary_<method>_<dtype>, with _strided and _turned, and compare_<method>_<dtype>,
// with _strided.
#pragma once

#include "core/math/math.h"
#include "kernels/turned.h"

namespace beeswax::gpu {

enum class Guard { None, NonZero };

#define BW_BINARY(Name, method, dtypes, expr, guard, ...) \
  struct Name##Row {                                      \
    static constexpr Guard kGuard = Guard::guard;         \
    template <class T>                                    \
    BW_DEVICE_MEMBER static T apply(T x, T y) {           \
      return static_cast<T>(expr);                        \
    }                                                     \
  };
#define BW_COMPARE(Name, method, expr, ...)        \
  struct Name##Row {                               \
    static constexpr Guard kGuard = Guard::None;   \
    template <class T>                             \
    BW_DEVICE_MEMBER static bool apply(T x, T y) { \
      return expr;                                 \
    }                                              \
  };
#include "tables/binary.def"

/// Functions that go by single elements where operands are strided, as in_packs of
/// src/backends/gpu/elementwise.cc tells: long ones.
template <class Row, class S>
constexpr bool kBySingles = __is_same(Row, PowRow) || (Row::kGuard == Guard::NonZero && m::Integer<S>);

/// Y is S, or uint8_t for comparisons.
template <class Y, class S, class Row>
struct BinaryValue {
  const BinaryArgs& args;
  static constexpr bool kNarrows = __is_same(Y, S) && m::Narrow<S>;
  static constexpr bool kByPairs = kNarrows && kPairsWiden<S>;

  BW_DEVICE_MEMBER Y operator()([[maybe_unused]] int64_t i, S a, S b) const {
    if constexpr (Row::kGuard == Guard::NonZero && m::Integer<S>) {
      if (b == 0) {
        report(args.report, kErrorDivisionByZero, 0, args.first + i, 0);
        return Y(0);
      }
    }
    if constexpr (kNarrows) {
      return narrow<S>(wide(widen(a), widen(b)));
    } else {
      return static_cast<Y>(Row::apply(widen(a), widen(b)));
    }
  }
  BW_DEVICE_MEMBER static Compute<S> wide(Compute<S> a, Compute<S> b) { return Row::apply(a, b); }
};
template <class Y, class S, class Row>
BW_DEVICE void binary_dense(const BinaryArgs& args) {
  map_dense(static_cast<Y*>(args.y), args.count, BinaryValue<Y, S, Row>{args},
            MemoryOrValue<S>{static_cast<const S*>(args.a), from_bytes<S>(args.a_value)},
            MemoryOrValue<S>{static_cast<const S*>(args.b), from_bytes<S>(args.b_value)});
}
template <class Y, class S, class Row>
BW_DEVICE void binary_strided(const BinaryStridedArgs& args) {
  const BinaryArgs& dense = args.dense;
  Y* y = static_cast<Y*>(dense.y);
  const BinaryValue<Y, S, Row> value{dense};
  const MemoryOrValue<S> a{static_cast<const S*>(dense.a), from_bytes<S>(dense.a_value)};
  const MemoryOrValue<S> b{static_cast<const S*>(dense.b), from_bytes<S>(dense.b_value)};
  // Broadcast rows and columns are common in sums and products.
  if constexpr (!kBySingles<Row, S>) {
    if (args.walk.packed != 0)
      return map_packs<packed_elements(sizeof(S))>(y, dense.count, args.walk, value, a, b);
  }
  map_strided(y, dense.count, args.walk, value, a, b);
}
template <class S, class Row>
BW_DEVICE void binary_turned(const BinaryTurnedArgs& args, TransposeTile<S>& tile) {
  const BinaryValue<S, S, Row> value{args.dense};
  const bool second = args.second != 0;
  const auto turned = static_cast<const S*>(second ? args.dense.b : args.dense.a);
  const auto other = static_cast<const S*>(second ? args.dense.a : args.dense.b);
  map_turned<kBySingles<Row, S>>(
      args.turned, static_cast<S*>(args.dense.y), tile,
      [&](int64_t i, S x, S z)
          __attribute__((always_inline)) { return value(i, second ? z : x, second ? x : z); },
      turned, MemoryOrValue<S>{other, from_bytes<S>(second ? args.dense.a_value : args.dense.b_value)});
}

}  // namespace beeswax::gpu

#define BW_DENSE_KERNEL(group, Name, method, Y, S, name)                                          \
  BW_KERNEL(beeswax::gpu::kMapThreads) group##_##method##_##name(beeswax::gpu::BinaryArgs args) { \
    beeswax::gpu::binary_dense<Y, S, beeswax::gpu::Name##Row>(args);                              \
  }
#define BW_STRIDED_KERNEL(group, Name, method, Y, S, name)                    \
  BW_DENSE_KERNEL(group, Name, method, Y, S, name)                            \
  BW_KERNEL(beeswax::gpu::kMapThreads)                                        \
  group##_##method##_##name##_strided(beeswax::gpu::BinaryStridedArgs args) { \
    beeswax::gpu::binary_strided<Y, S, beeswax::gpu::Name##Row>(args);        \
  }
#define BW_BINARY_KERNEL(group, Name, method, Y, S, name)                   \
  BW_STRIDED_KERNEL(group, Name, method, Y, S, name)                        \
  BW_KERNEL(beeswax::gpu::kTileThreads)                                     \
  group##_##method##_##name##_turned(beeswax::gpu::BinaryTurnedArgs args) { \
    BW_SHARED static beeswax::gpu::TransposeTile<S> tile;                   \
    beeswax::gpu::binary_turned<S, beeswax::gpu::Name##Row>(args, tile);    \
  }
