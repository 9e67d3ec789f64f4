// SPDX-License-Identifier: Apache-2.0
// QTensor on every device: bytes in and out, products against double, and what is refused.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "backends/cpu/backend.h"
#include "beeswax/qtensor.h"
#include "core/os/cpu.h"
#include "core/thread_pool.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/quant_reference.h"

namespace beeswax {
namespace {

std::vector<float> normal_values(int64_t count, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<size_t>(count));
  for (float& value : out) value = normal(random) * scale;
  return out;
}

std::vector<uint8_t> raw(const QTensor& x) {
  const std::vector<std::byte> bytes = x.bytes();
  std::vector<uint8_t> out(bytes.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class Quantized : public testing::TestWithParam<std::tuple<Device, QuantType>> {
 protected:
  Device device() const { return std::get<0>(GetParam()); }
  bool on_cpu() const { return device().is_cpu(); }
  QuantType type() const { return std::get<1>(GetParam()); }
  int64_t block() const { return quant_traits(type()).block_elements; }
  Tensor tensor(const std::vector<float>& values, const Shape& shape) const {
    return Tensor::from_vec(values, shape, device());
  }
  QTensor weight(int64_t n, int64_t k, uint32_t seed) const {
    return QTensor::quantize(tensor(normal_values(n * k, seed, 0.1f), {n, k}), type());
  }
};

TEST_P(Quantized, BytesComeBackAndDecode) {
  const QTensor q = weight(5, 3 * block(), 1);
  EXPECT_EQ(q.storage_bytes(), quant_bytes(type(), static_cast<size_t>(q.elem_count())));
  const QTensor again = QTensor::from_bytes(q.bytes(), q.shape(), type(), device());
  const std::vector<float> values = again.dequantize().to_vec<float>();
  const std::vector<double> expected = reference::dequantize(type(), raw(q));
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(expected[i]));
  EXPECT_EQ(again.dequantize().shape(), (Shape{5, 3 * block()}));
}

TEST_P(Quantized, OtherDTypesAreTheValuesRounded) {
  const QTensor q = weight(9, 11 * block(), 2);
  const Tensor values = q.dequantize();
  for (const DType dtype : {DType::F16, DType::BF16, DType::F64}) {
    const Tensor direct = q.dequantize(dtype);
    EXPECT_EQ(direct.dtype(), dtype);
    EXPECT_EQ(direct.to_bytes(), values.to_dtype(dtype).to_bytes()) << dtype_name(dtype);
  }
  EXPECT_EQ(q.dequantize_f16().dtype(), DType::F16);
}

// |result - exact| is at most what quantizing the activations costs: half a step of 1/127 of a block's
// largest.
double activation_bound(QuantType type, const double* w, const float* x, int64_t k) {
  const int64_t block = quant_traits(type).block_elements;
  double bound = 0, magnitude = 0;
  for (int64_t b = 0; b < k; b += block) {
    double largest = 0;
    for (int64_t i = b; i < b + block; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
    for (int64_t i = b; i < b + block; ++i) {
      bound += std::abs(w[i]) * largest / 254 * 1.0001;
      magnitude += std::abs(w[i]) * largest;
    }
  }
  return bound + magnitude * 1e-5;
}

TEST_P(Quantized, ProductsAreWithinTheBound) {
  const auto check = [&](int64_t m, int64_t n, int64_t k) {
    const QTensor q = weight(n, k, 3);
    const std::vector<double> w = reference::dequantize(type(), raw(q));
    const std::vector<float> x = normal_values(m * k, 4);
    const std::vector<float> y = q.forward(tensor(x, {m, k})).to_vec<float>();
    ASSERT_EQ(y.size(), static_cast<size_t>(m * n));
    for (int64_t a = 0; a < m; ++a)
      for (int64_t r = 0; r < n; ++r) {
        double exact = 0;
        for (int64_t i = 0; i < k; ++i)
          exact += w[static_cast<size_t>(r * k + i)] * static_cast<double>(x[static_cast<size_t>(a * k + i)]);
        ASSERT_NEAR(y[static_cast<size_t>(a * n + r)], exact,
                    activation_bound(type(), w.data() + r * k, x.data() + a * k, k))
            << "m " << m << " n " << n << " k " << k;
      }
  };
  for (const int64_t k : {block(), 5 * block(), 9 * block()})
    for (const int64_t n : {1, 7, 16, 37})
      for (const int64_t m : {1, 2, 3, 4, 5, 8, 9, 70}) {
        check(m, n, k);
        if (HasFatalFailure()) return;
      }
}

// Weights that some GPUs widen first where there are many rows. Every 37th result is looked at.
TEST_P(Quantized, ProductsOfLargeWeightsAreWithinTheBound) {
  if (device().kind() == DeviceKind::Emu) GTEST_SKIP() << "no such weights there, and too many operations";
  const bool on_cpu = device().kind() == DeviceKind::Cpu;  // without vectors the others' size takes long
  const int64_t m = on_cpu ? 13 : 40, n = on_cpu ? 257 : 2049, k = 2048, different = 61;
  const std::vector<uint8_t> some = raw(weight(different, k, 3));
  const std::vector<double> w = reference::dequantize(type(), some);
  std::vector<std::byte> all;
  for (size_t at = 0, row = some.size() / different; all.size() < row * static_cast<size_t>(n);
       at = (at + row) % some.size()) {
    const auto* bytes = reinterpret_cast<const std::byte*>(some.data() + at);
    all.insert(all.end(), bytes, bytes + row);
  }
  const QTensor q = QTensor::from_bytes(all, {n, k}, type(), device());
  const std::vector<float> x = normal_values(m * k, 4);
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const Tensor input = tensor(x, {m, k}).to_dtype(dtype);
    const std::vector<float> in = input.to_dtype(DType::F32).to_vec<float>();
    const std::vector<float> y = q.forward(input).to_dtype(DType::F32).to_vec<float>();
    for (int64_t i = 0; i < m * n; i += 37) {
      const double* row = w.data() + i % n % different * k;
      const float* values = in.data() + i / n * k;
      double exact = 0;
      for (int64_t p = 0; p < k; ++p) exact += row[p] * static_cast<double>(values[p]);
      double bound = activation_bound(type(), row, values, k);
      if (dtype == DType::BF16) bound += (std::abs(exact) + bound) * 0x1p-8;
      ASSERT_NEAR(y[static_cast<size_t>(i)], exact, bound) << i;
    }
  }
}

TEST_P(Quantized, ARowDoesNotDependOnItsBatchMates) {
  const int64_t k = 45 * block(), n = 41;
  const QTensor q = weight(n, k, 5);
  for (const int64_t m : {5, 13, 70}) {
    const Tensor x = tensor(normal_values(m * k, 6), {m, k});
    const std::vector<float> all = q.forward(x).to_vec<float>();
    for (int64_t a = 0; a < m; a += 3) {
      const std::vector<float> alone = q.forward(x.narrow(0, a, 1)).to_vec<float>();
      EXPECT_TRUE(same_bits(alone, {all.begin() + a * n, all.begin() + (a + 1) * n})) << a << " of " << m;
    }
  }
}

// Of one format twice, of others in blocks of the same size and of the other size, of one row and of none.
TEST_P(Quantized, ProductsTogetherAreThoseOfEachAlone) {
  const int64_t k = 1280;
  const auto made = [&](QuantType t, int64_t n, uint32_t seed) {
    return QTensor::quantize(tensor(normal_values(n * k, seed, 0.1f), {n, k}), t);
  };
  const std::vector<QTensor> weights = {made(type(), 41, 30),          made(QuantType::Q8_0, 70, 31),
                                        made(type(), 1, 32),           made(QuantType::Q6_K, 33, 33),
                                        made(QuantType::Q4_1, 16, 34), made(type(), 0, 35)};
  std::vector<const QTensor*> all;
  for (const QTensor& weight : weights) all.push_back(&weight);
  for (const int64_t m : {1, 3, 4, 40}) {
    for (const DType dtype : {DType::F32, DType::F16}) {
      const Tensor x = tensor(normal_values(m * k, 36), {m, 1, k}).to_dtype(dtype);
      const std::vector<Tensor> together = QTensor::forward_all(all, x);
      ASSERT_EQ(together.size(), weights.size());
      for (size_t i = 0; i < weights.size(); ++i) {
        const Tensor alone = weights[i].forward(x);
        EXPECT_EQ(together[i].shape(), alone.shape());
        EXPECT_EQ(together[i].to_bytes(), alone.to_bytes()) << i << " of " << m;
      }
    }
  }
  EXPECT_TRUE(QTensor::forward_all({}, tensor({1, 2}, {2})).empty());
  const QTensor longer = QTensor::quantize(tensor(normal_values(2 * k, 37), {1, 2 * k}), type());
  const QTensor* const different[] = {all[0], &longer};
  const std::vector<const QTensor*> missing = {nullptr};
  EXPECT_ERROR(QTensor::forward_all(missing, tensor({1, 2}, {2})), InvalidArgument,
               "[quantized_matmul] weight 0 of 1 is a null pointer");
  EXPECT_ERROR(QTensor::forward_all(different, tensor(normal_values(k, 38), {k})), ShapeMismatch,
               "x's last axis must be 2560");
}

// Few rows and many, whole panels and a part of one, other types and shapes on the two sides.
TEST_P(Quantized, GatedProductsAreTheOperations) {
  const int64_t k = 3 * block();
  const auto composed = [](Activation activation, const Tensor& gate, const Tensor& factor) {
    return activation == Activation::Silu ? gate.swiglu(factor) : gate.geglu(factor);
  };
  const auto expect_operations = [&](const QTensor& gate, const QTensor& factor, const Tensor& x) {
    for (const Activation activation : {Activation::Silu, Activation::GeluTanh}) {
      const Tensor got = QTensor::forward_gated(activation, gate, factor, x);
      const Tensor want = composed(activation, gate.forward(x), factor.forward(x));
      ASSERT_EQ(got.shape(), want.shape());
      ASSERT_EQ(got.dtype(), want.dtype());
      EXPECT_EQ(got.to_bytes(), want.to_bytes()) << gate.describe() << " times " << x.describe();
    }
  };
  // With one thread for 128 rows of weights the CPU makes both at once.
  ThreadPool& pool = ThreadPool::global();
  const int before = pool.threads();
  for (const int64_t n : {1, 31, 127, 128, 165, 300}) {
    pool.set_threads(n > 256 ? 2 : 1);
    const QTensor gate = weight(n, k, 40), factor = weight(n, k, 41);
    for (const int64_t m : {1, 3, 4, 7, 64, 131}) {
      // Where the two are not made at once, few rows show as much.
      if (m > 7 && !backend_for(device()).gates(type(), DType::F32, m, n, k)) continue;
      expect_operations(gate, factor, tensor(normal_values(m * k, 42), {m, k}));
    }
    expect_operations(gate, factor, tensor(normal_values(6 * k, 43), {2, 3, k}).to_dtype(DType::BF16));
    expect_operations(gate, factor, tensor(normal_values(6 * k, 44), {k, 6}).t());
  }
  pool.set_threads(before);
  const QTensor gate = weight(40, k, 45);
  const Tensor x = tensor(normal_values(5 * k, 46), {5, k});
  const QuantType other = block() == 256 ? QuantType::Q8_0 : QuantType::Q4_0;
  if (other != type())
    expect_operations(gate, QTensor::quantize(tensor(normal_values(40 * k, 47, 0.1f), {40, k}), other), x);
  expect_operations(gate, gate, x);
  expect_operations(gate, weight(1, k, 48), x);  // which broadcasts
  EXPECT_EQ(QTensor::forward_gated(Activation::Silu, gate, gate, x.narrow(0, 0, 0)).shape(), (Shape{0, 40}));
  EXPECT_ERROR(QTensor::forward_gated(Activation::Silu, gate, weight(40, 2 * k, 49), x), ShapeMismatch,
               "x's last axis must be " + std::to_string(2 * k));
}

TEST_P(Quantized, ADeviceGivesTheBlocksAndValuesOfTheCpu) {
  if (on_cpu()) return;
  const int64_t k = 7 * block(), n = 9;
  std::vector<float> values = normal_values(n * k, 20);
  for (int64_t i = 0; i < k; ++i) {
    const auto at = static_cast<size_t>(i);
    values[at] *= i / block() % 2 == 0 ? 0x1p-20f : 0x1p+14f;  // small and large scales
    values[static_cast<size_t>(k) + at] = std::abs(values[static_cast<size_t>(k) + at]);  // one sign
    if (i < block()) values[static_cast<size_t>(2 * k) + at] = 0;
    if (i % block() < 20) values[static_cast<size_t>(3 * k) + at] = 1;
  }
  values[static_cast<size_t>(4 * k)] = NAN;
  values[static_cast<size_t>(4 * k + block() + 1)] = -INFINITY;
  std::vector<float> weights = normal_values(k, 21);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = i % 5 == 0 ? 0 : weights[i] * weights[i];
  const Tensor here = Tensor::from_vec(values, {n, k}), there = tensor(values, {n, k});
  const QTensor on_host = QTensor::quantize(here, type());
  EXPECT_EQ(QTensor::quantize(there, type()).bytes(), on_host.bytes());
  if (quant_traits(type()).imatrix) {
    EXPECT_EQ(QTensor::quantize_imatrix(there, type(), weights).bytes(),
              QTensor::quantize_imatrix(here, type(), weights).bytes());
  }
  const Tensor decoded = on_host.dequantize(), decoded_there = on_host.to_device(device()).dequantize();
  for (const int64_t row : {0, 1, 2, 3, 5, 6, 7, 8})
    EXPECT_EQ(decoded_there.get(row).to_bytes(), decoded.get(row).to_bytes()) << row;
}

TEST_P(Quantized, ThreadsDoNotChangeResults) {
  ThreadPool& pool = ThreadPool::global();
  const int before = pool.threads();
  const int64_t k = 4 * block(), n = 300;
  const std::vector<float> values = normal_values(n * k, 7), x = normal_values(20 * k, 8);
  std::vector<std::vector<float>> one, many;
  std::vector<std::byte> bytes;
  for (const int threads : {1, 2, 3}) {
    pool.set_threads(threads);
    const QTensor q = QTensor::quantize(tensor(values, {n, k}), type());
    if (threads == 1) bytes = q.bytes();
    EXPECT_EQ(q.bytes(), bytes) << threads;
    one.push_back(q.forward(tensor({x.begin(), x.begin() + k}, {k})).to_vec<float>());
    many.push_back(q.forward(tensor(x, {20, k})).to_vec<float>());
    EXPECT_TRUE(same_bits(one.back(), one.front())) << threads;
    EXPECT_TRUE(same_bits(many.back(), many.front())) << threads;
  }
  pool.set_threads(before);
}

TEST_P(Quantized, AnyRankStrideAndHalfDType) {
  const int64_t k = 2 * block(), n = 21;
  const QTensor q = weight(n, k, 9);
  const Tensor x = tensor(normal_values(6 * k, 10), {k, 6});  // columns are the rows of the product
  const Tensor rows = x.t();
  const std::vector<float> expected = q.forward(rows.contiguous()).to_vec<float>();
  EXPECT_TRUE(same_bits(q.forward(rows).to_vec<float>(), expected));
  const Tensor deep = q.forward(rows.contiguous().reshape({1, 2, 3, k}));
  EXPECT_EQ(deep.shape(), (Shape{1, 2, 3, n}));
  EXPECT_TRUE(same_bits(deep.to_vec<float>(), expected));
  EXPECT_EQ(q.forward(rows.contiguous().get(0)).shape(), (Shape{n}));
  for (const DType dtype : {DType::F16, DType::BF16}) {
    for (const int64_t m : {1, 6}) {
      const Tensor half = rows.narrow(0, 0, m).to_dtype(dtype);
      const Tensor y = q.forward(half);
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_EQ(y.to_bytes(), q.forward(half.to_dtype(DType::F32)).to_dtype(dtype).to_bytes());
    }
  }
}

TEST_P(Quantized, EmbeddingTakesRows) {
  const int64_t k = 2 * block();
  const QTensor q = weight(6, k, 19);
  const std::vector<float> all = q.dequantize().to_vec<float>();
  const std::vector<int64_t> ids = {5, 0, 3, 3, INT64_MAX, 1};  // INT64_MAX: skip
  const Tensor rows = q.embedding(Tensor::from_vec(ids, {2, 3}, device()));
  EXPECT_EQ(rows.shape(), (Shape{2, 3, k}));
  const std::vector<float> values = rows.to_vec<float>();
  for (size_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < k; ++c)
      ASSERT_EQ(values[i * static_cast<size_t>(k) + static_cast<size_t>(c)],
                ids[i] == INT64_MAX ? 0.0f : all[static_cast<size_t>(ids[i] * k + c)]);
  const std::vector<uint32_t> beyond = {2, 6};
  EXPECT_ERROR(q.embedding(Tensor::from_vec(beyond, {2}, device())), IndexOutOfRange,
               on_cpu() ? "id 6 at [1]" : "index 6 at element 1");
  if (on_cpu())  // a GPU tells later, when nobody knows what the ids were for
    EXPECT_ERROR(q.embedding(Tensor::from_vec(beyond, {2}, device())), IndexOutOfRange,
                 "embedding of ids [2] u32 cpu in " + q.describe());
  EXPECT_ERROR(
      q.embedding(Tensor::zeros({1, 1, 1, 1, 1, 1, 1, 1}, DType::U8, device())), InvalidArgument,
      "[embedding] ids [1, 1, 1, 1, 1, 1, 1, 1] u8 " + device().to_string() + " have 8 axes already");
  EXPECT_ERROR(q.embedding(Tensor::zeros({2}, DType::F32, device())), UnsupportedDType, "[embedding]");
  EXPECT_ERROR(QTensor::quantize(Tensor::zeros({2, 2, block()}, DType::F32, device()), type())
                   .embedding(Tensor::zeros({2}, DType::U32, device())),
               ShapeMismatch, "[rows, columns]");
  EXPECT_EQ(q.embedding(Tensor::zeros({0}, DType::U32, device())).shape(), (Shape{0, k}));
}

TEST_P(Quantized, EmptySizesGiveEmptyOrZeros) {
  const QTensor none = QTensor::quantize(Tensor::zeros({0, block()}, DType::F32, device()), type());
  EXPECT_EQ(none.storage_bytes(), 0u);
  EXPECT_EQ(none.dequantize().shape(), (Shape{0, block()}));
  EXPECT_EQ(none.forward(Tensor::zeros({3, block()}, DType::F32, device())).shape(), (Shape{3, 0}));
  EXPECT_EQ(weight(4, block(), 11).forward(Tensor::zeros({0, block()}, DType::F32, device())).shape(),
            (Shape{0, 4}));
  const QTensor thin = QTensor::quantize(Tensor::zeros({4, 0}, DType::F32, device()), type());
  EXPECT_EQ(thin.forward(Tensor::zeros({2, 0}, DType::F32, device())).to_vec<float>(),
            std::vector<float>(8, 0.0f));
  // Rows without columns are still rows: ids are checked against their number.
  EXPECT_EQ(thin.embedding(Tensor::full({2}, 3, DType::U32, device())).shape(), (Shape{2, 0}));
  EXPECT_ERROR(thin.embedding(Tensor::full({2}, 4, DType::U32, device())), IndexOutOfRange,
               on_cpu() ? "id 4 at [0]" : "index 4 at element 0");
}

TEST_P(Quantized, BadNumbersStayVisible) {
  const int64_t k = 2 * block();
  for (const float bad : {NAN, INFINITY, -INFINITY, 3e38f}) {
    std::vector<float> values = normal_values(2 * k, 12);
    values[3] = bad;
    const QTensor q = QTensor::quantize(tensor(values, {2, k}), type());
    const std::vector<float> out = q.dequantize().to_vec<float>();
    const bool holds = std::isfinite(bad) && type() == QuantType::Q8_K;  // its scale is a float
    for (int64_t i = 0; i < block(); ++i) EXPECT_EQ(std::isnan(out[static_cast<size_t>(i)]), !holds) << bad;
    for (int64_t i = block(); i < 2 * k; ++i) ASSERT_TRUE(std::isfinite(out[static_cast<size_t>(i)])) << bad;
  }
  const QTensor q = weight(5, k, 13);
  for (const float bad : {NAN, INFINITY}) {
    std::vector<float> x = normal_values(6 * k, 14);
    x[static_cast<size_t>(k + 1)] = bad;  // row 1 of 6
    const std::vector<float> y = q.forward(tensor(x, {6, k})).to_vec<float>();
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 5 == 1) << bad << " " << i;
  }
}

TEST_P(Quantized, VeryLargeAndSmallActivationsStayInRange) {
  const int64_t k = 2 * block(), n = 4;
  const QTensor q = weight(n, k, 15);
  const std::vector<float> x = normal_values(k, 16);
  const std::vector<float> y = q.forward(tensor(x, {1, k})).to_vec<float>();
  for (const float scale : {0x1p+100f, 0x1p-100f}) {  // far outside half precision
    std::vector<float> scaled = x;
    for (float& value : scaled) value *= scale;
    const std::vector<float> out = q.forward(tensor(scaled, {1, k})).to_vec<float>();
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], y[i] * scale);
  }
}

TEST_P(Quantized, SaysWhatItRefuses) {
  const std::string name(quant_name(type()));
  const auto floats = [&](const Shape& shape) { return Tensor::zeros(shape, DType::F32, device()); };
  EXPECT_ERROR(QTensor::quantize(floats({2, block() + 1}), type()), ShapeMismatch,
               "[quantize] " + name + " cuts the last axis into blocks of " + std::to_string(block()));
  EXPECT_ERROR(QTensor::quantize(floats({}), type()), ShapeMismatch, "at least one axis");
  EXPECT_ERROR(QTensor::quantize(Tensor::zeros({block()}, DType::I32, device()), type()), UnsupportedDType,
               "quantize");
  const std::vector<std::byte> few(7);
  EXPECT_ERROR(QTensor::from_bytes(few, {1, block()}, type(), device()), InvalidArgument, "bytes, got 7");
  EXPECT_ERROR(QTensor::from_bytes(few, {int64_t{1} << 40, int64_t{1} << 40}, type(), device()), TooLarge,
               "2^63");
  const QTensor q = weight(3, block(), 17);
  EXPECT_ERROR(q.forward(floats({2, 2 * block()})), ShapeMismatch,
               "x's last axis must be " + std::to_string(block()));
  EXPECT_ERROR(q.forward(floats({})), ShapeMismatch, "[quantized_matmul]");
  if (!device().is_cpu())
    EXPECT_ERROR(q.forward(floats({1, block()}).to_device(Device::cpu())), DeviceMismatch,
                 " and the weight " + q.describe() + " differ");
  EXPECT_ERROR(q.forward(Tensor::zeros({1, block()}, DType::F64, device())), UnsupportedDType,
               "accepted: f32, f16, bf16");
  EXPECT_ERROR(QTensor::quantize(floats({2, 2, block()}), type()).forward(floats({1, block()})),
               ShapeMismatch, "[n, k]");
  EXPECT_ERROR(QTensor().dequantize(), InvalidArgument, "undefined");
  EXPECT_ERROR(q.dequantize(DType::F4), UnsupportedDType, "f4");
  const std::vector<float> ones(static_cast<size_t>(block()), 1.0f);
  if (!quant_traits(type()).imatrix) {
    EXPECT_ERROR(
        QTensor::quantize_imatrix(floats({2, block()}), type(), ones), Unsupported,
        name +
            " has no importance-matrix quantization (q4_0 q4_1 q5_0 q5_1 q2_k q3_k q4_k q5_k q6_k have it)");
    return;
  }
  EXPECT_ERROR(QTensor::quantize_imatrix(floats({2, 2 * block()}), type(), ones), ShapeMismatch,
               std::to_string(2 * block()) + " for");
  for (const float bad : {-1.0f, NAN, INFINITY}) {
    std::vector<float> weights = ones;
    weights[5] = bad;
    EXPECT_ERROR(QTensor::quantize_imatrix(floats({2, block()}), type(), weights), InvalidArgument,
                 "weight 5 is");
  }
}

TEST_P(Quantized, ImportanceIsPerColumn) {
  if (!quant_traits(type()).imatrix) return;
  const int64_t k = 2 * block(), n = 3;
  const std::vector<float> values = normal_values(n * k, 18);
  std::vector<float> weights(static_cast<size_t>(k), 0.01f);
  for (int64_t i = 0; i < k; i += 9) weights[static_cast<size_t>(i)] = 100;
  const auto error = [&](const QTensor& q) {
    const std::vector<float> out = q.dequantize().to_vec<float>();
    double sum = 0;
    for (size_t i = 0; i < out.size(); ++i)
      sum += static_cast<double>(weights[i % static_cast<size_t>(k)]) *
             std::pow(static_cast<double>(out[i] - values[i]), 2);
    return sum;
  };
  const Tensor x = tensor(values, {n, k});
  EXPECT_LT(error(QTensor::quantize_imatrix(x, type(), weights)), 0.5 * error(QTensor::quantize(x, type())));
  const std::vector<float> equal(static_cast<size_t>(k), 4.0f);
  const QTensor alike = QTensor::quantize_imatrix(x, type(), equal), plain = QTensor::quantize(x, type());
  if (block() == 256) {
    EXPECT_EQ(alike.bytes(), plain.bytes());
  } else {  // a search in place of a formula
    std::ranges::fill(weights, 1.0f);
    EXPECT_LT(error(alike), error(plain));
  }
}

// Rows that one thread quantizes, and long ones that threads share; other types and shapes on the two sides.
TEST_P(Quantized, FeedForwardsAreTheOperations) {
  ThreadPool& pool = ThreadPool::global();
  const int before = pool.threads();
  const auto made = [&](int64_t n, int64_t k, uint32_t seed) {
    return QTensor::quantize(tensor(normal_values(n * k, seed, 0.1f), {n, k}), QuantType::Q8_0);
  };
  const auto expect_operations = [&](const QTensor& gate, const QTensor& factor, const QTensor& down,
                                     const Tensor& x) {
    for (const Activation activation : {Activation::Silu, Activation::GeluTanh})
      EXPECT_EQ(QTensor::feed_forward(activation, gate, factor, down, x).to_bytes(),
                down.forward(QTensor::forward_gated(activation, gate, factor, x)).to_bytes())
          << down.describe() << " after " << x.describe();
  };
  for (const int64_t k : {3 * block(), 2304 / block() * block(), 9984 / block() * block()}) {
    pool.set_threads(k > 4096 ? 2 : 1);
    const QTensor gate = made(k, 32, 60), factor = made(k, 32, 61), down = weight(37, k, 62);
    for (const int64_t m : {1, 3, 5}) {
      const Tensor x = tensor(normal_values(m * 32, 63), {m, 32});
      expect_operations(gate, factor, down, x);
      if (k > 4096) continue;
      expect_operations(gate, factor, down, x.to_dtype(DType::F16));
      expect_operations(gate, factor, down, tensor(normal_values(m * 32, 64), {32, m}).t());
      expect_operations(gate, made(1, 32, 65), down, x);  // which broadcasts
    }
  }
  pool.set_threads(before);
  const QTensor gate = made(block(), 32, 66);
  const Tensor x = tensor(normal_values(64, 67), {2, 32});
  const auto shape = [&](const QTensor& down, const Tensor& of) {
    return QTensor::feed_forward(Activation::Silu, gate, gate, down, of).shape();
  };
  EXPECT_EQ(shape(weight(5, block(), 68), x.narrow(0, 0, 0)), (Shape{0, 5}));
  EXPECT_EQ(shape(weight(0, block(), 69), x), (Shape{2, 0}));
  EXPECT_ERROR(shape(weight(5, 2 * block(), 70), x), ShapeMismatch,
               "x's last axis must be " + std::to_string(2 * block()));
  EXPECT_ERROR(shape(QTensor(), x), InvalidArgument, "[feed_forward] down: the tensor is undefined");
}

TEST(GatedProducts, AreMultipliedByCpusForFewRows) {
  const cpu::CpuBackend& cpu = cpu::CpuBackend::instance();
  EXPECT_TRUE(cpu.multiplies_gates(DType::F32, 1) && cpu.multiplies_gates(DType::F32, 3));
  EXPECT_FALSE(cpu.multiplies_gates(DType::F32, 4) || cpu.multiplies_gates(DType::F16, 1));
}

TEST(GatedProducts, LargeOnesGoPastTheCaches) {
  constexpr int64_t kRows = 16390, kTokens = 261;
  if (os::last_level_cache_bytes() / 4 >= size_t{kRows * kTokens * 4})
    GTEST_SKIP() << "the caches hold " << os::last_level_cache_bytes() << " bytes";
  const Device cpu = Device::cpu();
  for (const QuantType type : {QuantType::Q8_0, QuantType::Q4_K}) {
    const int64_t k = quant_traits(type).block_elements;
    if (!cpu::CpuBackend::instance().gates(type, DType::F32, kTokens, kRows, k))
      GTEST_SKIP() << "no loops of this machine gate products";
    const auto made = [&](uint32_t seed) {
      return QTensor::quantize(Tensor::from_vec(normal_values(kRows * k, seed, 0.1f), {kRows, k}, cpu), type);
    };
    const QTensor gate = made(50), factor = made(51);
    const Tensor x = Tensor::from_vec(normal_values(kTokens * k, 52), {kTokens, k}, cpu);
    EXPECT_EQ(QTensor::forward_gated(Activation::Silu, gate, factor, x).to_bytes(),
              gate.forward(x).swiglu(factor.forward(x)).to_bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Quantized,
                         testing::Combine(testing::ValuesIn(test::devices()),
                                          testing::ValuesIn(reference::all_types())),
                         [](const auto& info) {
                           return test::test_name(std::get<0>(info.param).to_string() + "_" +
                                                  std::string(quant_name(std::get<1>(info.param))));
                         });

}  // namespace
}  // namespace beeswax
