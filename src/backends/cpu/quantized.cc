// SPDX-License-Identifier: Apache-2.0
// Quantized weights: conversions, and products with activations. A product first quantizes each activation
// row once (quantized_activations.h). Few rows then meet the weights as they lie in memory, or in stripes
// made of them, so that generating a token reads every weight byte once; from kPanelFrom rows on, groups of
// weight rows are unpacked into panels (quantized_product.h).
#include "backends/cpu/kernels/quantized.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "backends/cpu/backend.h"
#include "backends/cpu/quantized_activations.h"
#include "backends/cpu/quantized_product.h"
#include "backends/cpu/streaming.h"
#include "backends/cpu/stripes.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kTasksEach = 4;  // panels of a gated product for each thread, at least

Product product_of(const QuantizedProduct& wanted, const Activations& activations) {
  const Form& form = activations.form(wanted.type);
  Product product = {};
  product.kernels = &activations.kernels();
  product.type = static_cast<size_t>(wanted.type);
  product.by_panels = form.type != kRowForm;
  product.weights = wanted.blocks->data();
  product.n = wanted.n();
  product.k = activations.k();
  product.m = activations.m();
  product.row_bytes = static_cast<int64_t>(quant_bytes(wanted.type, static_cast<size_t>(activations.k())));
  product.activations = form.memory->data();
  product.activation_stride = form.stride;
  product.dtype = wanted.out.dtype;
  product.out = wanted.out.data();
  return product;
}

/// Activations times weights whose blocks have one size.
void multiply(Activations& activations, std::span<const QuantizedProduct> wanted) {
  std::array<StripesUse, Backend::kMostProducts> stripes;
  for (size_t i = 0; i < wanted.size(); ++i) stripes[i] = activations.add(wanted[i]);
  activations.make();
  std::array<Product, Backend::kMostProducts> products;
  std::array<PanelTasks, Backend::kMostProducts> panel_tasks;
  RowTasks row_tasks;
  int64_t tasks = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Product& product = products[i];
    product = product_of(wanted[i], activations);
    product.stripes = stripes[i].data();
    product.makes_stripes = stripes[i].is_making();
    if (product.by_panels)
      panel_tasks[i] = PanelTasks(product);
    else
      row_tasks.add(product);
    tasks += panel_tasks[i].tasks;
  }
  const int64_t rows = row_tasks.cut();
  const auto start = std::chrono::steady_clock::now();
  ThreadPool::global().parallel_for(rows + tasks, [&](int64_t task) {
    if (task < rows) return row_tasks.run(task);
    task -= rows;
    const PanelTasks* work = panel_tasks.data();
    for (; task >= work->tasks; ++work) task -= work->tasks;
    work->run(task);
  });
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  for (StripesUse& use : stripes)
    if (use.is_making()) use.made(std::exchange(seconds, {}).count());
}

bool has_blocks_of_256(QuantType type) { return quant_traits(type).block_elements == 256; }

}  // namespace

void CpuBackend::quantize(QuantType type, const Operand& x, std::span<const float> importance,
                          Storage& blocks) {
  const QuantTraits& traits = quant_traits(type);
  const auto convert = quantized_kernels().quantize[static_cast<size_t>(type)];
  const Shape& shape = x.layout->shape();
  const int64_t elements = traits.block_elements;
  const int64_t per_row = shape[shape.rank() - 1] / elements;
  const auto* from = reinterpret_cast<const float*>(x.data());
  std::byte* to = blocks.data();
  const int64_t grain = elements == 256 ? 16 : 1024;  // a K format's block costs about as much as 100 others
  parallel_ranges(shape.elem_count() / elements, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {  // up to the end of each row, where the weights begin anew
      const int64_t column = begin % per_row;
      const int64_t count = importance.empty() ? end - begin : std::min(end - begin, per_row - column);
      convert(from + begin * elements, importance.empty() ? nullptr : importance.data() + column * elements,
              to + begin * traits.block_bytes, count);
      begin += count;
    }
  });
}

void CpuBackend::dequantize(QuantType type, const Storage& blocks, const Target& out) {
  const QuantTraits& traits = quant_traits(type);
  const auto convert = quantized_kernels().dequantize[static_cast<size_t>(type)];
  const int64_t elements = traits.block_elements;
  const int64_t count = out.layout->shape().elem_count() / elements;
  const int64_t grain = 32768 / elements;
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    const std::byte* from = blocks.data() + begin * traits.block_bytes;
    if (out.dtype == DType::F32) {
      convert(from, reinterpret_cast<float*>(out.data()) + begin * elements, end - begin);
      return;
    }
    const int64_t step = 2048 / elements;
    float floats[2048];
    for (int64_t b = begin; b < end; b += step, from += step * traits.block_bytes) {
      const int64_t some = std::min(step, end - b);
      convert(from, floats, some);
      narrow(floats, some * elements, out.dtype, out.data(), b * elements);
    }
  });
}

void CpuBackend::quantized_matmul(const Operand& x, std::span<const QuantizedProduct> products) {
  Activations activations(x, nullptr, has_blocks_of_256(products[0].type));
  multiply(activations, products);
}

bool CpuBackend::multiplies_gates(DType dtype, int64_t m) const {
  return dtype == DType::F32 && m < kPanelFrom;
}

void CpuBackend::quantized_matmul_of_gate(UnaryOp op, const Operand& gate, const Operand& factor,
                                          const QuantizedProduct& product) {
  const GatedInput gated{Gated(op, gate.dtype), factor};
  Activations activations(gate, &gated, has_blocks_of_256(product.type));
  multiply(activations, {&product, 1});
}

bool CpuBackend::gates(QuantType type, DType dtype, int64_t m, int64_t n, int64_t k) const {
  const QuantizedDotKernels& kernels = kernels_for(m);
  // Two panels share the cache, and fewer tasks than products have must suffice for all threads.
  return dtype == DType::F32 && by_panels(kernels, type, m) &&
         2 * kernels.panel_bytes[static_cast<size_t>(type)](k) <= kPanelCache &&
         n >= kTasksEach * ThreadPool::global().threads() * kernels.panel_rows;
}

void CpuBackend::quantized_gated(UnaryOp op, const Operand& x, QuantType type, const Storage& gate,
                                 const Storage& factor, const Target& out) {
  Activations activations(x, nullptr, has_blocks_of_256(type));
  const QuantizedProduct wanted = {type, &gate, out};
  activations.add(wanted);
  activations.make();
  const Gated loop(op, out.dtype);
  Product product = product_of(wanted, activations);
  product.gate = &loop;
  product.factors = factor.data();
  product.past_caches = beyond_caches(static_cast<size_t>(product.m * product.n) * sizeof(float));
  const PanelTasks work(product);
  ThreadPool::global().parallel_for(work.tasks, [&](int64_t task) { work.run(task); });
}

}  // namespace beeswax::cpu
