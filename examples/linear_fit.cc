// SPDX-License-Identifier: Apache-2.0
// Fits y = X w by gradient descent, with the derivative written out: what a first program with tensors looks
// like. Prints the loss as it falls, then the weights found beside those the data was made with.
#include <cstdio>
#include <iostream>

#include "beeswax/error.h"
#include "beeswax/tensor.h"

int main() try {
  using namespace beeswax;
  const Device device = Device::cpu();
  device.set_seed(7);
  const Tensor truth = Tensor::from_vec(std::vector<float>{1.5f, -2.0f, 0.5f}, {3, 1}, device);
  const Tensor x = Tensor::randn({1000, 3}, DType::F32, device);
  const Tensor y = x.matmul(truth) + 0.01 * Tensor::randn({1000, 1}, DType::F32, device);

  Tensor w = truth.zeros_like();
  for (int step = 0; step <= 40; ++step) {
    const Tensor error = x.matmul(w) - y;
    if (step % 10 == 0) std::printf("step %2d  loss %.6f\n", step, error.sqr().mean_all().to_scalar<float>());
    w = w - 0.1 * (x.t().matmul(error) * 2 / 1000);
  }
  std::cout << "found " << w.flatten_all() << "\nmade with " << truth.flatten_all() << "\n";
  return 0;
} catch (const beeswax::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
