// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/cases.h"

#include "beeswax/qtensor.h"
#include "core/fail.h"

namespace beeswax::bench {
namespace {

constexpr int64_t kElements = 64 << 20;

Tensor normal(const Shape& shape, DType dtype, const Device& device) {
  return Tensor::randn(shape, DType::F32, Device::cpu()).to_device(device).to_dtype(dtype);
}
// Large inputs repeat a smaller random block, which the host makes quickly.
Tensor large(const Shape& shape, DType dtype, const Device& device) {
  constexpr int64_t kBlock = 1 << 20;
  const int64_t count = shape.elem_count();
  if (count % kBlock != 0) return normal(shape, dtype, device);
  return normal({1, kBlock}, dtype, device)
      .broadcast_as({count / kBlock, kBlock})
      .contiguous()
      .reshape(shape);
}
Tensor ids_below(int64_t bound, const Shape& shape, const Device& device) {
  std::vector<uint32_t> ids(static_cast<size_t>(shape.elem_count()));
  uint64_t state = 7;
  for (uint32_t& id : ids) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    id = static_cast<uint32_t>((state >> 33) % static_cast<uint64_t>(bound));
  }
  return Tensor::from_vec(ids, shape, device);
}
double bytes_of(DType dtype, double elements) {
  return elements * static_cast<double>(dtype_bytes(dtype, 1));
}

using Body = std::function<Tensor()>;

GpuCase unary(std::string name, DType dtype, Tensor (Tensor::*method)() const) {
  return {std::move(name), 2 * bytes_of(dtype, kElements), 0, [=](const Device& device) -> Body {
            const Tensor x = large({kElements}, dtype, device);
            return [=] { return (x.*method)(); };
          }};
}

GpuCase over_rows(std::string name, DType dtype, int64_t rows, int64_t columns, double passes,
                  std::function<Tensor(const Tensor&)> operation) {
  return {std::move(name), passes * bytes_of(dtype, static_cast<double>(rows * columns)), 0,
          [=, operation = std::move(operation)](const Device& device) -> Body {
            const Tensor x = large({rows, columns}, dtype, device);
            return [=] { return operation(x); };
          }};
}

GpuCase product(DType dtype, int64_t m, int64_t n, int64_t k) {
  const auto dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
  return {join_text("matmul ", dtype_name(dtype), " ", m, "x", n, "x", k),
          bytes_of(dtype, dm * dn + dm * dk + dn * dk), 2 * dm * dn * dk, [=](const Device& device) -> Body {
            const Tensor a = large({m, k}, dtype, device), b = large({n, k}, dtype, device).t();
            return [=] { return a.matmul(b); };
          }};
}

GpuCase quantized(QuantType type, int64_t m, int64_t n, int64_t k) {
  const double weight =
      static_cast<double>(n * k / quant_traits(type).block_elements * quant_traits(type).block_bytes);
  return {join_text("quantized ", quant_name(type), " ", m, "x", n, "x", k), weight,
          2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
          [=](const Device& device) -> Body {
            // One quantized row, repeated: blocks like any other.
            const QTensor row = QTensor::quantize(Tensor::randn({1, k}, DType::F32), type);
            const std::vector<std::byte> bytes = row.bytes();
            std::vector<std::byte> all;
            all.reserve(bytes.size() * static_cast<size_t>(n));
            for (int64_t i = 0; i < n; ++i) all.insert(all.end(), bytes.begin(), bytes.end());
            const QTensor w = QTensor::from_bytes(all, {n, k}, type, device);
            const Tensor x = normal({m, k}, DType::F32, device);
            return [=] { return w.forward(x); };
          }};
}

}  // namespace

std::vector<GpuCase> gpu_cases() {
  std::vector<GpuCase> out = {
      unary("exp f32 64M", DType::F32, &Tensor::exp),
      unary("exp f16 64M", DType::F16, &Tensor::exp),
      unary("silu f16 64M", DType::F16, &Tensor::silu),
      unary("gelu bf16 64M", DType::BF16, &Tensor::gelu),
      unary("neg f32 64M", DType::F32, &Tensor::neg),
      unary("sin f32 64M", DType::F32, &Tensor::sin),
      {"copy f32 8192x8192 transposed", 2 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({8192, 8192}, DType::F32, d).t();
         return [=] { return x.contiguous(); };
       }},
      {"copy f16 8192x8192 transposed", 2 * bytes_of(DType::F16, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({8192, 8192}, DType::F16, d).t();
         return [=] { return x.contiguous(); };
       }},
      {"affine f32 64M", 2 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({kElements}, DType::F32, d);
         return [=] { return x.affine(2.0, 1.0); };
       }},
      {"add f32 64M", 3 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({kElements}, DType::F32, d), y = large({kElements}, DType::F32, d);
         return [=] { return x.add(y); };
       }},
      {"mul bf16 64M", 3 * bytes_of(DType::BF16, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({kElements}, DType::BF16, d), y = large({kElements}, DType::BF16, d);
         return [=] { return x.mul(y); };
       }},
      {"add f32 8192x8192 + row", 2 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({8192, 8192}, DType::F32, d), row = normal({8192}, DType::F32, d);
         return [=] { return x.add(row); };
       }},
      {"cast f32 f16 64M", 1.5 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({kElements}, DType::F32, d);
         return [=] { return x.to_dtype(DType::F16); };
       }},
      {"cast bf16 f32 64M", 1.5 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({kElements}, DType::BF16, d);
         return [=] { return x.to_dtype(DType::F32); };
       }},
      {"where u8 f32 64M", bytes_of(DType::F32, 3 * kElements) + kElements, 0,
       [](const Device& d) -> Body {
         const Tensor x = large({kElements}, DType::F32, d), y = large({kElements}, DType::F32, d);
         const Tensor c = x.gt(0.0);
         return [=] { return c.where_cond(x, y); };
       }},
      {"index_select f32 64K rows of 1024", 2 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({65536, 1024}, DType::F32, d), ids = ids_below(65536, {65536}, d);
         return [=] { return x.index_select(ids, 0); };
       }},
      {"gather f32 16384x2048 last", 3 * bytes_of(DType::F32, 16384.0 * 2048), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({16384, 2048}, DType::F32, d), ids = ids_below(2048, {16384, 2048}, d);
         return [=] { return x.gather(ids, 1); };
       }},
      {"index_add f32 dim 0", 3 * bytes_of(DType::F32, 16384.0 * 1024), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({16384, 1024}, DType::F32, d), y = large({16384, 1024}, DType::F32, d);
         const Tensor ids = ids_below(16384, {16384}, d);
         return [=] { return x.index_add(ids, y, 0); };
       }},
      over_rows("sum f32 16384x4096", DType::F32, 16384, 4096, 1, [](const Tensor& x) { return x.sum(-1); }),
      over_rows("sum f16 16384x4096", DType::F16, 16384, 4096, 1, [](const Tensor& x) { return x.sum(-1); }),
      over_rows("sum f32 16384x4096 dim 0", DType::F32, 16384, 4096, 1,
                [](const Tensor& x) { return x.sum(0); }),
      over_rows("sum f32 one row of 16M", DType::F32, 1, 16 << 20, 1,
                [](const Tensor& x) { return x.sum(-1); }),
      over_rows("argmax f32 16384x4096", DType::F32, 16384, 4096, 1,
                [](const Tensor& x) { return x.argmax(-1); }),
      over_rows("softmax f32 16384x4096", DType::F32, 16384, 4096, 2,
                [](const Tensor& x) { return x.softmax(-1); }),
      over_rows("softmax f16 2048x32768", DType::F16, 2048, 32768, 2,
                [](const Tensor& x) { return x.softmax(-1); }),
      {"rmsnorm f16 16384x4096", 2 * bytes_of(DType::F16, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({16384, 4096}, DType::F16, d), w = normal({4096}, DType::F16, d);
         return [=] { return x.rms_norm(w, 1e-5); };
       }},
      {"layernorm f32 16384x4096", 2 * bytes_of(DType::F32, kElements), 0,
       [](const Device& d) -> Body {
         const Tensor x = large({16384, 4096}, DType::F32, d), w = normal({4096}, DType::F32, d);
         const Tensor b = normal({4096}, DType::F32, d);
         return [=] { return x.layer_norm(w, b, 1e-5); };
       }},
      over_rows("argsort f32 16384x1024", DType::F32, 16384, 1024, 2,
                [](const Tensor& x) { return x.arg_sort(-1); }),
      over_rows("cumsum f32 16384x4096", DType::F32, 16384, 4096, 2,
                [](const Tensor& x) { return x.cumsum(1); }),
      {"max_pool2d f32 2x2 64x64x112x112", 1.25 * bytes_of(DType::F32, 64.0 * 64 * 112 * 112), 0,
       [](const Device& d) -> Body {
         const Tensor x = normal({64, 64, 112, 112}, DType::F32, d);
         return [=] { return x.max_pool2d(2); };
       }},
  };
  for (const DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    for (const int64_t n : {4096, 8192}) out.push_back(product(dtype, n, n, n));
    for (const int64_t m : {1, 8, 64, 512}) out.push_back(product(dtype, m, 14336, 4096));
  }
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q8_0, QuantType::Q4_K, QuantType::Q6_K})
    for (const int64_t m : {1, 8, 512}) out.push_back(quantized(type, m, 14336, 4096));
  return out;
}

}  // namespace beeswax::bench
