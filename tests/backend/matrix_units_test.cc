// SPDX-License-Identifier: Apache-2.0
// Products on a GPU's matrix units beside those of f16 and bf16 (products_test.cc): f8e4m3, u8, f64, and f32
// with rounded operands; their bounds over every remainder and layout, and that the units' kernels make them
// where the device has such units and only there.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "beeswax/system.h"
#include "support/devices.h"
#include "support/exact_product.h"
#include "support/launch_recorder.h"
#include "support/numbers.h"
#include "support/reduced_precision.h"

namespace beeswax {
namespace {

// Before anything multiplies: these are tests of our kernels, and a vendor's library makes f32 and f64, too.
[[maybe_unused]] const int kOwn = ::setenv("BEESWAX_BLAS", "own", 1);

using test::ExactProduct;
using test::LaunchRecorder;
using test::ReducedPrecision;
using test::small_numbers;
using test::tensor_of;

LaunchRecorder& recorder() { return LaunchRecorder::instance(); }

class MatrixUnits : public testing::TestWithParam<Device> {
 protected:
  Tensor moved(const Tensor& x) const { return x.to_device(GetParam()); }
  // A matrix in memory: dense; turned; part of a larger one, with rows and a beginning that are not aligned;
  // that, turned. The units read each.
  static constexpr int kLayouts = 4;
  Tensor laid(const Tensor& x, int layout) const {
    const Tensor turned = layout % 2 == 1 ? x.transpose(-1, -2).contiguous() : x;
    const Tensor on = layout < 2 ? moved(turned)
                                 : moved(turned.pad_with_same(-1, 2, 1).pad_with_same(-2, 1, 1).contiguous())
                                       .narrow(-1, 2, turned.dim(-1))
                                       .narrow(-2, 1, turned.dim(-2));
    return layout % 2 == 1 ? on.transpose(-1, -2) : on;
  }
  // Whether the device has units for a dtype, or for f32 with rounded operands: the makers' tables.
  bool has_unit(DType dtype) const {
    if (GetParam().is_cpu()) return false;
    const std::string_view chip = gpu::Gpu::of(GetParam()).properties().arch;
    const bool nvidia = chip.starts_with("sm_"), cdna3 = chip == "gfx942";
    const bool cdna2 = chip == "gfx90a" || cdna3 || chip == "gfx950";
    if (dtype == DType::F32) return nvidia || cdna3;
    if (dtype == DType::F64) return nvidia || cdna2;
    return nvidia || cdna2 || chip == "gfx908" || chip.starts_with("gfx11") || chip.starts_with("gfx120");
  }
  // The product, made by the units' kernel where there is one.
  Tensor multiply(const Tensor& a, const Tensor& b, std::string_view unit_kernel) const {
    std::vector<std::string>& names = recorder().names;
    names.clear();
    Tensor c = a.matmul(b);
    const bool launched = std::ranges::count(names, unit_kernel) != 0;
    EXPECT_EQ(launched, has_unit(a.dtype())) << unit_kernel << " for " << a.describe();
    EXPECT_EQ(names.empty(), GetParam().is_cpu());
    return c;
  }
};

// Batch, m, k, n: remainders of tiles, of packs and of words.
constexpr std::array<int64_t, 4> kShapes[] = {{1, 9, 1, 9},      {2, 33, 50, 20}, {1, 130, 40, 129},
                                              {1, 128, 64, 128}, {3, 65, 31, 66}, {1, 17, 257, 96},
                                              {1, 129, 130, 143}};
// So many tiles that the largest of GPUs is worth large ones of f64, or of f32 with rounded operands.
constexpr std::array<int64_t, 4> kManyTiles[] = {{156, 9, 5, 12}, {40, 130, 19, 131}, {153, 20, 35, 18}};

TEST_P(MatrixUnits, F8WithinItsBound) {
  for (const auto& [batch, m, k, n] : kShapes) {
    const Tensor a = tensor_of(small_numbers(batch * m * k, 1, false), {batch, m, k}, DType::F8E4M3);
    const Tensor b = tensor_of(small_numbers(batch * k * n, 2, false), {batch, k, n}, DType::F8E4M3);
    const ExactProduct exact(a, b);
    for (int i = 0; i < kLayouts * kLayouts; ++i) {
      const Tensor c = multiply(laid(a, i % kLayouts), laid(b, i / kLayouts), "gemm_mma_f8e4m3");
      exact.expect(c, a.describe() + " of layouts " + std::to_string(i), 0x1p-23L);
      if (HasFatalFailure()) return;
    }
  }
}

// Each byte as the one term of a sum: widened and rounded back it is itself, from either side and layout.
TEST_P(MatrixUnits, EveryF8IsExact) {
  std::vector<std::byte> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const Tensor all = Tensor::from_bytes(bytes, {256, 1}, DType::F8E4M3, Device::cpu());
  const Tensor ones = Tensor::ones({1, 12}, DType::F8E4M3, Device::cpu());
  const std::vector<double> want = all.to_doubles();
  for (int layout = 0; layout < kLayouts; ++layout) {
    const std::vector<double> rows =
        multiply(laid(all, layout), moved(ones), "gemm_mma_f8e4m3").t().contiguous().to_doubles();
    const std::vector<double> columns =
        multiply(moved(ones).t(), laid(all, layout).t(), "gemm_mma_f8e4m3").to_doubles();
    for (size_t i = 0; i < rows.size(); ++i) {
      const double value = want[i % 256];
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(rows[i]) && std::isnan(columns[i])) << i % 256;
      } else {
        ASSERT_EQ(rows[i], value) << i % 256;
        ASSERT_EQ(columns[i], value) << i % 256;
      }
    }
  }
  const Tensor most = moved(Tensor::full({10, 40}, 448, DType::F8E4M3, Device::cpu()));
  for (const double value : multiply(most, most.t(), "gemm_mma_f8e4m3").to_doubles()) ASSERT_EQ(value, 448);
}

TEST_P(MatrixUnits, BytesWrap) {
  for (const auto& [batch, m, k, n] : kShapes) {
    const auto bytes = [](const Shape& shape, uint32_t seed) {
      return tensor_of(test::int_inputs(DType::U8, static_cast<size_t>(shape.elem_count()), 0, 255, seed),
                       shape, DType::U8, Device::cpu());
    };
    const Tensor a = bytes({batch, m, k}, 5), b = bytes({batch, k, n}, 6);
    const std::vector<int64_t> want = a.to_dtype(DType::I64).matmul(b.to_dtype(DType::I64)).to_vec<int64_t>();
    for (int i = 0; i < kLayouts * kLayouts; ++i) {
      const std::vector<uint8_t> got =
          multiply(laid(a, i % kLayouts), laid(b, i / kLayouts), "gemm_mma_u8").to_vec<uint8_t>();
      for (size_t at = 0; at < want.size(); ++at)
        ASSERT_EQ(got[at], want[at] & 255) << a.describe() << " of layouts " << i << " at " << at;
    }
  }
}

TEST_P(MatrixUnits, F64WithinItsBound) {
  for (const auto& [batch, m, k, n] : kManyTiles) {
    const Tensor a = tensor_of(small_numbers(batch * m * k, 1, false), {batch, m, k}, DType::F64);
    const Tensor b = tensor_of(small_numbers(batch * k * n, 2, false), {batch, k, n}, DType::F64);
    const ExactProduct exact(a, b);
    for (int i = 0; i < kLayouts; ++i) {
      const Tensor c = multiply(laid(a, i), laid(b, kLayouts - 1 - i), "gemm_mma_f64");
      exact.expect(c, a.describe() + " of layouts " + std::to_string(i));
      if (HasFatalFailure()) return;
    }
  }
}

// One matrix for a whole batch, on either side, and results that are written turned.
TEST_P(MatrixUnits, BatchesShareAnOperand) {
  for (const DType dtype : {DType::F8E4M3, DType::U8, DType::F64}) {
    const Tensor a = tensor_of(small_numbers(160 * 11 * 18, 1, true), {160, 11, 18}, DType::F64).abs();
    const Tensor b = tensor_of(small_numbers(18 * 10, 2, true), {1, 18, 10}, DType::F64).abs();
    const Tensor x = moved(a.to_dtype(dtype)), y = moved(b.to_dtype(dtype));
    const char* kernel = dtype == DType::F64  ? "gemm_mma_f64"
                         : dtype == DType::U8 ? "gemm_mma_u8"
                                              : "gemm_mma_f8e4m3";
    const std::vector<double> want =
        a.matmul(b).to_dtype(dtype).to_device(Device::cpu()).to_doubles();  // whole numbers below 256
    EXPECT_EQ(multiply(x, y, kernel).to_doubles(), want);
    EXPECT_EQ(
        multiply(y.transpose(1, 2), x.transpose(1, 2), kernel).transpose(1, 2).contiguous().to_doubles(),
        want);
  }
}

TEST_P(MatrixUnits, InfinityTimesZeroIsNaN) {
  const ReducedPrecision allowed(true);
  for (const DType dtype : {DType::F64, DType::F32}) {
    std::vector<double> values(160 * 10 * 10, 0.0);
    values[0] = HUGE_VAL;       // row 0
    values[11] = std::nan("");  // row 1
    const Tensor a = moved(tensor_of(values, {160, 10, 10}, dtype));
    const Tensor b =
        moved(Tensor::full({160, 10, 9}, 1, dtype).slice_scatter(Tensor::zeros({160, 10, 1}, dtype), -1, 3));
    const std::vector<double> got =
        multiply(a, b, dtype == DType::F64 ? "gemm_mma_f64" : "gemm_mma_tf32").to_doubles();
    for (size_t i = 0; i < got.size(); ++i) {
      if (i < 9 && i != 3) {
        ASSERT_EQ(got[i], HUGE_VAL) << i;
      } else if (i < 18) {
        ASSERT_TRUE(std::isnan(got[i])) << i;
      } else {
        ASSERT_EQ(got[i], 0) << i;
      }
    }
  }
}

// Where it is allowed, each operand is rounded to 11 bits; what the device cannot do so is as it was.
TEST_P(MatrixUnits, ReducedPrecisionByChoice) {
  EXPECT_FALSE(reduced_precision_f32());
  for (const auto& [batch, m, k, n] : kManyTiles) {
    const Tensor a = tensor_of(small_numbers(batch * m * k, 1, false), {batch, m, k}, DType::F32);
    const Tensor b = tensor_of(small_numbers(batch * k * n, 2, false), {batch, k, n}, DType::F32);
    const ExactProduct exact(a, b);
    for (int i = 0; i < kLayouts; ++i) {
      const Tensor x = laid(a, i), y = laid(b, kLayouts - 1 - i);
      recorder().names.clear();
      const Tensor exactly = x.matmul(y);
      EXPECT_EQ(std::ranges::count(recorder().names, "gemm_mma_tf32"), 0);
      const ReducedPrecision allowed(true);
      const Tensor c = multiply(x, y, "gemm_mma_tf32");
      if (!has_unit(DType::F32)) {
        ASSERT_EQ(c.to_bytes(), exactly.to_bytes());
        continue;
      }
      exact.expect(exactly, "f32 " + a.describe());
      if (HasFatalFailure()) return;
      const std::vector<double> got = c.to_doubles();
      double worst = 0;
      for (size_t at = 0; at < got.size(); ++at) {
        const long double rounding = (0x1p-10L + 0x1p-22L) * exact.magnitudes[at];
        const long double units = static_cast<long double>(k) * 0x1p-23L;
        const long double sums = units / (1 - units) * (exact.magnitudes[at] + rounding);
        ASSERT_LE(std::fabs(got[at] - exact.sums[at]), rounding + sums)
            << a.describe() << " of layouts " << i << " at " << at;
        worst = std::max(worst, static_cast<double>(std::fabs(got[at] - exact.sums[at])));
      }
      EXPECT_GT(worst, 0x1p-16) << "nothing was rounded";
    }
  }
}

// To nearest with ties away from zero, whatever a unit would do with the bits that it does not read.
TEST_P(MatrixUnits, ReducedPrecisionRoundsToNearest) {
  const ReducedPrecision allowed(true);
  if (!has_unit(DType::F32)) GTEST_SKIP() << "no units for f32";
  // Numbers, and what is left of each.
  const std::vector<std::pair<float, float>> cases = {{1 + 0x1p-11f, 1 + 0x1p-10f},
                                                      {1 + 0x1.8p-10f, 1 + 0x1p-9f},
                                                      {1 + 0x1.ffcp-12f, 1},
                                                      {-1 - 0x1p-11f, -1 - 0x1p-10f},
                                                      {0x1.fffffep127f, HUGE_VALF},
                                                      {0x1.ffcp127f, 0x1.ffcp127f},
                                                      {-HUGE_VALF, -HUGE_VALF},
                                                      {1 + 0x1p-23f, 1},
                                                      {std::bit_cast<float>(0x7f800001u), NAN}};
  std::vector<float> values(160 * cases.size(), 0.0f);
  for (size_t i = 0; i < cases.size(); ++i) values[i] = cases[i].first;
  const auto rows = static_cast<int64_t>(cases.size());
  ASSERT_GT(rows, 8);
  const Tensor a = moved(Tensor::from_vec(values, {160, rows, 1}, Device::cpu()));
  const Tensor b = moved(Tensor::ones({160, 1, 9}, DType::F32, Device::cpu()));
  const std::vector<float> right = multiply(a, b, "gemm_mma_tf32").to_vec<float>();
  const std::vector<float> left = multiply(b.transpose(1, 2), a.transpose(1, 2), "gemm_mma_tf32")
                                      .transpose(1, 2)
                                      .contiguous()
                                      .to_vec<float>();
  for (size_t i = 0; i < cases.size() * 9; ++i) {
    const float want = cases[i / 9].second;
    EXPECT_TRUE(std::isnan(want) ? std::isnan(right[i]) : right[i] == want) << i << ": " << right[i];
    EXPECT_TRUE(std::isnan(want) ? std::isnan(left[i]) : left[i] == want) << i << ": " << left[i];
  }
}

// Large ones of f8e4m3 and of rounded f32 on Hopper: from copies of both operands, whatever their layouts.
TEST_P(MatrixUnits, LargeProductsFromCopies) {
  if (GetParam().is_cpu() || gpu::Gpu::of(GetParam()).properties().arch != "sm_90")
    GTEST_SKIP() << "Hopper's own way, and for the speed of a GPU";
  constexpr int64_t kBatch = 2, kM = 1030, kK = 1021, kN = 1100;
  const auto run = [&](const Tensor& x, const Tensor& y, std::string_view way) {
    recorder().names.clear();
    Tensor c = x.matmul(y);
    EXPECT_NE(recorder().count(way), 0) << way;
    return c;
  };
  for (int i = 0; i < kLayouts * kLayouts; ++i) {
    const auto inputs = [&](bool whole, DType dtype) {
      return std::pair{
          laid(tensor_of(small_numbers(kBatch * kM * kK, 1, whole), {kBatch, kM, kK}, dtype), i % kLayouts),
          laid(tensor_of(small_numbers(kBatch * kK * kN, 2, whole), {kBatch, kK, kN}, dtype), i / kLayouts)};
    };
    const auto [whole_a, whole_b] = inputs(true, DType::F8E4M3);
    const Tensor want = whole_a.to_dtype(DType::F64).matmul(whole_b.to_dtype(DType::F64));
    ASSERT_EQ(run(whole_a, whole_b, "conv_wgmma_f8e4m3").to_bytes(), want.to_dtype(DType::F8E4M3).to_bytes())
        << i;

    const auto [a, b] = inputs(false, DType::F32);
    const ReducedPrecision allowed(true);
    const std::vector<double> got = run(a, b, "conv_wgmma_tf32").to_doubles();
    const Tensor wide_a = a.to_dtype(DType::F64), wide_b = b.to_dtype(DType::F64);
    const std::vector<double> sums = wide_a.matmul(wide_b).to_doubles();
    const std::vector<double> magnitudes = wide_a.abs().matmul(wide_b.abs()).to_doubles();
    const double units = static_cast<double>(kK) * 0x1p-23, gamma = units / (1 - units);
    for (size_t at = 0; at < got.size(); ++at) {
      const double rounding = (0x1p-10 + 0x1p-22) * magnitudes[at];
      ASSERT_LE(std::fabs(got[at] - sums[at]), rounding + gamma * (magnitudes[at] + rounding))
          << i << " at " << at;
    }
  }
}

// Few rows or columns, and strides that no axis is dense along, are left to other kernels.
TEST_P(MatrixUnits, OtherProductsTakeOtherKernels) {
  const ReducedPrecision allowed(true);
  for (const DType dtype : {DType::F8E4M3, DType::U8, DType::F64, DType::F32}) {
    const Tensor a = tensor_of(small_numbers(160 * 12 * 12, 1, true), {160, 12, 12}, DType::F64).abs();
    const Tensor x = moved(a.to_dtype(dtype)), gaps = test::strided_twin(x);
    const auto expect = [&](const Tensor& left, const Tensor& right, const Tensor& plain) {
      recorder().names.clear();
      const Tensor c = left.matmul(right);
      for (const std::string& name : recorder().names)
        EXPECT_EQ(name.find("mma"), std::string::npos) << name << " for " << left.describe();
      EXPECT_EQ(c.to_doubles(), plain.to_dtype(dtype).to_doubles());
    };
    expect(x.narrow(1, 0, 8), x, a.narrow(1, 0, 8).matmul(a));
    expect(x, x.narrow(2, 0, 8), a.matmul(a.narrow(2, 0, 8)));
    if (dtype == DType::F32) continue;  // Hopper has dense copies made of such operands
    expect(gaps, x, a.matmul(a));
    expect(x, gaps, a.matmul(a));
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixUnits, testing::ValuesIn(test::devices()),
                         [](const testing::TestParamInfo<Device>& info) {
                           return test::test_name(info.param.to_string());
                         });

}  // namespace
}  // namespace beeswax
