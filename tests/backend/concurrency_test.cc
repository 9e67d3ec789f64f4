// SPDX-License-Identifier: Apache-2.0
// Many threads read one tensor and compute at once: each gets what a lone thread gets.
#include <gtest/gtest.h>

#include <thread>

#include "beeswax/tensor.h"

namespace beeswax {
namespace {

std::vector<float> work(const Tensor& x) {
  const Tensor y = (x.exp() + x.t().contiguous()).narrow(0, 3, 50) * 0.5;
  return y.softmax(-1).matmul(x.narrow(1, 0, 7)).sum(0).to_vec<float>();
}

TEST(Concurrency, ReadersShareTensors) {
  const Tensor x = Tensor::arange(0, 120 * 120, DType::F32).reshape({120, 120}) / 14400;
  const std::vector<float> expected = work(x);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i)
        if (work(x) != expected) ++wrong[t];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace beeswax
