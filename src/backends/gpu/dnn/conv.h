// SPDX-License-Identifier: Apache-2.0
// Convolutions through a vendor's library, where the choice falls on it and the library takes them.
#pragma once

#include "backends/backend.h"
#include "backends/gpu/dnn/choice.h"
#include "backends/gpu/gpu.h"

namespace beeswax::gpu::dnn {

/// Does a convolution through the vendor's library and tells whether; else nothing has happened and our
/// kernels are to do it. In the mode Vendor throws Device where there is no library or it fails.
bool conv(const Choice& choice, Gpu& gpu, Backend& backend, const ConvShape& shape, const Operand& x,
          const Operand& kernel, const Target& out, bool transposed);

/// What the library of a device did so far.
struct Statistics {
  int64_t runs = 0;   ///< convolutions that it did
  int64_t plans = 0;  ///< ways that it was asked for
};
Statistics statistics(const Gpu& gpu);

}  // namespace beeswax::gpu::dnn
