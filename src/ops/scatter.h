// SPDX-License-Identifier: Apache-2.0
// Checks that the scattering operations and their in-place forms share.
#pragma once

#include "ops/common.h"

namespace beeswax::ops {

/// ShapeMismatch unless `part` (called `name` in the message) has the rank of `whole` and no axis but `axis`
/// is longer than there.
void check_fits(std::string_view operation, std::string_view name, const Tensor& part, const Tensor& whole,
                int axis);

/// All that a scatter asks for; returns the axis counted from 0.
int check_scatter(std::string_view operation, ScatterMode mode, const Tensor& to, const Tensor& ids,
                  const Tensor& source, int axis);

/// Whether `source` can replace the slice of `to` that begins at `start` along `axis`.
void check_slice(std::string_view operation, const Tensor& to, const Tensor& source, int axis, int64_t start);

/// Copies `source` over the slice of `to` that begins at `start`; checked before.
void write_slice(const Tensor& to, const Tensor& source, int axis, int64_t start);

}  // namespace beeswax::ops
