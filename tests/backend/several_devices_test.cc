// SPDX-License-Identifier: Apache-2.0
// Two GPUs in one process: tensors go from one to the other behind what made them and before what uses them,
// memory that is let go meanwhile is whole, and threads work on both. On the software GPU the second one is
// another chip; else the next of its kind, where there is one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "beeswax/error.h"
#include "beeswax/stream.h"
#include "support/devices.h"
#include "support/on_device.h"

namespace beeswax::test {
namespace {

// The software GPU dawdles, so that a wait that is missing shows: each task, while no host thread waits.
[[maybe_unused]] const int kDawdles = ::setenv("BEESWAX_EMU_DELAY", "300", 0);

class SeveralDevices : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    first_ = GetParam();
    if (first_.is_cpu()) GTEST_SKIP() << "there is one CPU";
    second_ = another_device(first_);
    try {
      Tensor::zeros({1}, DType::F32, second_);
    } catch (const Error& error) {
      GTEST_SKIP() << "needs a second device: " << error.what();
    }
  }
  Device first_, second_;
};

std::vector<float> counted(int64_t count, float from) {
  std::vector<float> out(static_cast<size_t>(count));
  for (float& value : out) value = from++;
  return out;
}

TEST_P(SeveralDevices, EveryDTypeAndSizeArrives) {
  Random random(5);
  for (const DType dtype : arithmetic_dtypes())
    for (const int64_t count : {int64_t{1}, int64_t{3}, int64_t{1000}, int64_t{65537}}) {
      const Raw values = random_raw(random, count, dtype);
      const Tensor there = from_raw(values, {count}, dtype, first_).to_device(second_);
      EXPECT_EQ(there.device(), second_);
      EXPECT_TRUE(raw(there) == values) << there.describe();
      EXPECT_TRUE(raw(there.to_device(first_)) == values) << there.describe();
    }
  const Tensor x = Tensor::arange(0, 60, DType::I32, first_).reshape({3, 4, 5});
  const Tensor view = x.permute({2, 0, 1}).narrow(0, 1, 3);
  EXPECT_EQ(view.to_device(second_).to_bytes(), view.to_bytes());
  EXPECT_EQ(x.narrow(1, 0, 0).to_device(second_).shape(), Shape({3, 0, 5}));
  // Bytes of the dtypes that are only stored.
  const Tensor f4 = Tensor::arange(0, 64, DType::F32, first_).to_dtype(DType::F4);
  EXPECT_EQ(f4.to_device(second_).to_bytes(), f4.to_bytes());
}

TEST_P(SeveralDevices, CopiesComeAfterWhatMadeThemAndBeforeWhatUsesThem) {
  const int64_t count = 5000;
  std::vector<Tensor> there;
  for (int i = 0; i < 8; ++i) {
    // Each round makes a tensor, sends it, lets it go, and writes to the memory that becomes free.
    const Tensor x = Tensor::full({count}, i, DType::F32, first_);
    there.push_back((x * 2 + 1).to_device(second_) + 1);
    const Tensor other = Tensor::full({count}, -1, DType::F32, first_);
  }
  for (int i = 0; i < 8; ++i) {
    const Tensor expected = Tensor::full({count}, 2 * i + 2, DType::F32, Device::cpu());
    EXPECT_TRUE(there[static_cast<size_t>(i)].to_bytes() == expected.to_bytes()) << i;
  }
}

TEST_P(SeveralDevices, ATargetThatIsLetGoIsNotWrittenAfterwards) {
  const int64_t count = 5000;
  const Tensor x = Tensor::full({count}, 7, DType::F32, first_);
  for (int i = 0; i < 8; ++i) {
    x.exp().to_device(second_);  // nobody keeps it
    const Tensor kept = Tensor::full({count}, i, DType::F32, second_);
    const Tensor sum = kept + 0;
    EXPECT_TRUE(sum.to_bytes() == Tensor::full({count}, i, DType::F32, Device::cpu()).to_bytes()) << i;
  }
}

TEST_P(SeveralDevices, StreamsOfBoth) {
  const std::vector<float> values = counted(3000, 1);
  const Stream here = Stream::make(first_), there = Stream::make(second_);
  Tensor x = Tensor::from_vec(values, {3000}, first_);
  for (int i = 0; i < 6; ++i) {
    Tensor made, sent;
    {
      const StreamScope scope(here);
      made = x.neg();
    }
    {
      const StreamScope scope(there);
      sent = made.to_device(second_);
    }
    made = Tensor();
    {
      const StreamScope scope(here);
      made = x.mul(3);  // where the first result lay
    }
    EXPECT_TRUE(sent.neg().to_vec<float>() == values) << i;
  }
}

TEST_P(SeveralDevices, ErrorsNameBoth) {
  const Tensor x = Tensor::ones({2, 3}, DType::F32, first_), y = Tensor::ones({2, 3}, DType::F32, second_);
  try {
    (void)x.add(y);
    ADD_FAILURE() << "operands of two devices were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::DeviceMismatch);
    EXPECT_NE(std::string(error.what()).find(x.describe() + " and " + y.describe()), std::string::npos)
        << error.what();
  }
}

// Threads with work on either device, and tensors that go to and fro, at the same time.
TEST_P(SeveralDevices, ThreadsOnBoth) {
  const auto work = [](const Tensor& x, const Device& other) {
    const Tensor y = (x.exp() + x.t().contiguous()).softmax(-1).to_device(other);
    const Tensor z = (y * 2).sum(0).to_device(x.device());
    return (z + x.max(1)).to_vec<float>();
  };
  const Tensor on_cpu = Tensor::arange(0, 40 * 40, DType::F32, Device::cpu()).reshape({40, 40}) / 1600;
  const Tensor a = on_cpu.to_device(first_), b = on_cpu.to_device(second_);
  const std::vector<float> expected = work(on_cpu, Device::cpu());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const bool swaps = t % 2 != 0;
      for (int i = 0; i < 5; ++i)
        if (work(swaps ? b : a, swaps ? first_ : second_) != expected) ++wrong[t];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

INSTANTIATE_TEST_SUITE_P(Devices, SeveralDevices, testing::ValuesIn(devices()),
                         [](const auto& info) { return test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax::test
