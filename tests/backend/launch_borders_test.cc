// SPDX-License-Identifier: Apache-2.0
// Tensors beyond what one launch takes, by small ones: launches of 1024 elements, so that parts meet inside
// of rows, planes and batches. The bits are the CPU's, which knows no launches. (large_device_test.cc has
// tensors that really are so large.)
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "beeswax/qtensor.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/on_device.h"

namespace beeswax::test {
namespace {

// Before the first launch reads it.
[[maybe_unused]] const int kSmallLaunches = ::setenv("BEESWAX_GPU_LAUNCH_ELEMENTS", "1024", 1);

using Work = std::function<Tensor(const std::vector<Tensor>& x)>;

class LaunchBorders : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (GetParam().is_cpu()) GTEST_SKIP() << "the CPU's loops have no launches";
  }
  // What `work` makes of the tensors there has the bits that it has on the CPU.
  static void expect_same(const std::vector<Tensor>& here, const Work& work) {
    std::vector<Tensor> there;
    for (const Tensor& x : here) there.push_back(x.to_device(device_of_test));
    const Tensor expected = work(here), found = work(there);
    EXPECT_EQ(found.shape(), expected.shape());
    EXPECT_TRUE(found.to_bytes() == expected.to_bytes()) << expected.describe();
  }
  // Numbers of any size, and whole ones whose sums are exact in any order.
  Tensor numbers(const Shape& shape, DType dtype = DType::F32) {
    const auto count = static_cast<size_t>(shape.elem_count());
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(pick(random_, -1000, 1000)) / 64;
    return Tensor::from_vec(values, shape, Device::cpu()).to_dtype(dtype);
  }
  Tensor whole(const Shape& shape, int64_t most = 4, DType dtype = DType::F32) {
    std::vector<int64_t> values(static_cast<size_t>(shape.elem_count()));
    for (int64_t& value : values) value = pick(random_, -most, most);
    return Tensor::from_vec(values, shape, Device::cpu()).to_dtype(dtype);
  }
  Tensor ids(const Shape& shape, int64_t size) {
    std::vector<uint32_t> values(static_cast<size_t>(shape.elem_count()));
    for (uint32_t& value : values) value = static_cast<uint32_t>(pick(random_, 0, size - 1));
    return Tensor::from_vec(values, shape, Device::cpu());
  }
  Random random_{7};
};

TEST_P(LaunchBorders, Elementwise) {
  for (const DType dtype : {DType::U8, DType::F16, DType::F32, DType::F64}) {
    const Tensor x = numbers({3, 1501}, dtype), y = numbers({1501}, dtype), z = numbers({5, 7, 129}, dtype);
    expect_same({x}, [](const auto& t) { return t[0].sqr(); });
    expect_same({x, y}, [](const auto& t) { return t[0] + t[1]; });
    expect_same({x, y}, [](const auto& t) { return t[0].t() * t[1].unsqueeze(1); });
    expect_same({z}, [](const auto& t) { return t[0].permute({2, 0, 1}).affine(2, 1); });
    expect_same({z}, [](const auto& t) { return t[0].narrow(2, 3, 120).maximum(t[0].narrow(2, 0, 120)); });
    expect_same({x, y}, [](const auto& t) { return t[0].lt(t[1]); });
    expect_same({x, y},
                [](const auto& t) { return t[0].gt(3).where_cond(t[0], t[1].broadcast_as({3, 1501})); });
    for (const DType to : {DType::U8, DType::I64, DType::BF16, DType::F32})
      expect_same({x}, [&](const auto& t) { return t[0].t().to_dtype(to); });
  }
  expect_same({numbers({3, 1504})}, [](const auto& t) { return t[0].to_dtype(DType::F4); });
  expect_same({numbers({3, 1504})},
              [](const auto& t) { return t[0].to_dtype(DType::F6E2M3).to_dtype(DType::F32); });
}

TEST_P(LaunchBorders, MovesAndNewTensors) {
  for (const DType dtype : {DType::U8, DType::BF16, DType::F64}) {
    const Tensor x = numbers({3, 1501}, dtype), y = numbers({70, 90}, dtype), z = numbers({2, 33, 65}, dtype);
    expect_same({x}, [](const auto& t) { return t[0].t().contiguous(); });
    expect_same({y}, [](const auto& t) { return t[0].t().contiguous(); });
    expect_same({z}, [](const auto& t) { return t[0].permute({2, 1, 0}).contiguous(); });
    // Short sides stay whole, and halves of long ones, of batches and of small matrices meet.
    for (const Shape& shape :
         {Shape({3001, 8}), Shape({9, 3001}), Shape({33, 33}), Shape({400, 9, 8}), Shape({2, 200, 192})})
      expect_same({numbers(shape, dtype)}, [](const auto& t) { return t[0].t().contiguous(); });
    expect_same({z}, [](const auto& t) { return t[0].flip({0, 2}); });
    expect_same({y}, [](const auto& t) { return t[0].broadcast_as({3, 70, 90}).contiguous(); });
    expect_same({x, x}, [](const auto& t) { return Tensor::cat({t[0], t[1], t[0]}, 1); });
    expect_same({x, x}, [](const auto& t) { return Tensor::cat({t[0], t[1], t[0]}, 0); });
    expect_same({z}, [](const auto& t) {
      Tensor out = t[0].copy();
      out.narrow(2, 1, 63).const_set(5);
      out.narrow(1, 2, 30).slice_set(t[0].narrow(1, 0, 20), 1, 7);
      return out;
    });
  }
  expect_same({}, [](const auto&) { return Tensor::arange(-7, 5003, DType::I32, device_of_test); });
  expect_same({ids({1}, 1)}, [](const auto& t) {
    const Device device = t[0].device();
    device.set_seed(3);
    return Tensor::cat({Tensor::rand({5003}, DType::F16, device), Tensor::randn({5003}, DType::F16, device)},
                       0);
  });
}

TEST_P(LaunchBorders, Ids) {
  const Tensor x = numbers({300, 33}), wide = numbers({5, 1501});
  const Tensor rows = ids({700}, 300), columns = ids({2000}, 1501);
  expect_same({x, rows}, [](const auto& t) { return t[0].index_select(t[1], 0); });
  expect_same({wide, columns}, [](const auto& t) { return t[0].index_select(t[1], 1); });
  expect_same({x, ids({170, 33}, 300)}, [](const auto& t) { return t[0].gather(t[1], 0); });
  expect_same({wide, ids({4, 900}, 1501)}, [](const auto& t) { return t[0].gather(t[1], 1); });
  expect_same({x, rows, numbers({700, 33})}, [](const auto& t) { return t[0].index_add(t[1], t[2], 0); });
  expect_same({wide, columns, numbers({5, 2000})},
              [](const auto& t) { return t[0].index_add(t[1], t[2], 1); });
  // Sums in short rows, and sorted, half of the columns at a time.
  expect_same({x, ids({500, 33}, 300), numbers({500, 33})},
              [](const auto& t) { return t[0].scatter_add(t[1], t[2], 0); });
  expect_same({numbers({5, 90000}), ids({5, 700}, 90000), numbers({5, 700})},
              [](const auto& t) { return t[0].scatter_add(t[1], t[2], 1); });
  // The last of several wins, also those of an earlier part.
  expect_same({x, ids({500, 33}, 20), numbers({500, 33})},
              [](const auto& t) { return t[0].scatter(t[1], t[2], 0); });
  expect_same({wide, ids({5, 1500}, 50), numbers({5, 1500})},
              [](const auto& t) { return t[0].scatter(t[1], t[2], 1); });
}

TEST_P(LaunchBorders, ErrorsNameTheElement) {
  const Device device = GetParam();
  Tensor divisors = Tensor::full({5000}, 3, DType::I32, device);
  divisors.narrow(0, 4000, 1).const_set(0);
  const Tensor x = Tensor::full({5000}, 12, DType::I32, device);
  EXPECT_ERROR((x / divisors).to_bytes(), DivisionByZero, "at element 4000 ");
  Tensor list = Tensor::full({3000}, 1, DType::U32, device);
  list.narrow(0, 2500, 1).const_set(5000);
  EXPECT_ERROR(x.gather(list, 0).to_bytes(), IndexOutOfRange, "index 5000 at element 2500 ");
  // Columns in several parts.
  const Tensor sums = Tensor::zeros({1025, 4}, DType::F32, device),
               ones = Tensor::ones({8, 4}, DType::F32, device);
  std::vector<uint32_t> wrong(32);
  wrong[15] = 5000;  // the last column's
  const Tensor rows = Tensor::from_vec(wrong, {8, 4}, device);
  EXPECT_ERROR(sums.scatter_add(rows, ones, 0).to_bytes(), IndexOutOfRange, "index 5000 at element 15 ");
}

TEST_P(LaunchBorders, Reductions) {
  // A row of more chunks than a launch counts, by itself and with strides; rows and columns of every length.
  for (const DType dtype : {DType::F16, DType::F32, DType::I32}) {
    const Tensor row = numbers({33001}, dtype), two = numbers({33001, 2}, dtype);
    expect_same({row}, [](const auto& t) { return t[0].sum_all(); });
    expect_same({two}, [](const auto& t) { return t[0].sum(0); });
    expect_same({two}, [](const auto& t) { return t[0].t().contiguous().max(1); });
    expect_same({row}, [](const auto& t) { return t[0].argmax_all(); });
    expect_same({two}, [](const auto& t) { return t[0].argmin(0); });
    const Tensor wide = numbers({40, 1501}, dtype), high = numbers({1501, 40}, dtype);
    for (const Tensor& x : {wide, high})
      for (const int axis : {0, 1}) {
        expect_same({x}, [&](const auto& t) { return t[0].sum(axis); });
        expect_same({x}, [&](const auto& t) { return t[0].min(axis); });
        expect_same({x}, [&](const auto& t) { return t[0].argmax(axis); });
      }
    expect_same({numbers({9, 20, 30}, dtype)}, [](const auto& t) { return t[0].sum({0, 2}); });
  }
  const Tensor two = numbers({2, 33001});
  expect_same({two}, [](const auto& t) { return t[0].var(1); });
  expect_same({two}, [](const auto& t) { return t[0].softmax(1); });
  expect_same({two}, [](const auto& t) { return t[0].log_softmax(1); });
  expect_same({numbers({2100, 7})}, [](const auto& t) { return t[0].softmax(1); });
  expect_same({numbers({5, 1501})}, [](const auto& t) { return t[0].softmax(0); });
  expect_same({numbers({3, 40000}), numbers({40000})}, [](const auto& t) { return t[0].rms_norm(t[1]); });
}

TEST_P(LaunchBorders, RunningSumsAndSorts) {
  for (const Shape& shape : {Shape({33001}), Shape({3, 5001}), Shape({2000, 5}), Shape({4, 20, 1501})})
    for (int axis = 0; axis < shape.rank(); ++axis)
      expect_same({whole(shape)}, [&](const auto& t) { return t[0].cumsum(axis); });
  for (const Shape& shape : {Shape({1500, 20}), Shape({70, 600}), Shape({3, 9001}), Shape({20, 3, 50})})
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Tensor x = whole(shape, 200, DType::F16);
      expect_same({x}, [&](const auto& t) { return t[0].sort(axis).first; });
      expect_same({x}, [&](const auto& t) { return t[0].arg_sort(axis, false); });
    }
}

TEST_P(LaunchBorders, Images) {
  // Images that fit a launch, that have to be cut into channels, and into rows.
  for (const Shape& shape : {Shape({50, 2, 9, 11}), Shape({2, 5, 23, 29}), Shape({2, 3, 41, 67})}) {
    const Tensor x = numbers(shape);
    const int64_t h = shape[2], w = shape[3];
    expect_same({x},
                [](const auto& t) { return t[0].max_pool2d({3, 2}, std::pair<int64_t, int64_t>{1, 1}); });
    expect_same({x},
                [](const auto& t) { return t[0].avg_pool2d({2, 3}, std::pair<int64_t, int64_t>{2, 1}); });
    expect_same({x}, [&](const auto& t) { return t[0].upsample_nearest2d(2 * h + 1, 3 * w); });
    expect_same({x},
                [&](const auto& t) { return t[0].transpose(2, 3).upsample_bilinear2d(w + 9, 2 * h, false); });
    // Sums of whole numbers are exact.
    const int64_t c = shape[1];
    for (const DType dtype : {DType::F32, DType::F16, DType::I32}) {
      const Tensor image = whole(shape, 4, dtype);
      expect_same({image, whole({7, c, 3, 3}, 4, dtype)},
                  [](const auto& t) { return t[0].conv2d(t[1], {.padding = 1}); });
      expect_same({image, whole({40, c, 2, 3}, 4, dtype)}, [](const auto& t) {
        return t[0].conv2d(t[1], {.padding = 2, .stride = 2, .dilation = 2});
      });
      expect_same({image, whole({2 * c, 1, 3, 3}, 4, dtype)},
                  [&](const auto& t) { return t[0].conv2d(t[1], {.padding = 1, .groups = c}); });
      expect_same({image, whole({c, 6, 4, 4}, 4, dtype)},
                  [](const auto& t) { return t[0].conv_transpose2d(t[1], {.padding = 1, .stride = 2}); });
      expect_same({image, whole({c, 1, 3, 2}, 4, dtype)},
                  [](const auto& t) { return t[0].conv_transpose2d(t[1], {.dilation = 2}); });
    }
  }
  // Channels that fill Hopper's units, a few images at a time.
  for (const DType dtype : {DType::F32, DType::F16}) {
    const Tensor images = whole({9, 64, 14, 14}, 2, dtype), kernel = whole({64, 64, 3, 3}, 1, dtype);
    expect_same({images, kernel}, [](const auto& t) { return t[0].conv2d(t[1], {.padding = 1}); });
    expect_same({images, kernel},
                [](const auto& t) { return t[0].transpose(2, 3).conv2d(t[1], {.padding = 1, .stride = 2}); });
  }
  // Outputs of several classes of taps, cut into as few channels as windows in shared memory would take.
  for (const DType dtype : {DType::F32, DType::F16, DType::I32})
    expect_same({whole({50, 1, 9, 11}, 4, dtype), whole({1, 6, 4, 4}, 4, dtype)},
                [](const auto& t) { return t[0].conv_transpose2d(t[1], {.padding = 1, .stride = 2}); });
}

TEST_P(LaunchBorders, ProductsAndBlocks) {
  expect_same({whole({3001, 2, 3}), whole({3001, 3, 2})}, [](const auto& t) { return t[0].matmul(t[1]); });
  expect_same({whole({2, 1501, 3, 20}), whole({1501, 20, 9})},
              [](const auto& t) { return t[0].matmul(t[1]); });
  // One product of more rows or columns than a launch has blocks for, by tiles and by few rows.
  for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::F64, DType::U8}) {
    const Tensor tall = whole({3001, 5}, 4, dtype);
    for (const int64_t few : {1, 3, 20}) {
      const Tensor other = whole({5, few}, 4, dtype);
      expect_same({tall, other}, [](const auto& t) { return t[0].matmul(t[1]); });
      expect_same({tall, other}, [](const auto& t) { return t[1].t().matmul(t[0].t()); });
      expect_same({tall.t().contiguous(), other}, [](const auto& t) { return t[0].t().matmul(t[1]); });
    }
  }
  const Tensor weights = numbers({20, 512});
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q6_K})
    expect_same({weights}, [&](const auto& t) { return QTensor::quantize(t[0], type).dequantize(); });
  const Tensor angles = numbers({300, 4});
  expect_same({numbers({2, 3, 300, 10}), angles.cos(), angles.sin()},
              [](const auto& t) { return t[0].rope(t[1], t[2], RopePairs::Halves); });
}

INSTANTIATE_TEST_SUITE_P(Devices, LaunchBorders, testing::ValuesIn(devices()),
                         [](const auto& info) { return test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax::test
