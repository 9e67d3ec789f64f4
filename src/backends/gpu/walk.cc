// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/walk.h"

#include <cstdlib>

namespace beeswax::gpu {

int64_t most_elements_asked() {
  const char* text = std::getenv("BEESWAX_GPU_LAUNCH_ELEMENTS");
  const int64_t asked = text == nullptr ? kMostElements : std::strtoll(text, nullptr, 10);
  return std::clamp(asked / kLaunchStep * kLaunchStep, kLaunchStep, kMostElements);
}

Turn turn_of(const Nest<2>& nest) {
  Turn turn;
  for (int axis = 0; axis < nest.rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (nest.strides[0][i] == 1) turn.columns = axis;
    if (nest.strides[1][i] == 1) turn.rows = axis;
  }
  constexpr int64_t kWorth = 8;  // shorter rows fill tiles too badly
  if (turn.rows < 0 || turn.columns < 0 || turn.rows == turn.columns ||
      nest.dims[static_cast<size_t>(turn.rows)] < kWorth ||
      nest.dims[static_cast<size_t>(turn.columns)] < kWorth)
    return {};
  return turn;
}

}  // namespace beeswax::gpu
