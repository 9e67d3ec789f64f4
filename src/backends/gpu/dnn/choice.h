// SPDX-License-Identifier: Apache-2.0
// Who does a convolution: our kernels, or the vendor's library. BEESWAX_DNN says (own, vendor, auto); auto
// asks a measured table.
#pragma once

#include <span>
#include <string_view>

#include "backends/gpu/dnn/library.h"
#include "backends/gpu/vendor_mode.h"
#include "beeswax/export.h"

namespace beeswax::gpu::dnn {

/// Shapes for which the same kernels tend to win.
enum class ShapeClass : uint8_t {
  Pointwise,    ///< 1 x 1 windows
  Depthwise,    ///< a group a channel
  Grouped,      ///< other groups
  Line,         ///< one spatial axis
  FewChannels,  ///< fewer than 8 input channels
  Window,       ///< the rest
  Transposed,
};
ShapeClass class_of(const Conv& conv);

/// A row of conv_choice.def.
struct ChoiceRow {
  std::string_view arch;
  DType dtype;
  ShapeClass shape;
};
struct Choice {
  VendorMode mode = VendorMode::Auto;
  std::span<const ChoiceRow> table;
};
/// The process's: BEESWAX_DNN, read at the first call, and conv_choice.def.
Choice choice();
/// Instead of the variable's, for benchmarks that compare.
BW_API void set_mode(VendorMode mode);
/// Whether a table says so, and no promise is broken: over padding, which a transposed convolution always
/// has, an infinite weight gives NaN by our rule, and libraries leave such products out.
bool vendor_wins(std::span<const ChoiceRow> table, std::string_view arch, const Conv& conv);

}  // namespace beeswax::gpu::dnn
