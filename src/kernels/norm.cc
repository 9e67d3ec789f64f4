// SPDX-License-Identifier: Apache-2.0
// norm_<dtype>: RMS and layer norms of rows in registers, norm_short_<dtype> and norm_wide_<dtype> of shorter
// and longer ones, norm_loose_... of those that packs do not fit (RowKind); norm_apply_<dtype> for
// rows beyond (has_rows).
#include "kernels/norm_rows.h"

namespace beeswax::gpu {

template <class S>
BW_DEVICE void norm_apply(const RowsApplyArgs& args) {
  using A = Compute<S>;
  apply_rows<S>(args, [&](uint32_t row) __attribute__((always_inline)) {
    const A scale = norm_scale(static_cast<const A*>(args.second)[row], args.n, args.eps);
    const A mean = args.first != nullptr ? static_cast<const A*>(args.first)[row] : A(0);
    return [&args, scale, mean](A x, int64_t i) __attribute__((always_inline)) {
      if (args.first != nullptr) x -= mean;
      const A y = x * scale * widen(static_cast<const S*>(args.weight)[i]);
      return args.bias != nullptr ? y + widen(static_cast<const S*>(args.bias)[i]) : y;
    };
  });
}

/// Blocks that a multiprocessor has the registers for; two wide ones of bf16 would spill a few.
template <class Rows>
constexpr uint32_t norm_blocks() {
  using S = typename Rows::Element;
  if (Rows::kWide && !Rows::kLoose) return __is_same(S, f16) ? 2 : 1;
  const uint32_t blocks = Rows::kTurned ? 4 : Rows::kLoose ? 5 : blocks_side_by_side(sizeof(S));
  return blocks * kRowThreads / Rows::kBlock;
}
#define BW_NORM_IN(kind, infix, S, name)                                                  \
  using Norm##kind##_##name = RegisterRow<S, RowKind::kind>;                              \
  BW_KERNEL_SIDE_BY_SIDE(Norm##kind##_##name::kBlock, norm_blocks<Norm##kind##_##name>()) \
  norm_##infix##name(RowsArgs args) {                                                     \
    BW_SHARED static Norm##kind##_##name::A partials[2][Norm##kind##_##name::kPartials];  \
    const Norm##kind##_##name rows(args);                                                 \
    norm_rows(rows, args, partials);                                                      \
  }
#define BW_NORM_APPLY(S, name) \
  BW_KERNEL(kMapThreads) norm_apply_##name(RowsApplyArgs args) { norm_apply<S>(args); }
#define BW_NORM(S, name)             \
  BW_NORM_IN(Short, short_, S, name) \
  BW_NORM_IN(Usual, , S, name)       \
  BW_NORM_APPLY(S, name)
#define BW_NORM_MORE(S, name)                   \
  BW_NORM(S, name)                              \
  BW_NORM_IN(Wide, wide_, S, name)              \
  BW_NORM_IN(LooseShort, loose_short_, S, name) \
  BW_NORM_IN(Loose, loose_, S, name)            \
  BW_NORM_IN(LooseWide, loose_wide_, S, name)
BW_NORM_MORE(float, f32)
BW_NORM(double, f64)
BW_NORM_MORE(f16, f16)
BW_NORM_MORE(bf16, bf16)
BW_NORM(f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
