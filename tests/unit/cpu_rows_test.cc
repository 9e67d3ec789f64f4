// SPDX-License-Identifier: Apache-2.0
// Softmax and norms on the CPU: results written past the caches, wherever rows and their parts begin between
// lines, and rows that share a block have the bits of those that do not.
#include <gtest/gtest.h>

#include <algorithm>
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
  // What a loop makes of kRows rows of n elements, so many in one call, and nothing behind them.
  std::vector<std::byte> results(void (*loop)(const cpu::RowArgs&), int64_t n, bool bias, bool past,
                                 int64_t in_call = kRows) const {
    const DType wide = GetParam() == DType::F64 ? DType::F64 : DType::F32;
    const std::vector<std::byte> x = numbers({kRows, n}, GetParam()).to_bytes();
    const std::vector<std::byte> weight = numbers({n}, wide).to_bytes();
    Lines y(x.size() + 128), scratch(static_cast<size_t>(cpu::row_scratch(n)) * sizeof(double));
    const size_t row_bytes = x.size() / kRows;
    for (int64_t row = 0; row < kRows; row += in_call)
      loop({.x = x.data() + static_cast<size_t>(row) * row_bytes,
            .rows = std::min(in_call, kRows - row),
            .n = n,
            .y = static_cast<std::byte*>(y.data()) + static_cast<size_t>(row) * row_bytes,
            .past_caches = past,
            .scratch = scratch.data(),
            .weight = weight.data(),
            .bias = bias ? weight.data() : nullptr,
            .eps = 1e-5});
    cpu::copy_kernels().fence();
    return y.content();
  }
  struct Case {
    const char* name;
    void (*loop)(const cpu::RowArgs&);
    bool bias;
  };
  static std::vector<Case> cases() {
    const cpu::RowLoops& loops = cpu::row_kernels().loops[static_cast<size_t>(GetParam())];
    return {{"softmax", loops.softmax, false},
            {"log_softmax", loops.log_softmax, false},
            {"rms_norm", loops.rms_norm, false},
            {"layer_norm", loops.layer_norm, false},
            {"layer_norm with bias", loops.layer_norm, true}};
  }
  static Tensor numbers(const Shape& shape, DType dtype) {
    return (Tensor::arange(0, shape.elem_count(), DType::F32) * 0.37).sin().reshape(shape).to_dtype(dtype);
  }
};

constexpr int64_t kLengths[] = {64,   192,  200,  500,  512,  1000, 1001, 1003,
                                1100, 2048, 4096, 5003, 8192, 8200, 20000};

TEST_P(CpuRows, PastTheCachesTheBitsAreTheSame) {
  for (const int64_t n : kLengths)
    for (const Case& c : cases())
      EXPECT_EQ(results(c.loop, n, c.bias, true), results(c.loop, n, c.bias, false))
          << c.name << " of " << n << " " << dtype_name(GetParam());
}

// Rows that share a block, a whole one or the rest of one, have the bits that each has alone.
TEST_P(CpuRows, RowsAloneHaveTheBitsOfRowsTogether) {
  for (const int64_t n : kLengths)
    for (const Case& c : cases())
      for (const int64_t in_call : {1, 2, 3, 5})
        EXPECT_EQ(results(c.loop, n, c.bias, false, in_call), results(c.loop, n, c.bias, false))
            << c.name << " of " << n << " " << dtype_name(GetParam()) << ", " << in_call << " in a call";
}

INSTANTIATE_TEST_SUITE_P(All, CpuRows,
                         testing::Values(DType::F32, DType::F64, DType::F16, DType::BF16, DType::F8E4M3),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace beeswax
