// SPDX-License-Identifier: Apache-2.0
// The operations that bw_gpu_bench and `beeswax bench ops` time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::bench {

struct GpuCase {
  std::string name;
  double bytes;  ///< that must be read and written
  double flops;  ///< of products; 0 where the memory is what counts
  std::function<std::function<Tensor()>(const Device&)> make;  ///< allocates the inputs, gives the body
};

/// Large: the sizes of bench/peers/torch_gpu.py. Small: the same operations on tensors that the software GPU
/// runs in a moment.
enum class Sizes { Large, Small };
std::vector<GpuCase> gpu_cases(Sizes sizes = Sizes::Large);

}  // namespace beeswax::bench
