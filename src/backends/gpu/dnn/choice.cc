// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/dnn/choice.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "core/fail.h"

namespace beeswax::gpu::dnn {
namespace {
constexpr int kUnread = -1;
std::atomic<int> chosen{kUnread};
}  // namespace

Mode mode_of(const char* text) {
  const std::string_view name = text == nullptr ? "" : text;
  if (name.empty() || name == "auto") return Mode::Auto;
  if (name == "own") return Mode::Own;
  if (name == "vendor") return Mode::Vendor;
  fail(ErrorKind::InvalidArgument, "conv", "BEESWAX_DNN is '", name, "'; accepted: own, vendor, auto");
}

Choice choice() {
  static const std::vector<ChoiceRow> rows = {
#define BW_VENDOR_CONV(arch, DType_, Shape) {arch, DType::DType_, ShapeClass::Shape},
#include "backends/gpu/dnn/conv_choice.def"
  };
  int mode = chosen.load(std::memory_order_relaxed);
  if (mode == kUnread) {
    mode = static_cast<int>(mode_of(std::getenv("BEESWAX_DNN")));
    int unread = kUnread;
    if (!chosen.compare_exchange_strong(unread, mode)) mode = unread;
  }
  return {static_cast<Mode>(mode), rows};
}

void set_mode(Mode mode) { chosen.store(static_cast<int>(mode)); }

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
  return std::ranges::any_of(table, [&, shape = class_of(conv)](const ChoiceRow& row) {
    return row.arch == arch && row.dtype == conv.dtype && row.shape == shape;
  });
}

}  // namespace beeswax::gpu::dnn
