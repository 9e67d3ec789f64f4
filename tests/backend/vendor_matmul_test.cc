// SPDX-License-Identifier: Apache-2.0
// BEESWAX_BLAS=vendor on every device under test that has a library: products against their definition and
// bound, graphs, threads. The software AMD GPU gets the stand-ins of tests/fake_blas; on real cards it is the
// vendor's own library, or the test is skipped and says why.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "beeswax/graph.h"
#include "support/devices.h"
#include "support/exact_product.h"
#include "support/vendor_blas.h"

namespace beeswax::test {
namespace {

// Before anything multiplies.
[[maybe_unused]] const bool kForced = [] {
  ::setenv("BEESWAX_BLAS", "vendor", 1);
  if (devices().front().kind() == DeviceKind::Emu) {
    ::setenv("BEESWAX_HIPBLASLT_LIBRARY", stand_in("hipblaslt").c_str(), 1);
    ::setenv("BEESWAX_ROCBLAS_LIBRARY", stand_in("rocblas").c_str(), 1);
    blas_control(stand_in("hipblaslt")).without_type = 'd';  // which the next library then makes
  }
  return true;
}();

constexpr long double kUnitOfHalf = 0x1p-22L;  // docs/numerics.md

class VendorMatmul : public testing::Test {
 protected:
  void SetUp() override {
    if (device_.is_cpu()) GTEST_SKIP() << "the CPU has no vendor's library";
    std::string reasons;
    for (const gpu::blas::Library* library : gpu::blas::libraries_for(device_.kind())) {
      if (library->reason().empty()) usable_.push_back(library);
      reasons += library->reason() + " ";
    }
    if (usable_.empty()) GTEST_SKIP() << device_.to_string() << " has no library: " << reasons;
    RecordProperty("library", usable_.front()->title());
    CountLaunches::get();
  }
  int64_t vendor_products() const {
    int64_t sum = 0;
    for (const gpu::blas::Library* library : usable_) sum += CountLaunches::get().of(library->function());
    return sum;
  }
  static Tensor numbers(const Shape& shape, DType dtype, int seed) {
    return tensor_of(small_numbers(shape.elem_count(), static_cast<uint32_t>(seed), false), shape, dtype,
                     Device::cpu());
  }
  /// On the device, dense along its rows, its columns, or with gaps between rows that begin at an odd
  /// element.
  Tensor laid(const Tensor& x, int kind) const {
    if (kind == 0) return x.to_device(device_);
    if (kind == 1) return x.transpose(-1, -2).contiguous().to_device(device_).transpose(-1, -2);
    const Tensor wide = Tensor::cat({x.narrow(-1, 0, 1), x}, -1);
    return wide.to_device(device_).narrow(-1, 1, x.dim(-1));
  }
  Device device_ = devices().front();
  std::vector<const gpu::blas::Library*> usable_;
};

TEST_F(VendorMatmul, StaysWithinTheBound) {
  std::vector<std::array<int64_t, 4>> shapes = {{1, 1, 1, 1},    {1, 1, 300, 70},    {1, 70, 20, 1},
                                                {3, 4, 40, 130}, {1, 33, 50, 8},     {2, 65, 31, 66},
                                                {1, 64, 64, 64}, {1, 130, 257, 129}, {1, 13, 520, 264}};
  const bool stands_in = device_.kind() == DeviceKind::Emu;
  // Where a sum is worth cutting into parts, and tiles are many.
  if (!stands_in) shapes.insert(shapes.end(), {{1, 64, 8192, 72}, {1, 256, 2048, 128}, {4, 200, 1000, 304}});
  int64_t cases = 0;
  const int64_t before = vendor_products();
  for (const auto& [batch, m, k, n] : shapes) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
      const Tensor a = numbers({batch, m, k}, dtype, 1), b = numbers({batch, k, n}, dtype, 2);
      const ExactProduct exact(a, b);
      for (int kind = 0; kind < 9; ++kind) {
        const Tensor x = laid(a, kind % 3), y = laid(b, kind / 3);
        const Tensor got = x.matmul(y);
        ++cases;
        exact.expect(got, a.describe() + " by " + b.describe() + " of kind " + std::to_string(kind),
                     kUnitOfHalf);
        EXPECT_EQ(x.matmul(y).to_bytes(), got.to_bytes()) << a.describe() << " of kind " << kind;
        if (HasFailure()) return;
      }
    }
  }
  // Each case twice. A library may leave some to our kernels; a stand-in does not.
  const int64_t made = (vendor_products() - before) / 2;
  std::printf("%d of %d products through %s\n", static_cast<int>(made), static_cast<int>(cases),
              usable_.front()->title().c_str());
  EXPECT_GT(made, cases / 2);
  if (stands_in) {
    EXPECT_EQ(made, cases);
  }
}

TEST_F(VendorMatmul, BroadcastsBatches) {
  const Tensor a = numbers({4, 9, 17}, DType::F32, 3), b = numbers({4, 17, 12}, DType::F32, 4);
  const Tensor one = a.narrow(0, 2, 1), other = b.narrow(0, 1, 1);
  expect_product(one.broadcast_as(a.shape()), b, one.to_device(device_).matmul(b.to_device(device_)));
  expect_product(a, other.broadcast_as(b.shape()), a.to_device(device_).matmul(other.to_device(device_)));
  // Both broadcast, each along another axis: one call for each step that a stride does not tell.
  const int64_t before = vendor_products();
  const Tensor both =
      a.reshape({4, 1, 9, 17}).to_device(device_).matmul(b.reshape({1, 4, 17, 12}).to_device(device_));
  EXPECT_EQ(vendor_products(), before + 4);
  for (int64_t i = 0; i < 4; ++i) expect_product(a.narrow(0, i, 1).broadcast_as(a.shape()), b, both.get(i));
}

TEST_F(VendorMatmul, OurKernelsMakeTheRest) {
  const int64_t before = vendor_products();
  const Tensor a = numbers({1, 12, 20}, DType::F32, 5), b = numbers({1, 20, 14}, DType::F32, 6);
  // Neither rows nor columns are dense.
  const Tensor gaps = Tensor::stack({a, a}, 3).to_device(device_).narrow(3, 0, 1).squeeze(3);
  expect_product(a, b, gaps.matmul(b.to_device(device_)));
  // One row for all.
  const Tensor row = a.narrow(1, 0, 1);
  expect_product(row.broadcast_as({1, 12, 20}), b,
                 row.to_device(device_).broadcast_as({1, 12, 20}).matmul(b.to_device(device_)));
  const Tensor mixed = a.to_device(device_).matmul_mixed(b.to_dtype(DType::BF16).to_device(device_));
  ExactProduct(a, b.to_dtype(DType::BF16).to_dtype(DType::F32)).expect(mixed, "mixed");
  const Tensor whole = Tensor::of<int32_t>({1, 2, 3, 4}, device_).reshape({2, 2});
  EXPECT_EQ(whole.matmul(whole).to_vec<int32_t>(), (std::vector<int32_t>{7, 10, 15, 22}));
  EXPECT_EQ(Tensor::zeros({3, 0}, DType::F32, device_)
                .matmul(Tensor::zeros({0, 2}, DType::F32, device_))
                .to_vec<float>(),
            std::vector<float>(6, 0.0F));
  EXPECT_EQ(vendor_products(), before);
}

TEST_F(VendorMatmul, GraphsReplayIt) {
  for (const DType dtype : {DType::F32, DType::F16, DType::F64}) {
    const Tensor a = numbers({1, 24, 40}, dtype, 7), b = numbers({1, 40, 16}, dtype, 8),
                 c = numbers({1, 24, 40}, dtype, 9);
    Tensor x = a.to_device(device_), w = b.to_device(device_), y;
    const auto step = [&] { y = x.matmul(w); };
    step();
    y = Tensor();
    const Graph graph = Graph::capture(device_, step);
    graph.replay();
    ExactProduct(a, b).expect(y, "first", kUnitOfHalf);
    x.slice_set(c.to_device(device_), 0, 0);
    graph.replay();
    ExactProduct(c, b).expect(y, "second", kUnitOfHalf);
  }
}

TEST_F(VendorMatmul, ThreadsShareALibrary) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 8; ++round) {
        const DType dtype = i % 2 == 0 ? DType::F32 : DType::F64;
        const Tensor a = numbers({1, 10 + 3 * i, 20 + round}, dtype, i);
        const Tensor b = numbers({1, 20 + round, 9}, dtype, round);
        expect_product(a, b, a.to_device(device_).matmul(b.to_device(device_)));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace beeswax::test
