// SPDX-License-Identifier: Apache-2.0
// Elements go to a device and come back: every size around the buffers in between, sources that change at
// once, and many threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "beeswax/tensor.h"

namespace beeswax {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::vector<uint8_t> bytes_of(int64_t count, uint32_t seed) {
  std::vector<uint8_t> out(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : out) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return out;
}

Tensor moved(const std::vector<uint8_t>& bytes) {
  return Tensor::from_vec(bytes, {static_cast<int64_t>(bytes.size())}, Device::default_device());
}

TEST(Transfer, EverySizeArrives) {
  uint32_t seed = 0;
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{63}, 64 * int64_t{1024}, 64 * int64_t{1024} + 1,
                             kMiB + 1, 4 * kMiB - 1, 4 * kMiB, 4 * kMiB + 1, 16 * kMiB, 21 * kMiB + 5}) {
    const std::vector<uint8_t> bytes = bytes_of(size, ++seed);
    const Tensor there = moved(bytes);
    EXPECT_TRUE(there.to_vec<uint8_t>() == bytes) << size;
    if (size < 2) continue;
    const std::vector<uint8_t> inner(bytes.begin() + 1, bytes.end());
    EXPECT_TRUE(there.narrow(0, 1, size - 1).to_vec<uint8_t>() == inner) << size;
  }
}

TEST(Transfer, ASourceMayChangeAtOnce) {
  const Tensor x = Tensor::ones({128, 128}, DType::F32, Device::default_device());
  std::vector<Tensor> there;
  std::vector<uint8_t> source(static_cast<size_t>(kMiB));
  for (uint32_t i = 0; i < 12; ++i) {
    (void)x.matmul(x);  // work that the copy waits for
    std::fill(source.begin(), source.end(), static_cast<uint8_t>(i));
    there.push_back(moved(source));
  }
  std::fill(source.begin(), source.end(), uint8_t{255});
  for (size_t i = 0; i < there.size(); ++i) {
    const std::vector<uint8_t> back = there[i].to_vec<uint8_t>();
    EXPECT_TRUE(std::all_of(back.begin(), back.end(), [i](uint8_t byte) { return byte == i; })) << i;
  }
}

TEST(Transfer, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (uint32_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 4; ++i) {
        const std::vector<uint8_t> bytes = bytes_of(5 * kMiB + 100 * t + i, 10 * t + i);
        if (moved(bytes).to_vec<uint8_t>() != bytes) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace beeswax
