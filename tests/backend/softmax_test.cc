// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and running sums against their definitions in long double, over any axes and strides.
#include <gtest/gtest.h>

#include "backends/cpu/isa.h"
#include "core/thread_pool.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

std::vector<DType> floats() { return {DType::BF16, DType::F16, DType::F32, DType::F64, DType::F8E4M3}; }

// Unit roundoff of what a dtype computes in, times the operations behind one result of a row of n: the
// maximum, exp or square (within 2 ulp), a tree of at most 8 + 6 + ... levels, a root, products.
double relative_bound(DType dtype, int64_t n) {
  const double u = dtype == DType::F64 ? 0x1p-53 : 0x1p-24;
  return u * (16 + 8 + 6 + (n > 512 ? 14 : 0));
}

// What a result of 16 or 8 bits of softmax may be off before it is rounded: e^x is the short one
// (core/math/short.h) in the element and in the sum.
double short_exp_bound(DType dtype) { return dtype_bits(dtype) < 32 ? 0x1p-14 : 0; }

void expect_close(DType dtype, const std::vector<double>& got, const std::vector<long double>& want,
                  int64_t n, long double scale = 0, double relative = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
      continue;
    }
    const long double room = (std::fabs(want[i]) + scale) * relative_bound(dtype, n) +
                             std::fabs(want[i]) * relative +
                             test::ulp(dtype, want[i]) * (dtype_bits(dtype) < 32 ? 0.5 : 1);
    ASSERT_LE(std::fabs(got[i] - want[i]), room)
        << dtype_name(dtype) << " row of " << n << ", element " << i << ": " << got[i] << ", exactly "
        << static_cast<double>(want[i]);
  }
}

// Rows of n values each, transformed by `row`.
template <class Row>
std::vector<long double> by_rows(const std::vector<double>& values, int64_t n, Row row) {
  std::vector<long double> out;
  for (size_t begin = 0; begin < values.size(); begin += static_cast<size_t>(n)) {
    const std::vector<long double> x(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                     values.begin() + static_cast<std::ptrdiff_t>(begin) + n);
    const std::vector<long double> y = row(x);
    out.insert(out.end(), y.begin(), y.end());
  }
  return out;
}

std::vector<long double> softmax_row(const std::vector<long double>& x) {
  long double sum = 0;
  const long double most = *std::max_element(x.begin(), x.end());
  for (long double v : x) sum += std::exp(v - most);
  std::vector<long double> y;
  for (long double v : x) y.push_back(std::exp(v - most) / sum);
  return y;
}

std::vector<long double> log_softmax_row(const std::vector<long double>& x) {
  long double sum = 0;
  const long double most = *std::max_element(x.begin(), x.end());
  for (long double v : x) sum += std::exp(v - most);
  std::vector<long double> y;
  for (long double v : x) y.push_back(v - most - std::log(sum));
  return y;
}

Tensor random_tensor(const Shape& shape, DType dtype, uint32_t seed, double lo = -6, double hi = 6) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(lo, hi);
  std::vector<double> values(static_cast<size_t>(shape.elem_count()));
  for (double& v : values) v = uniform(random);
  return test::tensor_of(values, shape, dtype);
}

TEST(Softmax, RowsOfEveryLength) {
  for (DType dtype : floats())
    for (int64_t n : {1, 2, 3, 31, 63, 64, 65, 100, 127, 128, 129, 511, 512, 513, 1025, 5000}) {
      const Tensor x = random_tensor({3, n}, dtype, static_cast<uint32_t>(n));
      for (const Tensor& from : {x, test::strided_twin(x)}) {
        expect_close(dtype, from.softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, softmax_row), n, 0,
                     short_exp_bound(dtype));
        expect_close(dtype, from.log_softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, log_softmax_row), n,
                     8, short_exp_bound(dtype));
      }
    }
}

// Rows whose elements do not come in packs, by their length or by where they begin, up to lengths that GPUs
// keep in registers and beyond.
TEST(Softmax, LongRowsOfAnyPlace) {
  for (DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (int64_t n : {8190, 8193, 16'383, 16'385}) {
      const Tensor x = random_tensor({2, n}, dtype, static_cast<uint32_t>(n));
      expect_close(dtype, x.softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, softmax_row), n, 0,
                   short_exp_bound(dtype));
    }
  for (DType dtype : floats())
    for (int64_t n : {8, 64, 128, 136, 520, 1024})
      for (int64_t start : {1, 3}) {
        const Tensor x = random_tensor({5, n + 8}, dtype, static_cast<uint32_t>(n)).narrow(1, start, n);
        EXPECT_EQ(x.softmax(-1).to_bytes(), x.contiguous().softmax(-1).to_bytes())
            << dtype_name(dtype) << " " << n << " from " << start;
        EXPECT_EQ(x.layer_norm().to_bytes(), x.contiguous().layer_norm().to_bytes())
            << dtype_name(dtype) << " " << n << " from " << start;
        EXPECT_EQ(x.rms_norm().to_bytes(), x.contiguous().rms_norm().to_bytes())
            << dtype_name(dtype) << " " << n << " from " << start;
      }
}

// Rows of so many chunks that those of a block do not fill its last wave, or fill it, and a block that has
// not all its rows: the CPU's bits.
TEST(Softmax, RowsOfAnyNumberOfChunks) {
  for (DType dtype : {DType::F16, DType::F32})
    for (int64_t chunks : {2, 3, 5, 6, 7, 9, 10, 11, 13, 17, 33}) {
      const int64_t n = chunks * 512 - 8;
      const Tensor x = random_tensor({5, n}, dtype, static_cast<uint32_t>(n));
      const Tensor weight = random_tensor({n}, dtype, 2);
      const Tensor cpu = x.to_device(Device::cpu());
      EXPECT_EQ(x.softmax(-1).to_bytes(), cpu.softmax(-1).to_bytes()) << dtype_name(dtype) << " " << n;
      EXPECT_EQ(x.rms_norm(weight).to_bytes(), cpu.rms_norm(weight.to_device(Device::cpu())).to_bytes())
          << dtype_name(dtype) << " " << n;
    }
}

// Rows, weights and biases that begin anywhere, and end where their memory does: the CPU's bits.
TEST(Softmax, NormsOfAnyPlaces) {
  const auto anywhere = [](int64_t rows, int64_t n, int64_t start, DType dtype) {
    return random_tensor({rows, n + start}, dtype, static_cast<uint32_t>(n + start)).narrow(1, start, n);
  };
  for (DType dtype : floats())
    for (int64_t n : {5, 100, 128, 129, 255, 511, 512, 513, 514, 1023, 1024, 1537})
      for (int64_t start : {0, 1, 2, 3}) {
        const Tensor x = anywhere(3, n, start, dtype);
        const Tensor weight = anywhere(1, n, 3 - start, dtype).squeeze(0);
        const Tensor bias = anywhere(1, n, (start + 1) % 4, dtype).squeeze(0);
        const Tensor cpu = x.to_device(Device::cpu()), cpu_weight = weight.to_device(Device::cpu());
        EXPECT_EQ(x.rms_norm(weight).to_bytes(), cpu.rms_norm(cpu_weight).to_bytes())
            << dtype_name(dtype) << " " << n << " from " << start;
        EXPECT_EQ(x.layer_norm(weight, bias).to_bytes(),
                  cpu.layer_norm(cpu_weight, bias.to_device(Device::cpu())).to_bytes())
            << dtype_name(dtype) << " " << n << " from " << start;
      }
}

// Several blocks of rows, of which the last one is smaller.
TEST(Softmax, ManyRows) {
  for (DType dtype : floats())
    for (int64_t n : {1, 3, 63, 64, 65, 100, 128, 129, 700, 1500}) {
      const Tensor x = random_tensor({150, n}, dtype, static_cast<uint32_t>(n));
      expect_close(dtype, x.softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, softmax_row), n, 0,
                   short_exp_bound(dtype));
      expect_close(dtype, x.log_softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, log_softmax_row), n, 8,
                   short_exp_bound(dtype));
    }
}

// Threads share long rows, and rows that are fewer than they are: the results are those of one thread.
class SharedRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::on_cpu()) GTEST_SKIP() << "threads of the CPU";
  }
  ~SharedRows() override { ThreadPool::global().set_threads(before_); }

  static void expect_same(const Tensor& x, const std::string& about) {
    ThreadPool::global().set_threads(1);
    const std::vector<std::byte> want = x.softmax(-1).to_bytes(), want_log = x.log_softmax(-1).to_bytes();
    for (int threads : {2, 3, 7}) {
      ThreadPool::global().set_threads(threads);
      EXPECT_EQ(x.softmax(-1).to_bytes(), want) << about << " " << threads << " threads";
      EXPECT_EQ(x.log_softmax(-1).to_bytes(), want_log) << about << " logarithms, " << threads << " threads";
    }
  }

 private:
  int before_ = ThreadPool::global().threads();
};

TEST_F(SharedRows, MatchTheDefinition) {
  ThreadPool::global().set_threads(3);
  for (DType dtype : {DType::F32, DType::F64, DType::F16})
    for (int64_t n : {100'003, 200'000}) {
      const Tensor x = random_tensor({2, n}, dtype, 8);
      expect_close(dtype, x.softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, softmax_row), n, 0,
                   short_exp_bound(dtype));
      expect_close(dtype, x.log_softmax(-1).to_doubles(), by_rows(x.to_doubles(), n, log_softmax_row), n, 8,
                   short_exp_bound(dtype));
    }
}

TEST_F(SharedRows, HaveTheBitsOfOneThread) {
  for (DType dtype : floats())
    for (int64_t n : {32'767, 32'768, 65'537, 131'072})
      for (int64_t rows : {1, 5})
        expect_same(
            random_tensor({rows, n}, dtype, static_cast<uint32_t>(n + rows)),
            std::string(dtype_name(dtype)) + " " + std::to_string(rows) + " rows of " + std::to_string(n));
}

TEST_F(SharedRows, PastTheCaches) {
  for (int64_t n : {131'072, 131'077}) expect_same(random_tensor({3, n}, DType::F32, 9).repeat({30, 1}), "");
}

TEST_F(SharedRows, InfinitiesAndNaNInAnyPart) {
  constexpr int64_t kN = 150'000;
  for (double special : {HUGE_VAL, -HUGE_VAL, double(NAN)})
    for (const size_t at : {size_t{0}, size_t{70'000}, size_t{kN - 1}}) {
      std::vector<double> values(3 * kN);
      values[kN + at] = special;
      const Tensor x = test::tensor_of(values, {3, kN}, DType::F32);
      expect_same(x, std::to_string(special));
      const std::vector<double> got = x.softmax(-1).to_doubles();
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(std::isnan(got[i]), i / kN == 1 && special != -HUGE_VAL) << special << " " << i;
    }
}

// Results past the CPU's caches, or of many blocks of a GPU, are those of a few rows or columns.
TEST(RowBits, DoNotDependOnTheNumberOfRows) {
  const int64_t bytes = test::on_software_gpu() ? int64_t{2} << 20 : int64_t{10} << 20;
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (int64_t n : {500, 512, 1001, 5003}) {
      const int64_t rows = bytes / n / static_cast<int64_t>(dtype_bits(dtype) / 8);
      const Tensor some = random_tensor({7, n}, dtype, 6);
      const Tensor x = some.repeat({rows / 7, 1});
      const Tensor w = random_tensor({n}, dtype, 5);
      const auto expect_repeats = [&](const Tensor& got, const Tensor& want) {
        EXPECT_EQ(got.to_bytes(), want.repeat({rows / 7, 1}).to_bytes()) << dtype_name(dtype) << " " << n;
      };
      expect_repeats(x.softmax(-1), some.softmax(-1));
      expect_repeats(x.log_softmax(-1), some.log_softmax(-1));
      expect_repeats(x.rms_norm(w), some.rms_norm(w));
      expect_repeats(x.layer_norm(w, w), some.layer_norm(w, w));
      const Tensor columns = some.t().contiguous().reshape({1, n, 7}).repeat({1, 1, 10});
      EXPECT_EQ(columns.repeat({rows / 70, 1, 1}).softmax(1).to_bytes(),
                columns.softmax(1).repeat({rows / 70, 1, 1}).to_bytes())
          << dtype_name(dtype) << " " << n;
    }
}

// Columns stay where they are if the backend can; their bits are those of rows.
TEST(Softmax, ColumnsHaveTheBitsOfRows) {
  const auto expect_rows = [](const Tensor& x) {
    const Tensor rows = x.transpose(1, 2).contiguous();
    EXPECT_EQ(x.softmax(1).to_bytes(), rows.softmax(-1).transpose(1, 2).to_bytes())
        << dtype_name(x.dtype()) << " " << x.shape().to_string();
    EXPECT_EQ(x.log_softmax(1).to_bytes(), rows.log_softmax(-1).transpose(1, 2).to_bytes())
        << dtype_name(x.dtype()) << " " << x.shape().to_string();
  };
  for (DType dtype : floats()) {
    for (int64_t n : {1, 2, 63, 64, 65, 130, 513})
      for (int64_t inner : {1, 15, 16, 17, 64, 65, 100, 128})
        expect_rows(random_tensor({2, n, inner}, dtype, static_cast<uint32_t>(n + inner)));
    for (const Shape& tall : {Shape{1, 5000, 128}, Shape{3, 2500, 20}})
      expect_rows(random_tensor(tall, dtype, 3));
    std::vector<double> values(static_cast<size_t>(2 * 70 * 64));
    for (size_t c = 0; c < 64; ++c)
      values[c + 64 * c] = std::vector<double>{HUGE_VAL, -HUGE_VAL, double(NAN), -double(NAN), 7}[c % 5];
    const std::vector<double> got = test::tensor_of(values, {2, 70, 64}, dtype).softmax(1).to_doubles();
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t c = i % 64;
      EXPECT_EQ(std::isnan(got[i]),
                i < 70 * 64 && c % 5 != 1 && c % 5 != 4 && !(dtype == DType::F8E4M3 && c % 5 == 0))
          << dtype_name(dtype) << " " << i;
    }
  }
}

TEST(Softmax, AnyAxes) {
  const Tensor x = random_tensor({4, 5, 6, 7}, DType::F32, 9);
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {1, 3}, {0, 1, 2, 3}, {3, 1}}) {
    const Tensor got = x.softmax(Axes(std::span<const int>(axes)));
    ASSERT_EQ(got.shape(), x.shape());
    // The same numbers as rows: reduced axes last.
    std::vector<int> order;
    std::vector<int> reduced = axes;
    std::sort(reduced.begin(), reduced.end());
    int64_t n = 1;
    for (int axis = 0; axis < 4; ++axis)
      if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) order.push_back(axis);
    for (int axis : reduced) {
      order.push_back(axis);
      n *= x.dim(axis);
    }
    const Tensor rows = x.permute(std::span<const int>(order)).contiguous();
    expect_close(DType::F32, got.permute(std::span<const int>(order)).to_doubles(),
                 by_rows(rows.to_doubles(), n, softmax_row), n);
    EXPECT_EQ(got.permute(std::span<const int>(order)).to_bytes(),
              rows.reshape({-1, n}).softmax(-1).to_bytes());
  }
  EXPECT_EQ(x.softmax(Axes({})).to_vec<float>(),
            std::vector<float>(840, 1.0f));  // each element is its own row
  EXPECT_ERROR(x.softmax({1, -3}), DuplicateDim, "[softmax]");
  EXPECT_ERROR(Tensor::ones({2}, DType::I32).softmax(0), UnsupportedDType, "accepted dtypes: bf16");
  EXPECT_EQ(Tensor::zeros({0, 3}, DType::F32).softmax(-1).shape(), (Shape{0, 3}));
  EXPECT_EQ(Tensor::zeros({3, 0}, DType::F32).softmax(-1).shape(), (Shape{3, 0}));
}

TEST(Softmax, InfinitiesAndNaN) {
  const float inf = HUGE_VALF;
  const auto row = [](const std::vector<float>& v) { return Tensor::from_vec(v, {3}); };
  EXPECT_EQ(row({-inf, 0, 0}).softmax(0).to_doubles(), (std::vector<double>{0, 0.5, 0.5}));
  for (const Tensor& x : {row({-inf, -inf, -inf}), row({inf, 0, 1}), row({NAN, 0, 1}), row({0, 1, NAN})})
    for (double v : x.softmax(0).to_doubles()) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(row({1e38f, 1e38f, -1e38f}).softmax(0).to_doubles(), (std::vector<double>{0.5, 0.5, 0}));
  for (DType dtype : {DType::BF16, DType::F16, DType::F32, DType::F64})
    for (const size_t at : {size_t{0}, size_t{70}, size_t{699}})
      for (double special : {HUGE_VAL, double(NAN), -double(NAN)}) {
        std::vector<double> values(3 * 700);
        values[700 + at] = special;
        const std::vector<double> got = test::tensor_of(values, {3, 700}, dtype).softmax(-1).to_doubles();
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_EQ(std::isnan(got[i]), i / 700 == 1) << special << " " << i;
      }
}

TEST(Norms, MatchTheirDefinitions) {
  for (DType dtype : floats())
    for (int64_t n : {1, 5, 64, 101, 131, 513, 2048, 8193}) {
      const double eps = 1e-5;
      const Tensor x = random_tensor({3, n}, dtype, static_cast<uint32_t>(n), -3, 5);
      const Tensor w = random_tensor({n}, dtype, 2, 0.5, 2);
      const Tensor b = random_tensor({n}, dtype, 3, -1, 1);
      const std::vector<double> wv = w.to_doubles();
      const std::vector<double> bv = b.to_doubles();
      const auto e = dtype == DType::F64 ? static_cast<long double>(eps) : static_cast<float>(eps);
      const auto rms = by_rows(x.to_doubles(), n, [&](const std::vector<long double>& row) {
        long double sum = 0;
        for (long double v : row) sum += v * v;
        std::vector<long double> y;
        for (size_t i = 0; i < row.size(); ++i)
          y.push_back(row[i] / std::sqrt(sum / static_cast<long double>(n) + e) * wv[i]);
        return y;
      });
      const auto layer = by_rows(x.to_doubles(), n, [&](const std::vector<long double>& row) {
        long double mean = 0;
        long double var = 0;
        for (long double v : row) mean += v / static_cast<long double>(n);
        for (long double v : row) var += (v - mean) * (v - mean) / static_cast<long double>(n);
        std::vector<long double> y;
        for (size_t i = 0; i < row.size(); ++i)
          y.push_back((row[i] - mean) / std::sqrt(var + e) * wv[i] + bv[i]);
        return y;
      });
      for (const Tensor& from : {x, test::strided_twin(x)}) {
        expect_close(dtype, from.rms_norm(w, eps).to_doubles(), rms, n);
        // The mean's error is divided by the deviation: it counts on the scale of 5 / sqrt(eps) for one
        // element.
        expect_close(dtype, from.layer_norm(w, b, eps).to_doubles(), layer, n, n == 1 ? 3200 : 16);
      }
    }
}

// E[x^2] - mean^2 would lose everything here.
TEST(Norms, LayerNormSurvivesALargeMean) {
  const Tensor x = Tensor::from_vec(std::vector<float>{10000, 10001, 10002, 10003}, {1, 4});
  const Tensor ones = Tensor::ones({4}, DType::F32);
  const std::vector<double> got = x.layer_norm(ones, Tensor(), 0).to_doubles();
  const double unit = 1 / std::sqrt(1.25);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], (static_cast<double>(i) - 1.5) * unit, 1e-6);
}

TEST(Norms, NeedNoWeight) {
  for (DType dtype : floats()) {
    const Tensor x = random_tensor({3, 2, 40}, dtype, 1, -3, 5);
    const Tensor ones = Tensor::ones({40}, dtype), b = random_tensor({2, 40}, dtype, 2, -1, 1);
    EXPECT_EQ(x.rms_norm().to_bytes(), x.rms_norm(ones).to_bytes());
    EXPECT_EQ(x.rms_norm({}, 0.5).to_bytes(), x.rms_norm(ones, 0.5).to_bytes());
    EXPECT_EQ(x.layer_norm().to_bytes(), x.layer_norm(ones, Tensor()).to_bytes());
    EXPECT_EQ(x.layer_norm({}, b).to_bytes(), x.layer_norm(Tensor::ones({2, 40}, dtype), b).to_bytes());
  }
  EXPECT_ERROR(Tensor::ones({}, DType::F32).rms_norm(), DimOutOfRange, "[rms_norm]");
  EXPECT_ERROR(Tensor::ones({2, 3}, DType::F32).layer_norm({}, Tensor::ones({2}, DType::F32)), ShapeMismatch,
               "[layer_norm] the bias [2] f32 cpu must have the last axes of [2, 3] f32 cpu");
}

TEST(Norms, SayWhatTheyNeed) {
  const Tensor x = Tensor::ones({2, 3}, DType::F32);
  EXPECT_ERROR(x.rms_norm(Tensor::ones({2}, DType::F32)), ShapeMismatch,
               "[rms_norm] the weight [2] f32 cpu must have the last axes of [2, 3]");
  EXPECT_ERROR(x.layer_norm(Tensor::ones({3}, DType::F32), Tensor::ones({1}, DType::F32)), ShapeMismatch,
               "bias [1]");
  EXPECT_ERROR(x.rms_norm(Tensor::ones({3}, DType::F16)), DTypeMismatch, "[rms_norm]");
  EXPECT_EQ(x.rms_norm(Tensor::ones({2, 3}, DType::F32)).shape(), (Shape{2, 3}));
}

TEST(Cumsum, EveryDTypeAndAxis) {
  for (DType dtype : test::arithmetic_dtypes()) {
    const std::vector<int64_t> values = test::int_inputs(DType::U8, 7 * 600 * 3, 0, 2, 5);
    std::vector<int64_t> small;
    for (int64_t v : values) small.push_back(v % 3);
    const Tensor x = test::tensor_of(small, {7, 600, 3}, dtype);
    for (int axis : {0, 1, 2, -1})
      for (const Tensor& from : {x, test::strided_twin(x)}) {
        const Tensor got = from.cumsum(axis);
        const int at = axis < 0 ? axis + 3 : axis;
        const int64_t stride = std::vector<int64_t>{1800, 3, 1}[static_cast<size_t>(at)];
        std::vector<int64_t> want = small;
        for (size_t i = 0; i < want.size(); ++i)
          if (static_cast<int64_t>(i) / stride % x.dim(at) != 0)
            want[i] += want[i - static_cast<size_t>(stride)];
        // Narrow dtypes round (floats) or wrap (integers) each sum; the running sum itself stays exact here.
        EXPECT_EQ(
            got.to_bytes(),
            dtype == DType::U8
                ? Tensor::from_vec(std::vector<uint8_t>(want.begin(), want.end()), {7, 600, 3}).to_bytes()
                : test::tensor_of(want, {7, 600, 3}, dtype).to_bytes())
            << dtype_name(dtype) << " axis " << axis;
      }
  }
  EXPECT_EQ(Tensor::zeros({0, 2}, DType::F32).cumsum(0).shape(), (Shape{0, 2}));
  EXPECT_ERROR(Tensor::zeros({2}, DType::F32).cumsum(1), DimOutOfRange, "[cumsum] axis 1");
}

TEST(RowBits, DoNotDependOnLevelOrThreads) {
  for (const DType dtype : floats())
    for (const Shape& shape : {Shape{37, 1500}, Shape{5, 67}}) {
      const int64_t n = shape[1];
      const Tensor x = random_tensor(shape, dtype, 4);
      const Tensor w = random_tensor({n}, dtype, 5);
      std::vector<std::vector<std::byte>> first;
      at_every_level([&](cpu::Isa level) {
        with_threads({1, 2, 3}, [&](int threads) {
          const std::vector<std::vector<std::byte>> got = {
              x.softmax(-1).to_bytes(),     x.softmax(0).to_bytes(),
              x.log_softmax(-1).to_bytes(), x.log_softmax({0, 1}).to_bytes(),
              x.rms_norm(w).to_bytes(),     x.layer_norm(w, w).to_bytes(),
              x.rms_norm().to_bytes(),      x.layer_norm().to_bytes(),
              x.cumsum(0).to_bytes(),       x.cumsum(1).to_bytes()};
          if (first.empty()) first = got;
          for (size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(got[i], first[i]) << dtype_name(dtype) << " " << n << " operation " << i << " level "
                                        << cpu::isa_name(level) << " threads " << threads;
        });
      });
    }
}

}  // namespace
}  // namespace beeswax
