// SPDX-License-Identifier: Apache-2.0
// cast_<from>_<to>: one rounding, saturating (core/math/convert.h). A file names its source dtypes.
#pragma once

#include "core/math/convert.h"
#include "kernels/map.h"

namespace beeswax::gpu {

template <class From, class To>
BW_DEVICE To cast_value(uint32_t, From x) {
  if constexpr (m::Narrow<From> && m::Narrow<To>) {
    return narrow<To>(widen(x));
  } else if constexpr (m::Narrow<From>) {
    return m::convert<To>(widen(x));
  } else if constexpr (m::Narrow<To>) {
    return narrow<To>(m::narrow_source<To>(x));
  } else {
    return m::convert<To>(x);
  }
}
template <class From, class To>
BW_DEVICE void cast_dense(const CastArgs& args) {
  map_dense(static_cast<To*>(args.y), args.count, cast_value<From, To>,
            Memory<From>{static_cast<const From*>(args.x)});
}
}  // namespace beeswax::gpu

#define BW_CAST(From, from, To, to)                                                      \
  BW_KERNEL(beeswax::gpu::kMapThreads) cast_##from##_##to(beeswax::gpu::CastArgs args) { \
    beeswax::gpu::cast_dense<From, To>(args);                                            \
  }
