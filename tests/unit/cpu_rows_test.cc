// SPDX-License-Identifier: Apache-2.0
// Softmax and norms on the CPU write large results past the caches: the bits are those of results that stay
// in them, wherever rows and their parts begin between lines.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/rows.h"
#include "beeswax/tensor.h"

namespace beeswax {
namespace {

/// Bytes that begin with a line.
class Lines {
 public:
  explicit Lines(size_t bytes) : bytes_(bytes), memory_(::operator new(bytes, std::align_val_t{64})) {
    std::memset(memory_.get(), 0x5a, bytes);
  }
  void* data() { return memory_.get(); }
  std::vector<std::byte> content() const {
    const auto* from = static_cast<const std::byte*>(memory_.get());
    return {from, from + bytes_};
  }

 private:
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{64}); }
  };
  size_t bytes_;
  std::unique_ptr<void, Free> memory_;
};

constexpr int64_t kRows = 7;

class CpuRows : public testing::TestWithParam<DType> {
 protected:
  // What a loop makes of kRows rows of n elements, and nothing behind them.
  std::vector<std::byte> results(void (*loop)(const cpu::RowArgs&), int64_t n, bool bias, bool past) const {
    const DType wide = GetParam() == DType::F64 ? DType::F64 : DType::F32;
    const std::vector<std::byte> x = numbers({kRows, n}, GetParam()).to_bytes();
    const std::vector<std::byte> weight = numbers({n}, wide).to_bytes();
    Lines y(x.size() + 128), scratch(static_cast<size_t>(cpu::row_scratch(n)) * sizeof(double));
    loop({.x = x.data(),
          .rows = kRows,
          .n = n,
          .y = y.data(),
          .past_caches = past,
          .scratch = scratch.data(),
          .weight = weight.data(),
          .bias = bias ? weight.data() : nullptr,
          .eps = 1e-5});
    cpu::copy_kernels().fence();
    return y.content();
  }
  static Tensor numbers(const Shape& shape, DType dtype) {
    return (Tensor::arange(0, shape.elem_count(), DType::F32) * 0.37).sin().reshape(shape).to_dtype(dtype);
  }
};

TEST_P(CpuRows, PastTheCachesTheBitsAreTheSame) {
  const cpu::RowLoops& loops = cpu::row_kernels().loops[static_cast<size_t>(GetParam())];
  for (const int64_t n : {64, 192, 200, 500, 512, 1000, 1001, 1003, 1100, 4096, 5003, 20000}) {
    const auto expect_same = [&](void (*loop)(const cpu::RowArgs&), bool bias, const char* name) {
      EXPECT_EQ(results(loop, n, bias, true), results(loop, n, bias, false))
          << name << " of " << n << " " << dtype_name(GetParam());
    };
    expect_same(loops.softmax, false, "softmax");
    expect_same(loops.log_softmax, false, "log_softmax");
    expect_same(loops.rms_norm, false, "rms_norm");
    expect_same(loops.layer_norm, false, "layer_norm");
    expect_same(loops.layer_norm, true, "layer_norm with bias");
  }
}

INSTANTIATE_TEST_SUITE_P(All, CpuRows,
                         testing::Values(DType::F32, DType::F64, DType::F16, DType::BF16, DType::F8E4M3),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace beeswax
