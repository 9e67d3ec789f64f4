// SPDX-License-Identifier: Apache-2.0
// The operations that bw_gpu_bench times: the same names, shapes and dtypes as bench/peers/torch_gpu.py.
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

std::vector<GpuCase> gpu_cases();

}  // namespace beeswax::bench
