// SPDX-License-Identifier: Apache-2.0
// A program outside the tree, as README.md shows one.
#include <iostream>

#include "beeswax/tensor.h"

int main() {
  using namespace beeswax;
  const Tensor x = Tensor::of({{1.0f, 2.0f}, {3.0f, 4.0f}});
  std::cout << x.matmul(x.t()) << "\n" << x.i(all, -1) << "\n";
}
