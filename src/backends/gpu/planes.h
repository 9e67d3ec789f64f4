// SPDX-License-Identifier: Apache-2.0
// What pooling and upsampling share: planes as kernels see them.
#pragma once

#include "backends/gpu/launch.h"
#include "kernels/image_args.h"

namespace beeswax::gpu {

/// x is [batch, channels, h, w].
inline Planes planes_of(const Layout& x) { return {x.stride(0), x.stride(1), x.stride(2), x.stride(3)}; }
inline PlaneOutputs plane_outputs(int64_t channels, int64_t h, int64_t w) {
  return {divisor_of(static_cast<uint32_t>(w)), divisor_of(static_cast<uint32_t>(h)),
          divisor_of(static_cast<uint32_t>(channels))};
}

/// Calls launch(first image, outputs) for pieces of a batch that one launch can take: `image` outputs each.
template <class Launch>
void for_images(std::string_view operation, int64_t batch, int64_t image, Launch&& launch) {
  if (image > kMostElements) fail(ErrorKind::TooLarge, operation, image, " results in one image");
  const int64_t most = kMostElements / image;
  for (int64_t first = 0; first < batch; first += most) launch(first, std::min(most, batch - first) * image);
}

}  // namespace beeswax::gpu
