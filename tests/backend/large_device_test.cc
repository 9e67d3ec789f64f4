// SPDX-License-Identifier: Apache-2.0
// Tensors past 2^32 elements on a GPU, and strides across 2^32: values are looked at around 2^31, 2^32 and
// the end, and sums are known from how tensors are made. Skipped on devices with too little memory.
// Hardware only: the software GPU would take days (launch_borders_test.cc cuts small tensors the same way).
#include <gtest/gtest.h>

#include "backends/gpu/gpu.h"
#include "support/devices.h"
#include "support/on_device.h"

namespace beeswax::test {
namespace {

constexpr int64_t kFour = int64_t{1} << 32;
constexpr int64_t kCount = kFour + 1027;
constexpr size_t kGiB = size_t{1} << 30;

class LargeDevice : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    device_ = GetParam();
    if (device_.is_cpu()) GTEST_SKIP() << "large_test.cc is for the CPU";
    if (device_.kind() == DeviceKind::Emu) GTEST_SKIP() << "the software GPU is too slow for 2^32 elements";
    needs(40);
  }
  // Blocks of tens of GiB take a driver long, so the next test gets those that are kept, where they leave
  // room for others.
  void TearDown() override {
    if (device_.is_cpu() || device_.kind() == DeviceKind::Emu) return;
    gpu::Gpu& gpu = gpu::Gpu::of(device_);
    if (gpu.pool().statistics().kept_bytes > gpu.properties().memory_bytes / 3) gpu.pool().trim();
  }
  void needs(size_t gib) const {
    const size_t bytes = gpu::Gpu::of(device_).properties().memory_bytes;
    if (bytes < gib * kGiB)
      GTEST_SKIP() << "needs a device with " << gib << " GiB, and this one has " << bytes;
  }
  /// Ones, but for what `marks` says.
  Tensor ones(int64_t count = kCount, DType dtype = DType::U8) const {
    const Tensor x = Tensor::full({count}, 1, dtype, device_);
    for (const auto& [place, value] : marks_)
      if (place < count) x.narrow(0, place, 1).const_set(value);
    return x;
  }
  static double at(const Tensor& x, int64_t place) { return x.get(place).to_doubles()[0]; }
  /// What `f` makes of the marked elements and of one that is not.
  template <class F>
  void expect_marks(const Tensor& x, const F& f) const {
    for (const auto& [place, value] : marks_) {
      EXPECT_EQ(at(x, place), f(value)) << place;
      EXPECT_EQ(at(x, place + 2), f(1)) << place + 2;
    }
  }
  Device device_;
  std::vector<std::pair<int64_t, int>> marks_ = {{0, 2},         {kFour / 2 - 1, 3}, {kFour / 2, 4},
                                                 {kFour - 1, 5}, {kFour, 6},         {kCount - 3, 7}};
};

TEST_P(LargeDevice, Elementwise) {
  const Tensor x = ones();
  expect_marks(x, [](int v) { return v; });
  expect_marks(x.sqr(), [](int v) { return v * v; });
  expect_marks(x.affine(3, 2), [](int v) { return 3 * v + 2; });
  expect_marks(x + x, [](int v) { return 2 * v; });
  expect_marks(x.eq(1), [](int v) { return v == 1; });
  expect_marks(x.to_dtype(DType::F16), [](int v) { return v; });
  expect_marks(x.eq(1).where_cond(x, x.mul(10)), [](int v) { return v == 1 ? 1 : 10 * v; });
  // Every second element, and rows of one number.
  const Tensor pairs = x.narrow(0, 0, kCount - 1).reshape({(kCount - 1) / 2, 2});
  const Tensor halves = pairs.narrow(1, 1, 1).add(1).reshape({(kCount - 1) / 2});
  EXPECT_EQ(at(halves, kFour / 4 - 1), 4);  // element 2^31 - 1
  EXPECT_EQ(at(halves, kFour / 2 - 1), 6);
  EXPECT_EQ(at(halves, kFour / 2), 2);
  const Tensor column = ones(kFour / 1024 + 1);
  const Tensor wide = column.unsqueeze(1).add(Tensor::full({1024}, 1, DType::U8, device_));
  EXPECT_EQ(wide.elem_count(), kFour + 1024);
  EXPECT_EQ(at(wide.get(0), 1023), 3);
  EXPECT_EQ(at(wide.get(kFour / 1024), 1023), 2);
}

TEST_P(LargeDevice, CopiesAndNewTensors) {
  const int64_t columns = kFour / 3 + 1;  // three rows are more than 2^32 elements
  const Tensor x = Tensor::full({3, columns}, 1, DType::U8, device_);
  x.narrow(0, 2, 1).narrow(1, columns - 1, 1).const_set(9);
  x.narrow(0, 1, 1).narrow(1, 5, 1).const_set(8);
  const Tensor turned = x.t().contiguous();
  EXPECT_EQ(at(turned.get(columns - 1), 2), 9);
  EXPECT_EQ(at(turned.get(5), 1), 8);
  EXPECT_EQ(at(turned.get(columns - 1), 1), 1);
  const Tensor back = x.flip({0, 1});
  EXPECT_EQ(at(back.get(0), 0), 9);
  EXPECT_EQ(at(back.get(1), columns - 6), 8);
  const Tensor row = ones(kFour / 2 + 5);
  const Tensor both = Tensor::cat({row, row}, 0);
  EXPECT_EQ(at(both, kFour / 2), 4);
  EXPECT_EQ(at(both, kFour / 2 + 5), 2);
  EXPECT_EQ(at(both, kFour + 5), 4);
  EXPECT_EQ(at(both, kFour + 6), 1);
  const Tensor spread =
      row.narrow(0, kFour / 2 - 1, 4).unsqueeze(1).broadcast_as({4, kFour / 4 + 1}).contiguous();
  EXPECT_EQ(at(spread.get(0), kFour / 4), 3);
  EXPECT_EQ(at(spread.get(1), 0), 4);
  EXPECT_EQ(at(spread.get(3), kFour / 4), 1);
}

TEST_P(LargeDevice, Numbers) {
  const Tensor steps = Tensor::arange(0, kCount, DType::F32, device_);
  for (const int64_t place : {kFour / 2, kFour - 256, kFour, kFour + 512})
    EXPECT_EQ(at(steps, place), static_cast<double>(place));
  // The same numbers, drawn in two parts.
  device_.set_seed(11);
  const Tensor once = Tensor::rand({kCount}, DType::F16, device_);
  device_.set_seed(11);
  const Tensor part = Tensor::rand({kFour}, DType::F16, device_);
  const Tensor rest = Tensor::rand({1000}, DType::F16, device_);
  EXPECT_EQ(once.narrow(0, kFour - 1000, 1000).to_bytes(), part.narrow(0, kFour - 1000, 1000).to_bytes());
  EXPECT_EQ(once.narrow(0, kFour, 1000).to_bytes(), rest.to_bytes());
}

TEST_P(LargeDevice, Ids) {
  const Tensor x = ones();
  const Tensor list = Tensor::from_vec(
      std::vector<int64_t>{kCount - 3, 0, kFour, kFour - 1, kFour / 2, 1, INT64_MAX}, {7}, device_);
  EXPECT_EQ(x.index_select(list, 0).to_vec<uint8_t>(), (std::vector<uint8_t>{7, 2, 6, 5, 4, 1, 0}));
  EXPECT_EQ(x.gather(list, 0).to_vec<uint8_t>(), (std::vector<uint8_t>{7, 2, 6, 5, 4, 1, 0}));
  const Tensor source = Tensor::full({7}, 30, DType::U8, device_);
  const Tensor written = x.scatter(list, source, 0);
  for (const int64_t place : {kCount - 3, int64_t{0}, kFour, kFour - 1, int64_t{1}})
    EXPECT_EQ(at(written, place), 30);
  EXPECT_EQ(at(written, kFour + 1), 1);
  // Rows and columns whose results are more than 2^32 elements.
  const int64_t rows = 5000, width = kFour / rows + 1;
  const Tensor table = Tensor::arange(0, 200, DType::U8, device_).unsqueeze(1).broadcast_as({200, width});
  const Tensor picks = Tensor::arange(0, rows, DType::I64, device_)
                           .sub(Tensor::arange(0, rows, DType::I64, device_).div(200).mul(200));
  const Tensor taken = table.index_select(picks, 0);
  EXPECT_EQ(at(taken.get(rows - 1), width - 1), 199);
  EXPECT_EQ(at(taken.get(rows / 2), 0), 100);
  const Tensor sums = Tensor::zeros({200, width}, DType::U8, device_).index_add(picks, taken, 0);
  EXPECT_EQ(at(sums.get(3), width - 1), 3 * (rows / 200));
  EXPECT_EQ(at(sums.get(199), 0), 199 * (rows / 200) % 256);
}

TEST_P(LargeDevice, SumsByIdsOfTheirOwn) {
  needs(100);
  if (IsSkipped()) return;
  const int64_t rows = kFour / 64 + 1;
  const Tensor ids = Tensor::arange(0, 64, DType::U8, device_).broadcast_as({rows, 64}).flip({1});
  const Tensor source = Tensor::ones({rows, 64}, DType::U8, device_);
  const Tensor sums = Tensor::full({rows, 64}, 2, DType::U8, device_).scatter_add(ids, source, 1);
  for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) EXPECT_EQ(at(sums.get(row), 63), 3) << row;
  EXPECT_EQ(sums.max_all().to_doubles()[0], 3);
}

TEST_P(LargeDevice, ReductionsOfOneRow) {
  const Tensor x = ones();
  const int64_t sum = kCount + 1 + 2 + 3 + 4 + 5 + 6;
  EXPECT_EQ(x.sum_all().to_vec<uint8_t>()[0], static_cast<uint8_t>(sum));
  EXPECT_EQ(x.max_all().to_doubles()[0], 7);
  EXPECT_EQ(x.min_all().to_doubles()[0], 1);
  constexpr int64_t kMiddle = kFour / 2;
  EXPECT_EQ(x.narrow(0, 0, kFour - 1).argmax_all().to_doubles()[0], static_cast<double>(kMiddle));
  // Only the last elements differ: those that a count of 32 bits would see twice are zeros.
  const Tensor zeros = Tensor::zeros({kCount}, DType::F16, device_);
  zeros.narrow(0, kFour, 1027).const_set(1);
  EXPECT_EQ(zeros.sum_all().to_doubles()[0], 1027);
  EXPECT_EQ(zeros.max_all().to_doubles()[0], 1);
  EXPECT_EQ(zeros.narrow(0, 0, kFour + 1).sum_all().to_doubles()[0], 1);
}

TEST_P(LargeDevice, ReductionsOfAxes) {
  const int64_t rows = 3, width = kFour / 2 + 7;
  const Tensor x = Tensor::ones({rows, width}, DType::U8, device_);
  x.narrow(0, 2, 1).narrow(1, width - 1, 1).const_set(9);
  x.narrow(0, 1, 1).narrow(1, 4, 1).const_set(5);
  EXPECT_EQ(x.sum(1).to_vec<uint8_t>(),
            (std::vector<uint8_t>{static_cast<uint8_t>(width), static_cast<uint8_t>(width + 4),
                                  static_cast<uint8_t>(width + 8)}));
  const Tensor down = x.sum(0);
  EXPECT_EQ(at(down, width - 1), 11);
  EXPECT_EQ(at(down, 4), 7);
  EXPECT_EQ(x.argmax(1).to_vec<uint32_t>()[2], static_cast<uint32_t>(width - 1));
  EXPECT_EQ(at(x.argmax(0), width - 1), 2);
  // Many short rows.
  const int64_t many = kFour / 16 + 3;
  const Tensor shorts = x.flatten_all().narrow(0, 0, 16 * many).reshape({many, 16});
  EXPECT_EQ(at(shorts.sum(1), many - 1), 16);
  EXPECT_EQ(at(shorts.max(1), (width + 4) / 16), 5);
  EXPECT_EQ(shorts.sum(0).to_vec<uint8_t>()[(width + 4) % 16], static_cast<uint8_t>(many + 4));
  EXPECT_EQ(shorts.reshape({4 * many, 4}).sum(0).to_vec<uint8_t>()[(width + 4) % 4],
            static_cast<uint8_t>(4 * many + 4));
}

TEST_P(LargeDevice, SoftmaxAndRunningSums) {
  needs(70);
  if (IsSkipped()) return;
  const int64_t rows = 2, width = kFour / 2 + 64;
  const Tensor x = Tensor::full({rows, width}, -1000, DType::F16, device_);
  x.narrow(0, 1, 1).narrow(1, width - 1, 1).const_set(0);
  x.narrow(0, 0, 1).narrow(1, 7, 1).const_set(0);
  Tensor y = x.softmax(1);
  EXPECT_EQ(at(y.get(1), width - 1), 1);
  EXPECT_EQ(at(y.get(1), 7), 0);
  EXPECT_EQ(at(y.get(0), 7), 1);
  y = x.reshape({width * rows / 64, 64}).softmax(1);
  EXPECT_EQ(at(y.get(width * rows / 64 - 1), 63), 1);
  EXPECT_EQ(at(y.get(width * rows / 64 - 2), 63), 1.0 / 64);
  const Tensor bytes = ones();
  y = bytes.cumsum(0);
  for (const int64_t place : {kFour / 2 - 2, kFour - 2, kFour + 5, kCount - 1}) {
    int64_t sum = place + 1;
    for (const auto& [mark, value] : marks_) sum += mark <= place ? value - 1 : 0;
    EXPECT_EQ(at(y, place), static_cast<double>(sum % 256)) << place;
  }
  y = Tensor::ones({3, kFour / 2 + 5}, DType::U8, device_).cumsum(0);
  EXPECT_EQ(at(y.get(2), kFour / 2 + 4), 3);
}

TEST_P(LargeDevice, SortsOfManyRows) {
  needs(100);
  if (IsSkipped()) return;
  const int64_t rows = kFour / 32 + 1;
  const Tensor down = Tensor::arange_step(31, -1, -1, DType::U8, device_).broadcast_as({rows, 32});
  const auto [values, ids] = down.sort(1);
  for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) {
    EXPECT_EQ(at(values.get(row), 0), 0);
    EXPECT_EQ(at(values.get(row), 31), 31);
    EXPECT_EQ(at(ids.get(row), 31), 0);
  }
}

TEST_P(LargeDevice, Images) {
  // One image with more than 2^32 results, in planes of more than 2^30.
  const int64_t channels = 3, side = 38000;
  const Tensor x = Tensor::ones({1, channels, side, side}, DType::U8, device_);
  Tensor corner = x.narrow(1, 2, 1).narrow(2, side - 1, 1).narrow(3, side - 1, 1);
  corner.const_set(9);
  const auto last = [&](const Tensor& y, int64_t row, int64_t column) {
    return at(y.get(0).get(channels - 1).get(row), column);
  };
  EXPECT_EQ(last(x.max_pool2d(2, 1), side - 2, side - 2), 9);
  EXPECT_EQ(last(x.avg_pool2d(2, 1), side - 2, side - 2), 3);
  const Tensor grown =
      x.narrow(2, side / 2, side / 2).narrow(3, side / 2, side / 2).upsample_nearest2d(side, side);
  EXPECT_EQ(last(grown, side - 1, side - 1), 9);
  EXPECT_EQ(last(grown, side - 3, side - 1), 1);
  // Windows that begin beyond 2^32 along one axis.
  for (const bool high : {false, true}) {
    const Tensor line = Tensor::ones({kFour + 8}, DType::U8, device_);
    line.narrow(0, kFour, 8).const_set(7);
    const Tensor image = line.reshape(high ? Shape{1, 1, kFour + 8, 1} : Shape{1, 1, 1, kFour + 8});
    const std::pair<int64_t, int64_t> window = high ? std::pair(8, 1) : std::pair(1, 8);
    for (const Tensor& y : {image.max_pool2d(window, window), image.avg_pool2d(window, window)}) {
      EXPECT_EQ(at(y.flatten_all(), kFour / 8), 7);
      EXPECT_EQ(at(y.flatten_all(), kFour / 8 - 1), 1);
    }
  }
  const Tensor kernel = Tensor::ones({3, 1, 3, 3}, DType::U8, device_);
  const Tensor y = x.conv2d(kernel, {.padding = 1, .groups = 3});
  EXPECT_EQ(last(y, side - 1, side - 1), 12);
  EXPECT_EQ(last(y, side / 2, side / 2), 9);
  EXPECT_EQ(last(y, side / 2, 0), 6);
}

INSTANTIATE_TEST_SUITE_P(Devices, LargeDevice, testing::ValuesIn(devices()),
                         [](const auto& info) { return test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax::test
