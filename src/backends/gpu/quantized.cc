// SPDX-License-Identifier: Apache-2.0
// Quantized weights: conversions and products. A product first turns the activations into bytes; the weights
// are read as they lie in memory.
#include <array>

#include "backends/gpu/gemm.h"
#include "backends/gpu/launch.h"
#include "beeswax/qtensor_type.h"
#include "kernels/quantized_args.h"

namespace beeswax::gpu {
namespace {

KernelTable::Name of_format(std::string_view prefix, size_t type, std::string_view suffix,
                            const char* operation) {
  return {join_text(prefix, quant_name(static_cast<QuantType>(type)), suffix), operation};
}
KernelTable dequantize_kernels(kQuantTypeCount,
                               [](size_t i) { return of_format("dequantize_", i, "", "dequantize"); });
KernelTable quantize_kernels(kQuantTypeCount,
                             [](size_t i) { return of_format("quantize_", i, "", "quantize"); });
// Kernels of the K formats search in any case, and so have none for weighted elements.
bool weighs_apart(QuantType type) {
  const QuantTraits& traits = quant_traits(type);
  return traits.imatrix && traits.block_elements < 256;
}
KernelTable weighted_kernels(kQuantTypeCount, [](size_t i) {
  return weighs_apart(static_cast<QuantType>(i)) ? of_format("quantize_", i, "_weighted", "quantize")
                                                 : KernelTable::Name{};
});
KernelTable activation_kernels(2, [](size_t i) -> KernelTable::Name {
  return {i == 0 ? "activations_32" : "activations_256", "quantized_matmul"};
});
// In pairs: for one row of activations, and for more.
KernelTable row_kernels(kQuantTypeCount * 2, [](size_t i) {
  return of_format("quantized_rows_", i / 2, i % 2 == 0 ? "_1" : "", "quantized_matmul");
});

KernelTable matmul_kernels(kQuantTypeCount, [](size_t i) {
  return of_format("quantized_matmul_", i, "", "quantized_matmul");
});

uint32_t float_dtype(DType dtype) {
  if (dtype == DType::F16) return kFloatF16;
  return dtype == DType::BF16 ? kFloatBF16 : kFloatF32;
}

// Blocks that one thread block of a format's quantizer makes: K formats have a thread for each sub-block.
int64_t blocks_together(QuantType type) {
  switch (type) {
    case QuantType::Q4_K:
    case QuantType::Q5_K:
      return kQuantizeThreads / 8;
    case QuantType::Q2_K:
    case QuantType::Q3_K:
    case QuantType::Q6_K:
      return kQuantizeThreads / 16;
    default:
      return kQuantizeThreads;
  }
}

// Where matrix units are that fast, many rows are worth weights as bf16 in memory, some columns of the result
// at a time. Rounding both sides to bf16 costs no more than rounding activations to bytes does: 2^-8 of each
// term.
constexpr int64_t kWidenFrom = 32;                      // rows
constexpr int64_t kWidenWeights = int64_t{1} << 22;     // elements of a weight
constexpr int64_t kWidenedElements = int64_t{1} << 27;  // of weights at once

void dequantize_blocks(Gpu& gpu, QuantType type, const std::byte* blocks, std::byte* to, DType dtype,
                       int64_t count) {
  const QuantTraits& traits = quant_traits(type);
  const Kernel& kernel = dequantize_kernels.get(gpu, static_cast<size_t>(type));
  DequantizeArgs arguments{};
  arguments.dtype = float_dtype(dtype);
  for (int64_t first = 0; first < count; first += most_elements()) {
    const int64_t threads = std::min(most_elements(), count - first) / kDequantizeElements;
    arguments.blocks = blocks + first / traits.block_elements * traits.block_bytes;
    arguments.y = at(to, first, dtype);
    arguments.count = static_cast<uint32_t>(threads);
    gpu.launch(kernel, {{blocks_for(threads, kQuantThreads), 1, 1}, kQuantThreads, 0}, arguments);
  }
}

}  // namespace

void GpuBackend::quantize(QuantType type, const Operand& x, std::span<const float> importance,
                          Storage& blocks) {
  const Shape& shape = x.layout->shape();
  const int64_t elements = quant_traits(type).block_elements;
  const int64_t count = shape.elem_count() / elements;
  detail::Ref<Storage> weights;
  QuantizeArgs arguments{};
  if (!importance.empty()) {
    weights = scratch(importance.size_bytes());
    gpu_.upload(weights->data(), importance.data(), importance.size_bytes());
    arguments.importance = reinterpret_cast<const float*>(weights->data());
  }
  arguments.x = reinterpret_cast<const float*>(x.data());
  arguments.blocks = blocks.data();
  arguments.count = static_cast<uint32_t>(count);
  arguments.per_row = static_cast<uint32_t>(shape[shape.rank() - 1] / elements);
  const bool apart = !importance.empty() && weighs_apart(type);
  KernelTable& kernels = apart ? weighted_kernels : quantize_kernels;
  gpu_.launch(kernels.get(gpu_, static_cast<size_t>(type)),
              {{blocks_for(count, blocks_together(type)), 1, 1}, kQuantizeThreads, 0}, arguments);
}

void GpuBackend::dequantize(QuantType type, const Storage& blocks, const Target& out) {
  dequantize_blocks(gpu_, type, blocks.data(), out.data(), out.dtype, out.layout->shape().elem_count());
}

bool GpuBackend::widened_matmul(const Operand& x, const QuantizedProduct& weight,
                                detail::Ref<Storage>& narrow) {
  const Shape& shape = x.layout->shape();
  const int64_t k = shape[shape.rank() - 1], m = shape.elem_count() / k, n = weight.n();
  const Target& out = weight.out;
  const QuantTraits& traits = quant_traits(weight.type);
  const int64_t columns = std::min(n, std::max<int64_t>(kWidenedElements / k / 256 * 256, 256));
  const Layout alone;
  Product product{
      m,       columns, k, DType::BF16, DType::BF16, out.dtype, x.data(), nullptr,
      nullptr, k,       1, 1,           k,           n,         1,        Nest<3>({&alone, &alone, &alone})};
  if (m < kWidenFrom || n * k < kWidenWeights || (out.dtype != DType::F32 && out.dtype != DType::BF16) ||
      !hopper_takes(gpu_, product))
    return false;
  if (x.dtype != DType::BF16) {
    if (!narrow) {
      const Layout dense(shape);
      narrow = scratch(static_cast<size_t>(m * k) * sizeof(uint16_t));
      cast(x, {narrow.get(), &dense, DType::BF16});
    }
    product.a = narrow->data();
  }
  const detail::Ref<Storage> weights = scratch(static_cast<size_t>(columns * k) * sizeof(uint16_t));
  product.b = weights->data();
  for (int64_t first = 0; first < n; first += columns) {
    product.n = std::min(columns, n - first);
    dequantize_blocks(gpu_, weight.type,
                      weight.blocks->data() + first * k / traits.block_elements * traits.block_bytes,
                      weights->data(), DType::BF16, product.n * k);
    product.c = at(out.data(), first, out.dtype);
    gemm(gpu_, *this, product, "quantized_matmul");
  }
  return true;
}

void GpuBackend::quantized_matmul(const Operand& x, std::span<const QuantizedProduct> products) {
  std::array<QuantizedProduct, kMostProducts> rest;
  size_t count = 0;
  detail::Ref<Storage> narrow;
  for (const QuantizedProduct& product : products)
    if (!widened_matmul(x, product, narrow)) rest[count++] = product;
  narrow = {};
  if (count > 0) products_of_bytes(x, {rest.data(), count});
}

void GpuBackend::products_of_bytes(const Operand& x, std::span<const QuantizedProduct> products) {
  const int64_t block = quant_traits(products[0].type).block_elements;
  const Shape& shape = x.layout->shape();
  const int64_t k = shape[shape.rank() - 1], m = shape.elem_count() / k;
  // Rows of one launch: indices of 32 bits, and at most 65535 blocks along y.
  const int64_t most_rows = std::clamp<int64_t>(most_elements() / k / kMatVecColumns * kMatVecColumns, 1,
                                                int64_t{kMatVecColumns} * 65535);
  const int64_t rows = std::min(m, most_rows);
  const auto bytes = static_cast<size_t>(rows * k);
  const size_t scale_bytes =
      bytes / static_cast<size_t>(block) * (block == 32 ? sizeof(ActivationScale) : sizeof(float));
  const size_t sum_bytes = block == 32 ? 0 : bytes / 16 * sizeof(int16_t);
  const detail::Ref<Storage> memory = scratch(bytes + sum_bytes + scale_bytes);
  ActivationsArgs activations{};
  activations.q = memory->data();
  activations.sums = reinterpret_cast<int16_t*>(memory->data() + bytes);
  activations.scales = memory->data() + bytes + sum_bytes;
  activations.dtype = float_dtype(x.dtype);
  QuantizedMatmulArgs arguments{};
  arguments.q = activations.q;
  arguments.sums = activations.sums;
  arguments.scales = activations.scales;
  arguments.k = static_cast<uint32_t>(k);
  for (int64_t row = 0; row < m; row += rows) {
    const int64_t some = std::min(rows, m - row);
    activations.x = at(x.data(), row * k, x.dtype);
    activations.count = static_cast<uint32_t>(some * k / block);
    const int64_t threads = block == 32 ? 8 : 32;
    gpu_.launch(activation_kernels.get(gpu_, block == 32 ? 0 : 1),
                {{blocks_for(activations.count * threads, kQuantThreads), 1, 1}, kQuantThreads, 0},
                activations);
    arguments.m = static_cast<uint32_t>(some);
    for (const QuantizedProduct& product : products) {
      const int64_t n = product.n();
      arguments.blocks = product.blocks->data();
      arguments.n = static_cast<uint32_t>(n);
      arguments.dtype = float_dtype(product.out.dtype);
      arguments.y = at(product.out.data(), row * n, product.out.dtype);
      const auto format = static_cast<size_t>(product.type);
      if (some >= kQuantMatmulFrom) {
        gpu_.launch(
            matmul_kernels.get(gpu_, format),
            {{blocks_for(n, kQuantMatmulN), blocks_for(some, kQuantMatmulM), 1}, kQuantMatmulThreads, 0},
            arguments);
      } else {
        gpu_.launch(row_kernels.get(gpu_, format * 2 + (some == 1 ? 0 : 1)),
                    {{blocks_for(n, kMatVecThreads / 32 * kMatVecRows), blocks_for(some, kMatVecColumns), 1},
                     kMatVecThreads,
                     0},
                    arguments);
      }
    }
  }
}

}  // namespace beeswax::gpu
