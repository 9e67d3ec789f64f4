// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/quantized_product.h"

#include <algorithm>
#include <span>

#include "backends/cpu/processor.h"
#include "backends/cpu/streaming.h"
#include "backends/cpu/thread_scratch.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kActivationBlock = 64;  // activation rows, at most, that pass over a task's panels together
// While the last blocks pass, the next weights are requested. Earlier, they would be gone before they are
// read. A prompt takes 0.988 of the time on Zen 5 (Q8_0), 0.997 for K formats; elsewhere it was not measured.
constexpr int64_t kAheadBlocks = 2;

constexpr int64_t kRowsAtLeast = 8;  // of a task without panels

/// Activations that pass over panels together: whole tiles.
int64_t together(const Product& p) { return kActivationBlock / p.kernels->tile_rows * p.kernels->tile_rows; }

/// multiply(a, results) for each activation a: its products with weight rows [row, row + rows).
template <class F>
void for_activations(const Product& p, int64_t row, int64_t rows, F multiply) {
  for (int64_t a = 0; a < p.m; ++a) {
    const bool direct = p.dtype == DType::F32;
    float* to = direct ? p.floats_at(a, row) : thread_scratch<float, Purpose::results>(rows);
    multiply(a, to);
    if (!direct) narrow(to, rows, p.dtype, p.out, a * p.n + row);
  }
}

/// Weight rows [begin, end) times all activations, from the blocks in memory.
void product_of_rows(const Product& p, int64_t begin, int64_t end) {
  // With several activations, as many weight rows at a time as stay in the first-level cache.
  const int64_t step = p.m == 1 ? end - begin : std::max<int64_t>(1, 8192 / p.row_bytes);
  for (int64_t row = begin; row < end; row += step) {
    const int64_t rows = std::min(step, end - row);
    for_activations(p, row, rows, [&](int64_t a, float* to) {
      p.kernels->rows[p.type](p.weight_row(row), rows, p.k, p.activation(a), to);
    });
  }
}

/// The same from stripes, which begin at multiples of their rows; rows behind the last one from their blocks.
void product_of_stripes(const Product& p, int64_t begin, int64_t end) {
  const StripeKernels& loops = p.kernels->stripes[p.type];
  const int64_t height = p.kernels->stripe_rows, bytes = loops.bytes(p.k);
  const int64_t last = std::min(end, p.n / height * height);
  // Stripe by stripe where it is made or meets several activations, which then find it in a cache.
  const int64_t step = p.m == 1 && !p.makes_stripes ? std::max(last - begin, height) : height;
  for (int64_t row = begin; row < last; row += step) {
    const int64_t rows = std::min(step, last - row);
    std::byte* const stripe = p.stripes + row / height * bytes;
    if (p.makes_stripes) {
      // In the order in which they lie: memory is slow to give many rows block by block.
      auto* const near = thread_scratch<std::byte, Purpose::blocks>(height * p.row_bytes);
      std::copy_n(p.weight_row(row), height * p.row_bytes, near);
      loops.make(near, p.k, stripe);
    }
    for_activations(p, row, rows, [&](int64_t a, float* to) {
      loops.rows(stripe, rows / height, p.k, p.activation(a), to);
    });
  }
  if (last < end) product_of_rows(p, std::max(begin, last), end);
}

/// The row that a cut so many bytes behind the first one falls on: where loops begin, or the end.
int64_t row_at(const Product& p, int64_t bytes) {
  const int64_t step = p.stripes != nullptr ? p.kernels->stripe_rows : kRowsAtLeast;
  return bytes >= p.bytes() ? p.n : std::max<int64_t>(0, bytes / p.row_bytes / step * step);
}

/// A task's rows of one of the weights as panels, and what is requested while activations pass over them.
struct Side {
  const std::byte* weights;  // of all rows
  std::byte* panels;
  Ahead ahead;
};

/// Weight rows [begin, end) through panels, for activations [first, last).
void product_of_panels(const Product& p, int64_t begin, int64_t end, int64_t first, int64_t last) {
  const int64_t height = p.kernels->panel_rows;
  const int64_t bytes = p.kernels->panel_bytes[p.type](p.k);
  const int64_t panels = (end - begin + height - 1) / height;
  auto* memory = thread_scratch<std::byte, Purpose::panels>(p.sides() * panels * bytes);
  std::array<Side, 2> sides;
  for (int64_t s = 0; s < p.sides(); ++s) {
    const std::byte* const weights = s == 0 ? p.weights : p.factors;
    const std::byte* const behind = weights + end * p.row_bytes;
    sides[static_cast<size_t>(s)] = {weights, memory + s * panels * bytes, {behind, behind}};
  }
  const std::span<Side> used(sides.data(), static_cast<size_t>(p.sides()));
  for (const Side& side : used)
    for (int64_t i = 0; i < panels; ++i)
      p.kernels->pack[p.type](side.weights + (begin + i * height) * p.row_bytes,
                              std::min(height, end - begin - i * height), p.k, side.panels + i * bytes);
  for (int64_t a = first; a < last; a += together(p)) {
    const int64_t count = std::min(together(p), last - a);
    // The thread's next weights are most likely those behind these, unless tasks share them.
    if (reads_further() && last - first == p.m && last - a <= kAheadBlocks * together(p))
      for (Side& side : used) side.ahead.end = side.weights + std::min(p.n, 2 * end - begin) * p.row_bytes;
    for (int64_t i = 0; i < panels; ++i) {
      const int64_t row = begin + i * height, rows = std::min(height, end - row);
      const auto multiply = [&](Side& side, float* to, int64_t stride) {
        p.kernels->panel[p.type](side.panels + i * bytes, rows, p.k, p.tiles(a), count, side.ahead, to,
                                 stride);
      };
      if (p.gate == nullptr && p.dtype == DType::F32) {
        multiply(sides[0], p.floats_at(a, row), p.n);
        continue;
      }
      const int64_t elements = count * rows;
      float* const floats = thread_scratch<float, Purpose::results>(p.sides() * elements);
      multiply(sides[0], floats, rows);
      if (p.gate != nullptr) {
        multiply(sides[1], floats + elements, rows);
        (*p.gate)(floats, floats + elements, floats, elements, false);
        float* const to = p.floats_at(a, row);
        const auto row_bytes = static_cast<size_t>(rows) * sizeof(float);
        if (p.past_caches)
          copy_kernels().stream_rows(reinterpret_cast<std::byte*>(to),
                                     static_cast<size_t>(p.n) * sizeof(float),
                                     reinterpret_cast<const std::byte*>(floats), row_bytes, count);
        else
          for (int64_t c = 0; c < count; ++c) std::copy_n(floats + c * rows, rows, to + c * p.n);
        continue;
      }
      for (int64_t c = 0; c < count; ++c)
        narrow(floats + c * rows, rows, p.dtype, p.out, (a + c) * p.n + row);
    }
  }
  if (p.past_caches) copy_kernels().fence();
}

}  // namespace

void narrow(const float* from, int64_t count, DType dtype, std::byte* out, int64_t at) {
  if (dtype == DType::F16) {
    quantized_kernels().narrow_f16(from, reinterpret_cast<uint16_t*>(out) + at, count);
  } else {
    quantized_kernels().narrow_bf16(from, reinterpret_cast<uint16_t*>(out) + at, count);
  }
}

PanelTasks::PanelTasks(const Product& p) : product(&p) {
  const int64_t threads = ThreadPool::global().threads();
  panels = ceil_div(p.n, p.kernels->panel_rows);
  // Groups of panels, alike and as many for each thread.
  const int64_t most =
      std::clamp<int64_t>(kPanelCache / (p.sides() * p.kernels->panel_bytes[p.type](p.k)), 1, 8);
  groups = std::min(panels, std::max<int64_t>(2, ceil_div(panels, most * threads)) * threads);
  // Few panels: several tasks share one and split the activations.
  parts = groups >= threads ? 1 : ceil_div(2 * threads, groups);
  parts = std::min(parts, ceil_div(p.m, together(p)));
  const int64_t tile = p.kernels->tile_rows;
  part = ceil_div(ceil_div(p.m, tile), parts) * tile;
  tasks = groups * parts;
}

void PanelTasks::run(int64_t task) const {
  const Product& p = *product;
  const int64_t height = p.kernels->panel_rows;
  const int64_t group = task / parts, first = std::min(p.m, task % parts * part);
  const int64_t begin = group * panels / groups * height, end = (group + 1) * panels / groups * height;
  product_of_panels(p, begin, std::min(p.n, end), first, std::min(p.m, first + part));
}

int64_t RowTasks::cut() {
  shares_ = ByteShares(bytes_, ThreadPool::global().threads());
  return shares_.tasks();
}

void RowTasks::run(int64_t task) const {
  int64_t begin = shares_.begin(task), end = shares_.begin(task + 1);
  for (size_t i = 0; i < count_; ++i) {
    const Product& p = *products_[i];
    const int64_t first = row_at(p, begin), last = row_at(p, end);
    if (first < last && p.stripes != nullptr) product_of_stripes(p, first, last);
    if (first < last && p.stripes == nullptr) product_of_rows(p, first, last);
    begin -= p.bytes();
    end -= p.bytes();
  }
}

}  // namespace beeswax::cpu
