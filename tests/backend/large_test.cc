// SPDX-License-Identifier: Apache-2.0
// Tensors past 2^31 elements: counts, offsets and ids must not pass through 32 bits. Skipped where memory is
// short, and under sanitizers, which would need several times as much.
// CPU only: the software GPU would take hours.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "core/os/memory.h"
#include "core/small_pool.h"

namespace beeswax {
namespace {

constexpr int64_t kCount = (int64_t{1} << 31) + 3;

class LargeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kPoolSmallObjects) GTEST_SKIP() << "under a sanitizer";
    if (os::physical_memory_bytes() < size_t{14} << 30) GTEST_SKIP() << "needs 14 GiB of memory";
    x_ = Tensor::full({kCount}, 1, DType::U8);
    x_.narrow(0, kCount - 1, 1).const_set(7);
    x_.narrow(0, kCount - 2, 1).const_set(5);
  }
  Tensor x_;
};

TEST_F(LargeTest, Elementwise) {
  EXPECT_EQ(x_.neg().get(kCount - 1).to_scalar<uint8_t>(), 249);
  EXPECT_EQ((x_ + x_).get(kCount - 2).to_scalar<uint8_t>(), 10);
  EXPECT_EQ(x_.eq(7).get(kCount - 1).to_scalar<uint8_t>(), 1);
  const Tensor spread = x_.reshape({kCount, 1}).broadcast_as({kCount, 1});
  EXPECT_EQ(spread.add(1).get(kCount - 1).get(0).to_scalar<uint8_t>(), 8);
}

TEST_F(LargeTest, CopiesAndIds) {
  const Tensor pairs = x_.narrow(0, 1, kCount - 1).reshape({2, (kCount - 1) / 2});
  EXPECT_EQ(pairs.t().contiguous().get((kCount - 1) / 2 - 1).get(1).to_scalar<uint8_t>(), 7);
  const Tensor ids = Tensor::from_vec(std::vector<uint32_t>{static_cast<uint32_t>(kCount - 2), 0}, {2});
  EXPECT_EQ(x_.index_select(ids, 0).to_vec<uint8_t>(), (std::vector<uint8_t>{5, 1}));
}

TEST_F(LargeTest, Reductions) {
  EXPECT_EQ(x_.sum_all().to_scalar<uint8_t>(), static_cast<uint8_t>(kCount - 2 + 12));
  EXPECT_EQ(x_.max_all().to_scalar<uint8_t>(), 7);
  EXPECT_EQ(x_.argmax_all().to_scalar<uint32_t>(), static_cast<uint32_t>(kCount - 1));
}

}  // namespace
}  // namespace beeswax
