// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/dnn/choice.h"

#include <algorithm>
#include <vector>

namespace beeswax::gpu::dnn {
namespace {
constinit VendorVariable variable("BEESWAX_DNN", "conv");
}  // namespace

Choice choice() {
  static const std::vector<ChoiceRow> rows = {
#define BW_VENDOR_CONV(arch, DType_, Shape) {arch, DType::DType_, ShapeClass::Shape},
#include "backends/gpu/dnn/conv_choice.def"
  };
  return {variable.mode(), rows};
}

void set_mode(VendorMode mode) { variable.set(mode); }

ShapeClass class_of(const Conv& conv) {
  if (conv.transposed) return ShapeClass::Transposed;
  if (conv.groups > 1)
    return conv.groups == conv.c_in && conv.groups == conv.c_out ? ShapeClass::Depthwise
                                                                 : ShapeClass::Grouped;
  if (conv.h_k == 1 && conv.w_k == 1) return ShapeClass::Pointwise;
  if (conv.h_in == 1 && conv.h_k == 1) return ShapeClass::Line;
  return conv.c_in < 8 ? ShapeClass::FewChannels : ShapeClass::Window;
}

bool vendor_wins(std::span<const ChoiceRow> table, std::string_view arch, const Conv& conv) {
  if (conv.transposed || conv.h_padding != 0 || conv.w_padding != 0) return false;
  return std::ranges::any_of(table, [&, shape = class_of(conv)](const ChoiceRow& row) {
    return row.arch == arch && row.dtype == conv.dtype && row.shape == shape;
  });
}

}  // namespace beeswax::gpu::dnn
