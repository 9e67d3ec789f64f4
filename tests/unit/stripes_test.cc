// SPDX-License-Identifier: Apache-2.0
// Quantized weights that are kept a second time: when, how long, and that no result changes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/stripes.h"
#include "beeswax/qtensor.h"
#include "core/thread_pool.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

Tensor random_tensor(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(shape.elem_count()));
  for (float& value : values) value = normal(random);
  return Tensor::from_vec(values, shape);
}

bool equal_bits(const Tensor& a, const Tensor& b) { return a.to_bytes() == b.to_bytes(); }

class Stripes : public testing::Test {
 protected:
  void SetUp() override {
    if (height() == 0) GTEST_SKIP() << "no loops of this machine take stripes";
    threads_ = ThreadPool::global().threads();
    ThreadPool::global().set_threads(2);
    cpu::set_repack(cpu::Repack::On);
    before_ = bytes();
  }
  void TearDown() override {
    cpu::set_repack(cpu::repack_of_variable());
    if (threads_ > 0) ThreadPool::global().set_threads(threads_);
  }
  static size_t bytes() { return cpu::stripes_statistics().bytes; }
  size_t added() const { return bytes() - before_; }
  static int64_t height() { return cpu::quantized_dot_kernels().stripe_rows; }

 private:
  size_t before_ = 0;
  int threads_ = 0;
};

// Before, while and after they are made; whole stripes and rows behind them; one activation and three; every
// dtype.
TEST_F(Stripes, ChangeNoBits) {
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q8_0, QuantType::Q4_K, QuantType::Q6_K})
    for (const int64_t n : {height(), 2 * height() + 5, 5 * height()}) {
      const QTensor weight = QTensor::quantize(random_tensor({n, 768}, 1), type);
      const size_t without = bytes();
      for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        const Tensor one = random_tensor({768}, 2).to_dtype(dtype);
        const Tensor three = random_tensor({3, 768}, 3).to_dtype(dtype);
        const QTensor fresh = QTensor::from_bytes(weight.bytes(), weight.shape(), type);
        const Tensor of_one = fresh.forward(one), of_three = fresh.forward(three);
        for (int i = 0; i < cpu::kMakeAt; ++i) {
          ASSERT_TRUE(equal_bits(weight.forward(one), of_one)) << weight.describe() << " product " << i;
          ASSERT_TRUE(equal_bits(weight.forward(three), of_three)) << weight.describe() << " product " << i;
        }
      }
      EXPECT_GE(bytes() - without, static_cast<size_t>(n / height() * height()) * weight.storage_bytes() /
                                       static_cast<size_t>(n))
          << weight.describe();
    }
  EXPECT_EQ(added(), 0u) << "they go with their weights";
}

// Of what multiplies gates, which threads share.
TEST_F(Stripes, ChangeNoBitsOfFeedForwards) {
  const int64_t n = 2 * height() + 5, k = 9216;
  const QTensor gate = QTensor::quantize(random_tensor({k, 256}, 1), QuantType::Q3_K);
  const QTensor factor = QTensor::quantize(random_tensor({k, 256}, 2), QuantType::Q3_K);
  const Tensor x = random_tensor({256}, 3);
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q6_K}) {
    const QTensor down = QTensor::quantize(random_tensor({n, k}, 4), type);
    const QTensor fresh = QTensor::from_bytes(down.bytes(), down.shape(), type);
    const Tensor want = fresh.forward(gate.forward(x).swiglu(factor.forward(x)));
    const size_t without = bytes();
    for (int i = 0; i < cpu::kMakeAt + 2; ++i)
      ASSERT_TRUE(equal_bits(QTensor::feed_forward(Activation::Silu, gate, factor, down, x), want))
          << down.describe() << " product " << i;
    EXPECT_GT(bytes(), without);
  }
}

TEST_F(Stripes, AreMadeForWhatIsUsedAgainAndAgain) {
  const QTensor weight = QTensor::quantize(random_tensor({64, 256}, 1), QuantType::Q4_0);
  const Tensor one = random_tensor({1, 256}, 2), many = random_tensor({64, 256}, 3);
  for (int i = 0; i < 2 * cpu::kMakeAt; ++i) weight.forward(many);
  EXPECT_EQ(added(), 0u) << "many activations read panels";
  for (int i = 1; i < cpu::kMakeAt; ++i) weight.forward(one);
  EXPECT_EQ(added(), 0u);
  const double seconds = cpu::stripes_statistics().seconds;
  weight.forward(one);
  EXPECT_EQ(added(), weight.storage_bytes());
  EXPECT_GT(cpu::stripes_statistics().seconds, seconds);
  const std::vector<QTensor> others = {weight};  // the same storage
  for (int i = 0; i < 2 * cpu::kMakeAt; ++i) others[0].forward(one);
  EXPECT_EQ(added(), weight.storage_bytes());
}

TEST_F(Stripes, AreForFewThreadsWhereNothingElseIsSaid) {
  const Tensor one = random_tensor({1, 256}, 2);
  const auto are_made = [&](cpu::Repack repack) {
    cpu::set_repack(repack);
    const QTensor weight = QTensor::quantize(random_tensor({64, 256}, 1), QuantType::Q4_0);
    for (int i = 0; i < 2 * cpu::kMakeAt; ++i) weight.forward(one);
    return added() > 0;
  };
  EXPECT_EQ(are_made(cpu::Repack::Auto), cpu::repacks());
  EXPECT_TRUE(are_made(cpu::Repack::On));
  EXPECT_FALSE(are_made(cpu::Repack::Off));
  ThreadPool::global().set_threads(cpu::kMostStripeThreads + 1);
  if (ThreadPool::global().threads() <= cpu::kMostStripeThreads) GTEST_SKIP() << "threads do not start here";
  EXPECT_FALSE(are_made(cpu::Repack::Auto));
  EXPECT_TRUE(are_made(cpu::Repack::On));
}

// Threads meet the same weight while one of them makes its stripes.
TEST_F(Stripes, MayBeMadeWhileOthersRead) {
  const QTensor weight = QTensor::quantize(random_tensor({512, 1024}, 1), QuantType::Q4_K);
  const Tensor one = random_tensor({1, 1024}, 2);
  const Tensor expected = QTensor::from_bytes(weight.bytes(), weight.shape(), weight.type()).forward(one);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 3 * cpu::kMakeAt; ++i) count += equal_bits(weight.forward(one), expected) ? 0 : 1;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
  EXPECT_GE(added(), weight.storage_bytes());
}

TEST_F(Stripes, LeaveAsMuchMemoryAsAllOfThemTake) {
  EXPECT_TRUE(cpu::may_keep_stripes(100, 0, 200));
  EXPECT_FALSE(cpu::may_keep_stripes(100, 0, 199));
  EXPECT_TRUE(cpu::may_keep_stripes(100, 50, 250));
  EXPECT_FALSE(cpu::may_keep_stripes(100, 50, 249));
  EXPECT_FALSE(cpu::may_keep_stripes(100, 0, 0));
  EXPECT_FALSE(cpu::may_keep_stripes(SIZE_MAX, 0, SIZE_MAX));
}

TEST(StripesVariable, SaysOffOrOn) {
  const char* before = std::getenv("BEESWAX_CPU_REPACK");
  const std::string kept = before == nullptr ? "" : before;
  setenv("BEESWAX_CPU_REPACK", "", 1);
  EXPECT_EQ(cpu::repack_of_variable(), cpu::Repack::Auto);
  setenv("BEESWAX_CPU_REPACK", "off", 1);
  EXPECT_EQ(cpu::repack_of_variable(), cpu::Repack::Off);
  setenv("BEESWAX_CPU_REPACK", "on", 1);
  EXPECT_EQ(cpu::repack_of_variable(), cpu::Repack::On);
  setenv("BEESWAX_CPU_REPACK", "no", 1);
  EXPECT_ERROR(cpu::repack_of_variable(), InvalidArgument, "BEESWAX_CPU_REPACK=no is neither off nor on");
  setenv("BEESWAX_CPU_REPACK", kept.c_str(), 1);
}

}  // namespace
}  // namespace beeswax
