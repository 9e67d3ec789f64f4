// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/walk.h"

#include <cstdlib>

namespace beeswax::gpu {

int64_t most_elements_asked() {
  const char* text = std::getenv("BEESWAX_GPU_LAUNCH_ELEMENTS");
  const int64_t asked = text == nullptr ? kMostElements : std::strtoll(text, nullptr, 10);
  return std::clamp(asked / kLaunchStep * kLaunchStep, kLaunchStep, kMostElements);
}

}  // namespace beeswax::gpu
