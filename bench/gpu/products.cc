// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "beeswax/qtensor.h"
#include "beeswax/system.h"
#include "bench/gpu/make.h"

namespace beeswax::bench {
namespace {

// Weights as layers have them, [n, k]; or both operands as they come out of other products.
enum class Stored { Weights, Plain, FirstTransposed };

GpuCase product(DType dtype, int64_t m, int64_t n, int64_t k, Stored stored = Stored::Weights,
                int64_t batch = 1) {
  const auto dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k),
             times = static_cast<double>(batch);
  const char* suffix = stored == Stored::Plain             ? " plain"
                       : stored == Stored::FirstTransposed ? " first transposed"
                                                           : "";
  const auto of = [=](int64_t rows, int64_t columns) {
    return batch == 1 ? Shape{rows, columns} : Shape{batch, rows, columns};
  };
  return {join_text("matmul ", dtype_name(dtype), " ", batch > 1 ? join_text(batch, " of ") : "", m, "x", n,
                    "x", k, suffix),
          bytes_of(dtype, times * (dm * dn + dm * dk + dn * dk)), times * 2 * dm * dn * dk,
          [=](const Device& device) -> Body {
            const Tensor a = stored == Stored::FirstTransposed ? large(of(k, m), dtype, device).t()
                                                               : large(of(m, k), dtype, device);
            const Tensor b = stored == Stored::Weights ? large(of(n, k), dtype, device).t()
                                                       : large(of(k, n), dtype, device);
            return [=] { return a.matmul(b); };
          }};
}

// A case of f32 with operands rounded to 11 bits, where the device has that; the setting is the process's and
// is put back.
GpuCase reduced(GpuCase out) {
  const size_t dtype = out.name.find(" f32 ");
  out.name.replace(dtype, 5, " tf32 ");
  out.make = [make = out.make](const Device& device) -> Body {
    return [body = make(device)] {
      set_reduced_precision_f32(true);
      Tensor c = body();
      set_reduced_precision_f32(false);
      return c;
    };
  };
  return out;
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
  int64_t images = 32;
};
constexpr ConvRow kConvs[] = {
    {"3x3", 64, 64, 56, 3, {.padding = 1}},
    {"3x3", 256, 256, 14, 3, {.padding = 1}},
    {"3x3", 64, 64, 224, 3, {.padding = 1}, false, 16},
    {"3x3", 256, 256, 28, 3, {.padding = 1}},
    {"3x3", 128, 128, 56, 3, {.padding = 1}},
    {"1x1", 256, 512, 28, 1, {}},
    {"7x7 stride 2", 3, 64, 224, 7, {.padding = 3, .stride = 2}},
    {"3x3 stride 2", 128, 256, 56, 3, {.padding = 1, .stride = 2}},
    {"3x3 dilated", 64, 64, 56, 3, {.padding = 2, .dilation = 2}},
    {"3x3 groups 4", 128, 128, 28, 3, {.padding = 1, .groups = 4}},
    {"3x3 depthwise", 128, 128, 112, 3, {.padding = 1, .groups = 128}},
    {"3 in 1-d", 80, 384, 3000, 3, {.padding = 1}},
    {"4x4 transposed", 128, 64, 28, 4, {.padding = 1, .stride = 2}, true},
};

GpuCase convolution(DType dtype, const ConvRow& row, bool is_large) {
  const bool flat = row.size >= 3000;
  const int64_t batch = is_large ? row.images : 1, shrink = is_large || row.channels_in < 64 ? 1 : 4;
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
            const Tensor image = large(x, dtype, device), weights = normal(kernel, dtype, device);
            return [=, transposed = row.transposed] {
              if (transposed) return image.conv_transpose2d(weights, options);
              return flat ? image.conv1d(weights, options) : image.conv2d(weights, options);
            };
          }};
}

// A case whose name is new: small ones of several shapes may be one and the same.
void add_once(std::vector<GpuCase>& out, const GpuCase& one) {
  if (std::ranges::none_of(out, [&](const GpuCase& had) { return had.name == one.name; })) out.push_back(one);
}

// Products of bf16: every layer of Llama 8B, Qwen3 8B and Qwen3 0.6B, from one token to a long prompt; sides
// that are odd or no multiple of 8; attention's, one for each head; other orders of the operands.
void add_layers(std::vector<GpuCase>& out) {
  const auto add = [&](const GpuCase& one) { add_once(out, one); };
  constexpr DType kDType = DType::BF16;
  constexpr std::pair<int64_t, int64_t> kLayers[] = {
      {4096, 4096},  {4096, 14336}, {1024, 4096},   {14336, 4096}, {128256, 4096},
      {12288, 4096}, {4096, 12288}, {151936, 4096}, {2048, 1024},  {1024, 2048},
      {1024, 1024},  {3072, 1024},  {1024, 3072}};
  for (const auto& [n, k] : kLayers)
    for (const int64_t m : {1, 8, 16, 64, 128, 256, 512, 4096}) add(product(kDType, m, n, k));
  add(product(kDType, 512, 4097, 4096));
  add(product(kDType, 512, 4096, 4100));
  add(product(kDType, 1, 4096, 128, Stored::Weights, 32));
  add(product(kDType, 512, 512, 128, Stored::Weights, 32));
  add(product(kDType, 512, 128, 512, Stored::Plain, 32));
  add(product(kDType, 4096, 4096, 128, Stored::Weights, 32));
  add(product(kDType, 4096, 128, 4096, Stored::Plain, 32));
  for (const int64_t m : {64, 512, 4096}) {
    add(product(kDType, m, 4096, 4096, Stored::Plain));
    add(product(kDType, m, 4096, 4096, Stored::FirstTransposed));
  }
}

}  // namespace

std::vector<GpuCase> product_cases(Sizes sizes) {
  const bool is_large = sizes == Sizes::Large;
  const auto either = [is_large](int64_t large_size, int64_t small_size) {
    return is_large ? large_size : small_size;
  };
  std::vector<GpuCase> out;
  const int64_t out_features = either(14336, 1024), in_features = either(4096, 1024);
  for (const DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    for (const int64_t size : {either(4096, 128), either(8192, 256)})
      out.push_back(product(dtype, size, size, size));
    for (const int64_t m : {int64_t{1}, int64_t{8}, int64_t{64}, either(512, 128)})
      out.push_back(product(dtype, m, out_features, in_features));
  }
  const int64_t square = either(4096, 128);
  for (const DType dtype : {DType::F64, DType::U8, DType::F8E4M3})
    out.push_back(product(dtype, square, square, square));
  out.push_back(reduced(product(DType::F32, square, square, square)));
  if (is_large) add_layers(out);
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const ConvRow& row : kConvs) add_once(out, convolution(dtype, row, is_large));
  for (const ConvRow& row : kConvs) add_once(out, reduced(convolution(DType::F32, row, is_large)));
  add_once(out, convolution(DType::F8E4M3, kConvs[0], is_large));
  const std::vector<int64_t> rows_of_quantized =
      is_large ? std::vector<int64_t>{1, 8, 32, 64, 512} : std::vector<int64_t>{1, 8, 64};
  for (const QuantType type : {QuantType::Q4_0, QuantType::Q8_0, QuantType::Q4_K, QuantType::Q6_K})
    for (const int64_t m : rows_of_quantized) out.push_back(quantized(type, m, out_features, in_features));
  return out;
}

}  // namespace beeswax::bench
