// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/quantized_activations.h"

#include <algorithm>

#include "backends/cpu/backend.h"
#include "backends/cpu/thread_scratch.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kLeastElements = 16384;  // of a task, of several rows
// Of a part of a row.
constexpr int64_t kLeastPart = 4096;

}  // namespace

const QuantizedDotKernels& kernels_for(int64_t m) {
  const QuantizedDotKernels& kernels = quantized_dot_kernels();
  return kernels.of_fewer != nullptr && m < kernels.tile_rows ? *kernels.of_fewer : kernels;
}

bool by_panels(const QuantizedDotKernels& kernels, QuantType type, int64_t m) {
  return m >= kPanelFrom && kernels.panel_rows > 0 && kernels.panel[static_cast<size_t>(type)] != nullptr;
}

Activations::Activations(const Operand& x, const GatedInput* gated, bool blocks_of_256)
    : x_(x),
      gated_(gated),
      super_(blocks_of_256),
      k_(x.layout->shape()[x.layout->shape().rank() - 1]),
      m_(x.layout->shape().elem_count() / k_),
      row_stride_(activation_layout(super_, k_).stride),
      kernels_(kernels_for(m_)) {}

StripesUse Activations::add(const QuantizedProduct& product) {
  Form& form = of(product.type);
  if (form.type != kRowForm) {
    tile_ = kernels_.tile_rows;
    form.stride = kernels_.tile_bytes[form.type](k_);
    return {};
  }
  form.stride = row_stride_;
  const int64_t n = product.n();
  StripesUse use(*product.blocks, product.type, n, k_, kernels_);
  reads_blocks_ = reads_blocks_ || use.data() == nullptr || n % kernels_.stripe_rows != 0;
  return use;
}

/// A new one where there is none.
Form& Activations::of(QuantType weights) {
  const auto at = static_cast<size_t>(found(weights) - forms_.data());
  if (at == count_) forms_[count_++].type = form_type(weights);
  return forms_[at];
}

const float* Activations::floats(int64_t at, int64_t count) const {
  if (x_.dtype == DType::F32 && gated_ == nullptr) return reinterpret_cast<const float*>(x_.data()) + at;
  float* const floats = thread_scratch<float, Purpose::floats>(count);
  const auto* halves = reinterpret_cast<const uint16_t*>(x_.data()) + at;
  if (gated_ != nullptr)
    gated_->gate(reinterpret_cast<const float*>(x_.data()) + at,
                 reinterpret_cast<const float*>(gated_->factor.data()) + at, floats, count, false);
  else if (x_.dtype == DType::F16)
    quantized_kernels().widen_f16(halves, floats, count);
  else
    quantized_kernels().widen_bf16(halves, floats, count);
  return floats;
}

void Activations::make_row(std::byte* to, int64_t row, int64_t begin, int64_t end) const {
  kernels_.prepare[super_ ? 1 : 0](floats(row * k_ + begin, std::min(end, k_) - begin), k_, begin, end, to);
  const auto arrange = reads_blocks_ ? kernels_.arrange[super_ ? 1 : 0] : nullptr;
  if (arrange != nullptr) arrange(k_, begin, end, to);
}

void Activations::make_rows(std::byte* rows) const {
  const int64_t wanted = std::clamp<int64_t>(k_ / kLeastPart, 1, ThreadPool::global().threads());
  const int64_t part = round_up(ceil_div(k_, wanted), ActivationLayout::kPart), parts = ceil_div(k_, part);
  parallel_ranges(m_ * parts, parts > 1 ? 1 : std::max<int64_t>(1, kLeastElements / k_),
                  [&](int64_t task, int64_t end) {
                    for (; task < end; ++task) {
                      const int64_t row = task / parts, at = task % parts * part;
                      make_row(rows + row * row_stride_, row, at, at + part);
                    }
                  });
}

void Activations::make() {
  std::byte* all_rows = nullptr;
  bool by_rows = false;  // some form is rows or made of them
  for (Form& form : forms()) {
    const int64_t count = form.type == kRowForm ? m_ : ceil_div(m_, tile_);
    form.memory = CpuBackend::instance().allocate(static_cast<size_t>(count * form.stride));
    if (form.type == kRowForm) all_rows = form.memory->data();
    by_rows = by_rows || form.type == kRowForm || kernels_.prepare_tile[form.type] == nullptr;
  }
  if (count_ == 1 && all_rows != nullptr) return make_rows(all_rows);
  const auto make_tile = [&](int64_t t) {
    const int64_t first = t * tile_, count = std::min(tile_, m_ - first);
    std::byte* const rows = all_rows != nullptr ? all_rows + first * row_stride_
                            : by_rows ? thread_scratch<std::byte, Purpose::rows>(tile_ * row_stride_)
                                      : nullptr;
    for (int64_t r = 0; by_rows && r < count; ++r) make_row(rows + r * row_stride_, first + r, 0, k_);
    for (Form& form : forms()) {
      if (form.type == kRowForm) continue;
      std::byte* const to = form.memory->data() + t * form.stride;
      if (const PrepareTile at_once = kernels_.prepare_tile[form.type]; at_once != nullptr)
        at_once(floats(first * k_, count * k_), count, k_, to);
      else
        kernels_.interleave[form.type](rows, count, k_, to);
    }
  };
  parallel_ranges(ceil_div(m_, tile_), std::max<int64_t>(1, kLeastElements / (k_ * tile_)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t t = begin; t < end; ++t) make_tile(t);
                  });
}

}  // namespace beeswax::cpu
