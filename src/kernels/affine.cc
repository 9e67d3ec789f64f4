// SPDX-License-Identifier: Apache-2.0
// affine_<dtype>: x * mul + add in the compute type, each operation rounded.
#include "kernels/map.h"

namespace beeswax::gpu {

template <class S>
BW_DEVICE auto affine_value(const AffineArgs& args) {
  using T = Compute<S>;
  const T mul = from_bytes<T>(args.mul);
  const T add = from_bytes<T>(args.add);
  return [mul, add](uint32_t, S x)
             __attribute__((always_inline)) { return narrow<S>(static_cast<T>(widen(x) * mul + add)); };
}

#define BW_DTYPE(Name, name, ctype, ...)                                                                  \
  BW_KERNEL(kMapThreads) affine_##name(AffineArgs args) {                                                 \
    map_dense(static_cast<ctype*>(args.y), args.count, affine_value<ctype>(args),                         \
              Memory<ctype>{static_cast<const ctype*>(args.x)});                                          \
  }                                                                                                       \
  BW_KERNEL(kMapThreads) affine_##name##_strided(AffineStridedArgs args) {                                \
    map_strided(static_cast<ctype*>(args.dense.y), args.dense.count, args.walk,                           \
                affine_value<ctype>(args.dense), Memory<ctype>{static_cast<const ctype*>(args.dense.x)}); \
  }
#include "tables/dtypes.def"

}  // namespace beeswax::gpu
