// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/cases.h"

#include "beeswax/qtensor.h"
#include "core/fail.h"

namespace beeswax::bench {
namespace {

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

// 64M, 1024K, 512
std::string count_text(int64_t count) {
  constexpr int64_t kMega = 1 << 20, kKilo = 1 << 10;
  if (count % kMega == 0 && count > kMega) return std::to_string(count / kMega) + "M";
  if (count % kKilo == 0 && count >= 16 * kKilo) return std::to_string(count / kKilo) + "K";
  return std::to_string(count);
}

GpuCase unary(const char* name, DType dtype, int64_t elements, Tensor (Tensor::*method)() const) {
  return {join_text(name, " ", dtype_name(dtype), " ", count_text(elements)),
          2 * bytes_of(dtype, static_cast<double>(elements)), 0, [=](const Device& device) -> Body {
            const Tensor x = large({elements}, dtype, device);
            return [=] { return (x.*method)(); };
          }};
}

GpuCase over_rows(const char* name, DType dtype, int64_t rows, int64_t columns, double passes,
                  std::function<Tensor(const Tensor&)> operation, const char* suffix = "") {
  return {join_text(name, " ", dtype_name(dtype), " ", rows, "x", columns, suffix),
          passes * bytes_of(dtype, static_cast<double>(rows * columns)), 0,
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
  const int64_t blocks = n * k / quant_traits(type).block_elements;
  return {join_text("quantized ", quant_name(type), " ", m, "x", n, "x", k),
          static_cast<double>(blocks * quant_traits(type).block_bytes),
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

// Convolutions of common networks, one of each class of shapes or more; BEESWAX_DNN says whose are timed.
struct ConvRow {
  const char* what;
  int64_t channels_in, channels_out, size, taps;  // a 1-D one has a size of 3000 and more
  ConvOptions options;
  bool transposed = false;
};
constexpr ConvRow kConvs[] = {
    {"3x3", 64, 64, 56, 3, {.padding = 1}},
    {"3x3", 256, 256, 14, 3, {.padding = 1}},
    {"1x1", 256, 512, 28, 1, {}},
    {"7x7 stride 2", 3, 64, 224, 7, {.padding = 3, .stride = 2}},
    {"3x3 dilated", 64, 64, 56, 3, {.padding = 2, .dilation = 2}},
    {"3x3 groups 4", 128, 128, 28, 3, {.padding = 1, .groups = 4}},
    {"3x3 depthwise", 128, 128, 112, 3, {.padding = 1, .groups = 128}},
    {"3 in 1-d", 80, 384, 3000, 3, {.padding = 1}},
    {"4x4 transposed", 128, 64, 28, 4, {.padding = 1, .stride = 2}, true},
};

GpuCase convolution(DType dtype, const ConvRow& row, bool is_large) {
  const bool flat = row.size >= 3000;
  const int64_t batch = is_large ? 32 : 1, shrink = is_large || row.channels_in < 64 ? 1 : 4;
  const int64_t in = row.channels_in / shrink, out = row.channels_out / shrink;
  const int64_t size = is_large ? row.size : std::min<int64_t>(row.size, flat ? 200 : 14);
  ConvOptions options = row.options;
  if (options.groups > 4) options.groups = in;
  const int64_t first = row.transposed ? in : out, second = (row.transposed ? out : in) / options.groups;
  const Shape x = flat ? Shape{batch, in, size} : Shape{batch, in, size, size};
  const Shape kernel = flat ? Shape{first, second, row.taps} : Shape{first, second, row.taps, row.taps};
  const int64_t to =
      row.transposed
          ? (size - 1) * options.stride - 2 * options.padding + row.taps
          : (size + 2 * options.padding - options.dilation * (row.taps - 1) - 1) / options.stride + 1;
  const auto results = static_cast<double>(batch * out * to * (flat ? 1 : to));
  // Each product of the definition once, over padding too.
  const int64_t of_each = kernel.elem_count() / first;
  const auto products =
      (row.transposed ? static_cast<double>(x.elem_count()) : results) * static_cast<double>(of_each);
  return {join_text("conv ", row.what, " ", dtype_name(dtype), " ", x.to_string(), " to ", out),
          bytes_of(dtype, static_cast<double>(x.elem_count() + kernel.elem_count()) + results), 2 * products,
          [=](const Device& device) -> Body {
            const Tensor image = normal(x, dtype, device), weights = normal(kernel, dtype, device);
            return [=, transposed = row.transposed] {
              if (transposed) return image.conv_transpose2d(weights, options);
              return flat ? image.conv1d(weights, options) : image.conv2d(weights, options);
            };
          }};
}

}  // namespace

std::vector<GpuCase> gpu_cases(Sizes sizes) {
  const bool is_large = sizes == Sizes::Large;
  const auto either = [is_large](int64_t large_size, int64_t small_size) {
    return is_large ? large_size : small_size;
  };
  const int64_t n = either(64 << 20, 1 << 18), side = either(8192, 512), rows = either(16384, 64),
                select_rows = either(65536, 256), images = either(64, 1);
  const auto elements = static_cast<double>(n), row_elements = static_cast<double>(rows) * 4096;
  std::vector<GpuCase> out = {
      unary("exp", DType::F32, n, &Tensor::exp),
      unary("exp", DType::F16, n, &Tensor::exp),
      unary("silu", DType::F16, n, &Tensor::silu),
      unary("gelu", DType::BF16, n, &Tensor::gelu),
      unary("neg", DType::F32, n, &Tensor::neg),
      unary("sin", DType::F32, n, &Tensor::sin),
      {join_text("copy f32 ", side, "x", side, " transposed"),
       2 * bytes_of(DType::F32, static_cast<double>(side * side)), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({side, side}, DType::F32, d).t();
         return [=] { return x.contiguous(); };
       }},
      {join_text("copy f16 ", side, "x", side, " transposed"),
       2 * bytes_of(DType::F16, static_cast<double>(side * side)), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({side, side}, DType::F16, d).t();
         return [=] { return x.contiguous(); };
       }},
      {"affine f32 " + count_text(n), 2 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d);
         return [=] { return x.affine(2.0, 1.0); };
       }},
      {"add f32 " + count_text(n), 3 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d), y = large({n}, DType::F32, d);
         return [=] { return x.add(y); };
       }},
      {"mul bf16 " + count_text(n), 3 * bytes_of(DType::BF16, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::BF16, d), y = large({n}, DType::BF16, d);
         return [=] { return x.mul(y); };
       }},
      {join_text("add f32 ", side, "x", side, " + row"),
       2 * bytes_of(DType::F32, static_cast<double>(side * side)), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({side, side}, DType::F32, d), row = normal({side}, DType::F32, d);
         return [=] { return x.add(row); };
       }},
      {"cast f32 f16 " + count_text(n), 1.5 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d);
         return [=] { return x.to_dtype(DType::F16); };
       }},
      {"cast bf16 f32 " + count_text(n), 1.5 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::BF16, d);
         return [=] { return x.to_dtype(DType::F32); };
       }},
      {"where u8 f32 " + count_text(n), bytes_of(DType::F32, 3 * elements) + elements, 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d), y = large({n}, DType::F32, d);
         const Tensor c = x.gt(0.0);
         return [=] { return c.where_cond(x, y); };
       }},
      {join_text("index_select f32 ", count_text(select_rows), " rows of 1024"),
       2 * bytes_of(DType::F32, static_cast<double>(select_rows) * 1024), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({select_rows, 1024}, DType::F32, d),
                      ids = ids_below(select_rows, {select_rows}, d);
         return [=] { return x.index_select(ids, 0); };
       }},
      {join_text("gather f32 ", rows, "x2048 last"), 3 * bytes_of(DType::F32, row_elements / 2), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 2048}, DType::F32, d), ids = ids_below(2048, {rows, 2048}, d);
         return [=] { return x.gather(ids, 1); };
       }},
      {"index_add f32 dim 0", 3 * bytes_of(DType::F32, row_elements / 4), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 1024}, DType::F32, d), y = large({rows, 1024}, DType::F32, d);
         const Tensor ids = ids_below(rows, {rows}, d);
         return [=] { return x.index_add(ids, y, 0); };
       }},
      over_rows("sum", DType::F32, rows, 4096, 1, [](const Tensor& x) { return x.sum(-1); }),
      over_rows("sum", DType::F16, rows, 4096, 1, [](const Tensor& x) { return x.sum(-1); }),
      over_rows(
          "sum", DType::F32, rows, 4096, 1, [](const Tensor& x) { return x.sum(0); }, " dim 0"),
      {"sum f32 one row of " + count_text(n / 4), bytes_of(DType::F32, elements / 4), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({1, n / 4}, DType::F32, d);
         return [=] { return x.sum(-1); };
       }},
      over_rows("argmax", DType::F32, rows, 4096, 1, [](const Tensor& x) { return x.argmax(-1); }),
      over_rows("softmax", DType::F32, rows, 4096, 2, [](const Tensor& x) { return x.softmax(-1); }),
      over_rows("softmax", DType::F16, either(2048, 8), 32768, 2,
                [](const Tensor& x) { return x.softmax(-1); }),
      {join_text("rmsnorm f16 ", rows, "x4096"), 2 * bytes_of(DType::F16, row_elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 4096}, DType::F16, d), w = normal({4096}, DType::F16, d);
         return [=] { return x.rms_norm(w, 1e-5); };
       }},
      {join_text("layernorm f32 ", rows, "x4096"), 2 * bytes_of(DType::F32, row_elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 4096}, DType::F32, d), w = normal({4096}, DType::F32, d);
         const Tensor b = normal({4096}, DType::F32, d);
         return [=] { return x.layer_norm(w, b, 1e-5); };
       }},
      over_rows("argsort", DType::F32, rows, 1024, 2, [](const Tensor& x) { return x.arg_sort(-1); }),
      over_rows("cumsum", DType::F32, rows, 4096, 2, [](const Tensor& x) { return x.cumsum(1); }),
      {join_text("max_pool2d f32 2x2 ", images, "x64x112x112"),
       1.25 * bytes_of(DType::F32, static_cast<double>(images) * 64 * 112 * 112), 0,
       [=](const Device& d) -> Body {
         const Tensor x = normal({images, 64, 112, 112}, DType::F32, d);
         return [=] { return x.max_pool2d(2); };
       }},
  };
  const int64_t out_features = either(14336, 1024), in_features = either(4096, 1024);
  for (const DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    for (const int64_t square : {either(4096, 128), either(8192, 256)})
      out.push_back(product(dtype, square, square, square));
    for (const int64_t m : {int64_t{1}, int64_t{8}, int64_t{64}, either(512, 128)})
      out.push_back(product(dtype, m, out_features, in_features));
  }
  // The other layers of an 8B Llama, from one token to a long prompt; sides that are odd or no multiple of 8.
  if (is_large) {
    for (const auto& [n_out, n_in] : {std::pair<int64_t, int64_t>{4096, 4096}, {4096, 14336}, {1024, 4096}})
      for (const int64_t m : {1, 8, 16, 64, 128, 256, 512, 4096})
        out.push_back(product(DType::BF16, m, n_out, n_in));
    out.push_back(product(DType::BF16, 4096, 14336, 4096));
    out.push_back(product(DType::BF16, 512, 4097, 4096));
    out.push_back(product(DType::BF16, 512, 4096, 4100));
  }
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const ConvRow& row : kConvs) out.push_back(convolution(dtype, row, is_large));
  const std::vector<int64_t> rows_of_quantized =
      is_large ? std::vector<int64_t>{1, 8, 32, 64, 512} : std::vector<int64_t>{1, 8, 64};
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q8_0, QuantType::Q4_K, QuantType::Q6_K})
    for (const int64_t m : rows_of_quantized) out.push_back(quantized(type, m, out_features, in_features));
  return out;
}

}  // namespace beeswax::bench
