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

/// Results that one launch makes: whole images, whole channels of one, or whole rows of one channel.
struct PlanePart {
  int64_t image, channel, row;     // the first
  int64_t images, channels, rows;  // how many
};
/// Calls launch(part, results, where the first of them lies) for pieces of [batch, channels, h, w] results
/// that one launch can take.
template <class Launch>
void for_planes(std::string_view operation, int64_t batch, int64_t channels, int64_t h, int64_t w,
                Launch&& launch) {
  const int64_t most = most_elements();
  if (w > most)
    fail(ErrorKind::TooLarge, operation, "rows of ", w, " results have no GPU kernel; the most is ", most);
  const auto call = [&](const PlanePart& part) {
    launch(part, part.images * part.channels * part.rows * w,
           ((part.image * channels + part.channel) * h + part.row) * w);
  };
  const auto steps = [&](int64_t count, int64_t each, const auto& step) {
    const int64_t several = most / each;
    for (int64_t first = 0; first < count; first += several) step(first, std::min(several, count - first));
  };
  if (channels * h * w <= most)
    return steps(batch, channels * h * w,
                 [&](int64_t image, int64_t n) { call({image, 0, 0, n, channels, h}); });
  for (int64_t image = 0; image < batch; ++image) {
    if (h * w <= most) {
      steps(channels, h * w, [&](int64_t channel, int64_t n) { call({image, channel, 0, 1, n, h}); });
      continue;
    }
    for (int64_t channel = 0; channel < channels; ++channel)
      steps(h, w, [&](int64_t row, int64_t n) { call({image, channel, row, 1, 1, n}); });
  }
}

}  // namespace beeswax::gpu
