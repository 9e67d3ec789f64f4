// SPDX-License-Identifier: Apache-2.0
// Outputs that lie in planes.
#pragma once

#include "core/math/convert.h"
#include "kernels/elements.h"
#include "kernels/image_args.h"

namespace beeswax::gpu {

struct PlanePlace {
  uint32_t row, column;
  int64_t plane;  // offset of its plane in x
};
/// Where plane number `plane` of all images lies.
BW_DEVICE int64_t plane_offset(const PlaneOutputs& outputs, const Planes& from, uint32_t plane) {
  const uint32_t image = divide(plane, outputs.channels);
  return image * from.image + (plane - image * outputs.channels.divisor) * from.channel;
}
BW_DEVICE PlanePlace plane_place(const PlaneOutputs& outputs, const Planes& from, uint32_t index) {
  const uint32_t line = divide(index, outputs.columns);
  const uint32_t plane = divide(line, outputs.rows);
  PlanePlace at;
  at.column = index - line * outputs.columns.divisor;
  at.row = line - plane * outputs.rows.divisor;
  at.plane = plane_offset(outputs, from, plane);
  return at;
}

}  // namespace beeswax::gpu
