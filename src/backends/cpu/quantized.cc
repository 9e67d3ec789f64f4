// SPDX-License-Identifier: Apache-2.0
// Quantized weights: conversions, and products with activations. A product first quantizes each activation
// row once. Few rows then meet the weights as they lie in memory, so that generating a token reads every
// weight byte once; from kPanelFrom rows on, groups of weight rows are unpacked into panels that serve all
// activations. Every output element is computed alone and in one order, so it depends neither on threads nor
// on batch-mates.
#include "backends/cpu/kernels/quantized.h"

#include <algorithm>
#include <array>
#include <memory>

#include "backends/cpu/backend.h"
#include "backends/cpu/processor.h"
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

/// Weight rows [begin, end) times all activations, from the blocks in memory.
void product_of_rows(const Product& p, int64_t begin, int64_t end) {
  // With several activations, as many weight rows at a time as stay in the first-level cache.
  const int64_t step = p.m == 1 ? end - begin : std::max<int64_t>(1, 8192 / p.row_bytes);
  for (int64_t row = begin; row < end; row += step) {
    const int64_t rows = std::min(step, end - row);
    for (int64_t a = 0; a < p.m; ++a) {
      const bool direct = p.dtype == DType::F32;
      float* to = direct ? p.floats_at(a, row) : scratch<float, 1>(rows);
      p.kernels->rows[p.type](p.weight_row(row), rows, p.k, p.activation(a), to);
      if (!direct) narrow(to, rows, p.dtype, p.out, a * p.n + row);
    }
  }
}

/// The same through panels, for activations [first, last).
void product_of_panels(const Product& p, int64_t begin, int64_t end, int64_t first, int64_t last) {
  const int64_t height = p.kernels->panel_rows;
  const int64_t bytes = p.kernels->panel_bytes[p.type](p.k);
  const int64_t panels = (end - begin + height - 1) / height;
  auto* memory = scratch<std::byte, 2>(panels * bytes);
  for (int64_t i = 0; i < panels; ++i)
    p.kernels->pack[p.type](p.weight_row(begin + i * height), std::min(height, end - begin - i * height), p.k,
                            memory + i * bytes);
  Ahead ahead{p.weight_row(end), p.weight_row(end)};
  for (int64_t a = first; a < last; a += p.together()) {
    const int64_t count = std::min(p.together(), last - a);
    // The thread's next weights are most likely those behind these, unless tasks share them.
    if (reads_further() && last - first == p.m && last - a <= kAheadBlocks * p.together())
      ahead.end = p.weight_row(std::min(p.n, 2 * end - begin));
    for (int64_t i = 0; i < panels; ++i) {
      const int64_t row = begin + i * height, rows = std::min(height, end - row);
      if (p.dtype == DType::F32) {
        p.kernels->panel[p.type](memory + i * bytes, rows, p.k, p.tiles(a), count, ahead, p.floats_at(a, row),
                                 p.n);
        continue;
      }
      float* floats = scratch<float, 1>(count * height);
      p.kernels->panel[p.type](memory + i * bytes, rows, p.k, p.tiles(a), count, ahead, floats, height);
      for (int64_t c = 0; c < count; ++c)
        narrow(floats + c * height, rows, p.dtype, p.out, (a + c) * p.n + row);
    }
  }
}

/// A product in tasks, from the blocks in memory or through panels.
struct Work {
  Product product = {};
  int64_t grain = 0;  // weight rows of a task without panels; 0: with panels
  int64_t panels = 0, groups = 0, parts = 1, part = 0;
  int64_t tasks = 0;

  Work() = default;
  explicit Work(const Product& p) : product(p) {
    if (p.type_of_tiles == kRows) {
      grain = std::max<int64_t>(8, 65536 / p.row_bytes);
      tasks = ceil_div(p.n, grain);
      return;
    }
    const int64_t threads = ThreadPool::global().threads();
    panels = ceil_div(p.n, p.kernels->panel_rows);
    // Groups of panels, alike and as many for each thread.
    const int64_t most = std::clamp<int64_t>(kPanelCache / p.kernels->panel_bytes[p.type](p.k), 1, 8);
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
    if (grain > 0) return product_of_rows(p, task * grain, std::min(p.n, (task + 1) * grain));
    const int64_t height = p.kernels->panel_rows;
    const int64_t group = task / parts, first = std::min(p.m, task % parts * part);
    const int64_t begin = group * panels / groups * height, end = (group + 1) * panels / groups * height;
    product_of_panels(p, begin, std::min(p.n, end), first, std::min(p.m, first + part));
  }
};

/// Activations in one of the forms that products read: prepared rows, or the tiles of a format.
struct Form {
  size_t type = kRows;  // of the tiles; kRows: rows
  int64_t stride = 0;   // from one row or tile to the next
  detail::Ref<Storage> memory = {};
};

/// The forms that the products of a call read.
class Forms {
 public:
  /// The form of this type; a new one where there is none.
  Form& of(size_t type) {
    Form* found = std::find_if(begin(), end(), [&](const Form& form) { return form.type == type; });
    if (found == end()) forms_[count_++].type = type;
    return *found;
  }
  Form* begin() { return forms_.data(); }
  Form* end() { return begin() + count_; }

 private:
  std::array<Form, Backend::kMostProducts> forms_;
  size_t count_ = 0;
};

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
  const Shape& shape = x.layout->shape();
  const int64_t k = shape[shape.rank() - 1], m = shape.elem_count() / k;
  const QuantizedDotKernels& kernels = quantized_dot_kernels();
  const bool blocks_of_256 = quant_traits(products[0].type).block_elements == 256;
  const int64_t row_stride = activation_layout(blocks_of_256, k).stride;
  const auto type_of_tiles = [&](QuantType type) {
    const auto id = static_cast<size_t>(type);
    return m >= kPanelFrom && kernels.panel_rows > 0 && kernels.panel[id] != nullptr ? id : kRows;
  };
  Forms forms;
  int64_t tile = 1;
  for (const QuantizedProduct& product : products) {
    Form& form = forms.of(type_of_tiles(product.type));
    if (form.type != kRows) tile = kernels.tile_rows;
    form.stride = form.type == kRows ? row_stride : kernels.tile_bytes[form.type](k);
  }
  std::byte* all_rows = nullptr;
  bool by_rows = false;  // some form is rows or made of them
  for (Form& form : forms) {
    const int64_t count = form.type == kRows ? m : ceil_div(m, tile);
    form.memory = allocate(static_cast<size_t>(count * form.stride));
    if (form.type == kRows) all_rows = form.memory->data();
    by_rows = by_rows || form.type == kRows || kernels.prepare_tile[form.type] == nullptr;
  }
  const auto prepare = kernels.prepare[blocks_of_256 ? 1 : 0];
  const auto arrange = all_rows != nullptr ? kernels.arrange[blocks_of_256 ? 1 : 0] : nullptr;
  const auto make_tile = [&](int64_t t) {
    const int64_t first = t * tile, count = std::min(tile, m - first);
    std::byte* const rows = all_rows != nullptr ? all_rows + first * row_stride
                            : by_rows           ? scratch<std::byte, 3>(tile * row_stride)
                                                : nullptr;
    for (int64_t r = 0; by_rows && r < count; ++r) {
      std::byte* const row = rows + r * row_stride;
      prepare(widened_rows(x, first + r, 1, k), k, row);
      if (arrange != nullptr) arrange(k, row);
    }
    for (Form& form : forms) {
      if (form.type == kRows) continue;
      std::byte* const to = form.memory->data() + t * form.stride;
      if (const PrepareTile at_once = kernels.prepare_tile[form.type]; at_once != nullptr)
        at_once(widened_rows(x, first, count, k), count, k, to);
      else
        kernels.interleave[form.type](rows, count, k, to);
    }
  };
  parallel_ranges(ceil_div(m, tile), std::max<int64_t>(1, 16384 / (k * tile)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t t = begin; t < end; ++t) make_tile(t);
                  });
  std::array<Work, kMostProducts> works;
  Work* next = works.data();
  int64_t tasks = 0;
  for (const QuantizedProduct& product : products) {
    const Form& form = forms.of(type_of_tiles(product.type));
    const auto row_bytes = static_cast<int64_t>(quant_bytes(product.type, static_cast<size_t>(k)));
    *next = Work({&kernels, static_cast<size_t>(product.type), form.type, product.blocks->data(), product.n(),
                  k, m, row_bytes, form.memory->data(), form.stride, product.out.dtype, product.out.data()});
    tasks += next++->tasks;
  }
  ThreadPool::global().parallel_for(tasks, [&](int64_t task) {
    const Work* work = works.data();
    for (; task >= work->tasks; ++work) task -= work->tasks;
    work->run(task);
  });
}

}  // namespace beeswax::cpu
