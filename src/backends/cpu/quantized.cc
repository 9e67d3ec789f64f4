// SPDX-License-Identifier: Apache-2.0
// Quantized weights: conversions, and products with activations. A product first quantizes each activation
// row once. Few rows then meet the weights as they lie in memory, or in stripes made of them (stripes.h), so
// that generating a token reads every weight byte once; from kPanelFrom rows on, groups of weight rows are
// unpacked into panels that serve all activations. Every output element is computed alone and in one order,
// so it depends neither on threads nor on batch-mates.
#include "backends/cpu/kernels/quantized.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "backends/cpu/backend.h"
#include "backends/cpu/byte_shares.h"
#include "backends/cpu/gated.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/streaming.h"
#include "backends/cpu/stripes.h"
#include "core/divide.h"
#include "core/fail.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kPanelFrom = 4;  // activation rows
constexpr int64_t kPanelCache =
    384 << 10;                            // bytes of panels that one task keeps: part of a second-level cache
constexpr int64_t kActivationBlock = 64;  // activation rows, at most, that pass over these panels together
// While the last blocks pass, the next weights are requested. Earlier, they would be gone before they are
// read. A prompt takes 0.988 of the time on Zen 5 (Q8_0), 0.997 for K formats; elsewhere it was not measured.
constexpr int64_t kAheadBlocks = 2;

constexpr int64_t kRowsAtLeast = 8;  // of a task without panels

constexpr int64_t kTasksEach = 4;  // panels of a gated product for each thread, at least

constexpr size_t kRows = kQuantTypeCount;  // no type: rows of activations instead of tiles

/// Memory of one thread for one purpose, kept between calls; grows to the largest size asked for.
template <class T, int kPurpose>
T* scratch(int64_t count) {
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local int64_t bytes = 0;
  const int64_t wanted = count * static_cast<int64_t>(sizeof(T));
  if (wanted > bytes) {
    memory.reset();
    bytes = 0;
    memory.reset(::operator new(static_cast<size_t>(wanted), std::align_val_t{64}));
    bytes = wanted;
  }
  return static_cast<T*>(memory.get());
}

/// Floats to the output's dtype at element `at`.
void narrow(const float* from, int64_t count, DType dtype, std::byte* out, int64_t at) {
  if (dtype == DType::F16) {
    quantized_kernels().narrow_f16(from, reinterpret_cast<uint16_t*>(out) + at, count);
  } else {
    quantized_kernels().narrow_bf16(from, reinterpret_cast<uint16_t*>(out) + at, count);
  }
}

/// `count` rows of activations as floats: themselves, or widened into scratch.
const float* widened_rows(const Operand& x, int64_t row, int64_t count, int64_t k) {
  if (x.dtype == DType::F32) return reinterpret_cast<const float*>(x.data()) + row * k;
  float* floats = scratch<float, 0>(count * k);
  const auto* halves = reinterpret_cast<const uint16_t*>(x.data()) + row * k;
  if (x.dtype == DType::F16) {
    quantized_kernels().widen_f16(halves, floats, count * k);
  } else {
    quantized_kernels().widen_bf16(halves, floats, count * k);
  }
  return floats;
}

/// The loops for m activations.
const QuantizedDotKernels& kernels_for(int64_t m) {
  const QuantizedDotKernels& kernels = quantized_dot_kernels();
  return kernels.of_fewer != nullptr && m < kernels.tile_rows ? *kernels.of_fewer : kernels;
}

/// Whether products of m activations with such weights go through panels.
bool by_panels(const QuantizedDotKernels& kernels, QuantType type, int64_t m) {
  return m >= kPanelFrom && kernels.panel_rows > 0 && kernels.panel[static_cast<size_t>(type)] != nullptr;
}

/// What a product works on.
struct Product {
  const QuantizedDotKernels* kernels;
  size_t type, type_of_tiles;  // kRows: activations are rows
  const std::byte* weights;
  int64_t n, k, m;
  int64_t row_bytes;
  const std::byte* activations;  // rows, or tiles for panels
  int64_t activation_stride;     // of a row, or of a tile
  DType dtype;
  std::byte* out;
  // Of gated products, which are f32 and go through panels: the other weights, of the same type and shape.
  const Gated* gate = nullptr;
  const std::byte* factors = nullptr;
  bool past_caches = false;  // its results
  // Of few activations: the weights once more, or null, and whether tasks make them first.
  std::byte* stripes = nullptr;
  bool makes_stripes = false;

  int64_t sides() const { return gate != nullptr ? 2 : 1; }
  int64_t bytes() const { return n * row_bytes; }
  const std::byte* weight_row(int64_t row) const { return weights + row * row_bytes; }
  const std::byte* activation(int64_t row) const { return activations + row * activation_stride; }
  const std::byte* tiles(int64_t row) const {
    return activations + row / kernels->tile_rows * activation_stride;
  }
  /// Activations that pass over panels together: whole tiles.
  int64_t together() const { return kActivationBlock / kernels->tile_rows * kernels->tile_rows; }
  float* floats_at(int64_t row, int64_t column) const {
    return reinterpret_cast<float*>(out) + row * n + column;
  }
};

/// multiply(a, results) for each activation a: its products with weight rows [row, row + rows).
template <class F>
void for_activations(const Product& p, int64_t row, int64_t rows, F multiply) {
  for (int64_t a = 0; a < p.m; ++a) {
    const bool direct = p.dtype == DType::F32;
    float* to = direct ? p.floats_at(a, row) : scratch<float, 1>(rows);
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
      auto* const near = scratch<std::byte, 4>(height * p.row_bytes);
      std::copy_n(p.weight_row(row), height * p.row_bytes, near);
      loops.make(near, p.k, stripe);
    }
    for_activations(p, row, rows, [&](int64_t a, float* to) {
      loops.rows(stripe, rows / height, p.k, p.activation(a), to);
    });
  }
  if (last < end) product_of_rows(p, std::max(begin, last), end);
}

/// A task's rows of one of the weights as panels, and what is requested while activations pass over them.
struct Side {
  const std::byte* weights;  // of all rows
  std::byte* panels;
  Ahead ahead;
};

/// The same through panels, for activations [first, last).
void product_of_panels(const Product& p, int64_t begin, int64_t end, int64_t first, int64_t last) {
  const int64_t height = p.kernels->panel_rows;
  const int64_t bytes = p.kernels->panel_bytes[p.type](p.k);
  const int64_t panels = (end - begin + height - 1) / height;
  auto* memory = scratch<std::byte, 2>(p.sides() * panels * bytes);
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
  for (int64_t a = first; a < last; a += p.together()) {
    const int64_t count = std::min(p.together(), last - a);
    // The thread's next weights are most likely those behind these, unless tasks share them.
    if (reads_further() && last - first == p.m && last - a <= kAheadBlocks * p.together())
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
      float* const floats = scratch<float, 1>(p.sides() * elements);
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

/// A product through panels, in tasks.
struct PanelTasks {
  Product product = {};
  int64_t panels = 0, groups = 0, parts = 1, part = 0;
  int64_t tasks = 0;

  PanelTasks() = default;
  explicit PanelTasks(const Product& p) : product(p) {
    const int64_t threads = ThreadPool::global().threads();
    panels = ceil_div(p.n, p.kernels->panel_rows);
    // Groups of panels, alike and as many for each thread.
    const int64_t most =
        std::clamp<int64_t>(kPanelCache / (p.sides() * p.kernels->panel_bytes[p.type](p.k)), 1, 8);
    groups = std::min(panels, std::max<int64_t>(2, ceil_div(panels, most * threads)) * threads);
    // Few panels: several tasks share one and split the activations.
    parts = groups >= threads ? 1 : ceil_div(2 * threads, groups);
    parts = std::min(parts, ceil_div(p.m, p.together()));
    const int64_t tile = p.kernels->tile_rows;
    part = ceil_div(ceil_div(p.m, tile), parts) * tile;
    tasks = groups * parts;
  }

  void run(int64_t task) const {
    const Product& p = product;
    const int64_t height = p.kernels->panel_rows;
    const int64_t group = task / parts, first = std::min(p.m, task % parts * part);
    const int64_t begin = group * panels / groups * height, end = (group + 1) * panels / groups * height;
    product_of_panels(p, begin, std::min(p.n, end), first, std::min(p.m, first + part));
  }
};

/// The products of a call without panels, from blocks or from stripes, in tasks.
class RowTasks {
 public:
  void add(const Product& p) {
    products_[count_++] = p;
    bytes_ += p.bytes();
  }
  /// After the last one.
  int64_t cut() {
    shares_ = ByteShares(bytes_, ThreadPool::global().threads());
    return shares_.tasks();
  }
  void run(int64_t task) const {
    int64_t begin = shares_.begin(task), end = shares_.begin(task + 1);
    for (size_t i = 0; i < count_; ++i) {
      const Product& p = products_[i];
      const int64_t first = row_at(p, begin), last = row_at(p, end);
      if (first < last && p.stripes != nullptr) product_of_stripes(p, first, last);
      if (first < last && p.stripes == nullptr) product_of_rows(p, first, last);
      begin -= p.bytes();
      end -= p.bytes();
    }
  }

 private:
  /// The row that a cut so many bytes behind the first one falls on: where loops begin, or the end.
  static int64_t row_at(const Product& p, int64_t bytes) {
    const int64_t step = p.stripes != nullptr ? p.kernels->stripe_rows : kRowsAtLeast;
    return bytes >= p.bytes() ? p.n : std::max<int64_t>(0, bytes / p.row_bytes / step * step);
  }

  std::array<Product, Backend::kMostProducts> products_ = {};
  size_t count_ = 0;
  int64_t bytes_ = 0;
  ByteShares shares_;
};

/// Activations in one of the forms that products read: prepared rows, or the tiles of a format.
struct Form {
  size_t type = kRows;  // of the tiles; kRows: rows
  int64_t stride = 0;   // from one row or tile to the next
  detail::Ref<Storage> memory = {};
};

/// Activations [.., k] in the forms that the products of a call read.
class Activations {
 public:
  Activations(const Operand& x, bool blocks_of_256)
      : x_(x),
        super_(blocks_of_256),
        k_(x.layout->shape()[x.layout->shape().rank() - 1]),
        m_(x.layout->shape().elem_count() / k_),
        row_stride_(activation_layout(super_, k_).stride),
        kernels_(kernels_for(m_)) {}

  /// Before make(): products with such weights will read these.
  void add(QuantType type) {
    Form& form = of(type);
    if (form.type != kRows) tile_ = kernels_.tile_rows;
    form.stride = form.type == kRows ? row_stride_ : kernels_.tile_bytes[form.type](k_);
  }
  /// The same of one that may read stripes of its weights instead of their blocks.
  StripesUse add(const QuantizedProduct& product) {
    add(product.type);
    if (of(product.type).type != kRows) return {};
    const int64_t n = product.n();
    StripesUse use(*product.blocks, product.type, n, k_, kernels_);
    reads_blocks_ = reads_blocks_ || use.data() == nullptr || n % kernels_.stripe_rows != 0;
    return use;
  }
  void make();
  Product product(QuantType type, const std::byte* weights, const Target& out) {
    const Form& form = of(type);
    const Shape& shape = out.layout->shape();
    const auto row_bytes = static_cast<int64_t>(quant_bytes(type, static_cast<size_t>(k_)));
    return {&kernels_,
            static_cast<size_t>(type),
            form.type,
            weights,
            shape[shape.rank() - 1],
            k_,
            m_,
            row_bytes,
            form.memory->data(),
            form.stride,
            out.dtype,
            out.data()};
  }

 private:
  /// The form for weights of a type; a new one where there is none.
  Form& of(QuantType weights) {
    const size_t type = by_panels(kernels_, weights, m_) ? static_cast<size_t>(weights) : kRows;
    Form* const end = forms_.data() + count_;
    Form* const found = std::find_if(forms_.data(), end, [&](const Form& form) { return form.type == type; });
    if (found == end) forms_[count_++].type = type;
    return *found;
  }
  std::span<Form> forms() { return {forms_.data(), count_}; }

  const Operand& x_;
  bool super_;  // blocks of 256
  int64_t k_, m_, row_stride_, tile_ = 1;
  bool reads_blocks_ = false;  // some product of rows
  const QuantizedDotKernels& kernels_;
  std::array<Form, Backend::kMostProducts> forms_;
  size_t count_ = 0;
};

void Activations::make() {
  std::byte* all_rows = nullptr;
  bool by_rows = false;  // some form is rows or made of them
  for (Form& form : forms()) {
    const int64_t count = form.type == kRows ? m_ : ceil_div(m_, tile_);
    form.memory = CpuBackend::instance().allocate(static_cast<size_t>(count * form.stride));
    if (form.type == kRows) all_rows = form.memory->data();
    by_rows = by_rows || form.type == kRows || kernels_.prepare_tile[form.type] == nullptr;
  }
  const auto prepare = kernels_.prepare[super_ ? 1 : 0];
  const auto arrange = reads_blocks_ ? kernels_.arrange[super_ ? 1 : 0] : nullptr;
  const auto make_tile = [&](int64_t t) {
    const int64_t first = t * tile_, count = std::min(tile_, m_ - first);
    std::byte* const rows = all_rows != nullptr ? all_rows + first * row_stride_
                            : by_rows           ? scratch<std::byte, 3>(tile_ * row_stride_)
                                                : nullptr;
    for (int64_t r = 0; by_rows && r < count; ++r) {
      std::byte* const row = rows + r * row_stride_;
      prepare(widened_rows(x_, first + r, 1, k_), k_, row);
      if (arrange != nullptr) arrange(k_, row);
    }
    for (Form& form : forms()) {
      if (form.type == kRows) continue;
      std::byte* const to = form.memory->data() + t * form.stride;
      if (const PrepareTile at_once = kernels_.prepare_tile[form.type]; at_once != nullptr)
        at_once(widened_rows(x_, first, count, k_), count, k_, to);
      else
        kernels_.interleave[form.type](rows, count, k_, to);
    }
  };
  parallel_ranges(ceil_div(m_, tile_), std::max<int64_t>(1, 16384 / (k_ * tile_)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t t = begin; t < end; ++t) make_tile(t);
                  });
}

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
  Activations activations(x, quant_traits(products[0].type).block_elements == 256);
  std::array<StripesUse, kMostProducts> stripes;
  for (size_t i = 0; i < products.size(); ++i) stripes[i] = activations.add(products[i]);
  activations.make();
  std::array<PanelTasks, kMostProducts> panel_tasks;
  RowTasks row_tasks;
  int64_t tasks = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    const QuantizedProduct& each = products[i];
    Product product = activations.product(each.type, each.blocks->data(), each.out);
    product.stripes = stripes[i].data();
    product.makes_stripes = stripes[i].is_making();
    if (product.type_of_tiles == kRows)
      row_tasks.add(product);
    else
      panel_tasks[i] = PanelTasks(product);
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

bool CpuBackend::gates(QuantType type, DType dtype, int64_t m, int64_t n, int64_t k) const {
  const QuantizedDotKernels& kernels = kernels_for(m);
  // Two panels share the cache, and fewer tasks than products have must suffice for all threads.
  return dtype == DType::F32 && by_panels(kernels, type, m) &&
         2 * kernels.panel_bytes[static_cast<size_t>(type)](k) <= kPanelCache &&
         n >= kTasksEach * ThreadPool::global().threads() * kernels.panel_rows;
}

void CpuBackend::quantized_gated(UnaryOp op, const Operand& x, QuantType type, const Storage& gate,
                                 const Storage& factor, const Target& out) {
  Activations activations(x, quant_traits(type).block_elements == 256);
  activations.add(type);
  activations.make();
  const Gated loop(op, out.dtype);
  Product product = activations.product(type, gate.data(), out);
  product.gate = &loop;
  product.factors = factor.data();
  product.past_caches = beyond_caches(static_cast<size_t>(product.m * product.n) * sizeof(float));
  const PanelTasks work(product);
  ThreadPool::global().parallel_for(work.tasks, [&](int64_t task) { work.run(task); });
}

}  // namespace beeswax::cpu
