// SPDX-License-Identifier: Apache-2.0
// Activations as bytes, in the forms that products with quantized weights read: prepared rows, or the tiles
// of a format's panels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/backend.h"
#include "backends/cpu/gated.h"
#include "backends/cpu/kernels/quantized.h"
#include "backends/cpu/stripes.h"

namespace beeswax::cpu {

constexpr int64_t kPanelFrom = 4;             // activation rows
constexpr size_t kRowForm = kQuantTypeCount;  // no type: rows of activations instead of tiles

/// The loops for m activations.
const QuantizedDotKernels& kernels_for(int64_t m);
/// Whether products of m activations with such weights go through panels.
bool by_panels(const QuantizedDotKernels& kernels, QuantType type, int64_t m);

/// Activations in one form.
struct Form {
  size_t type = kRowForm;  // of the tiles
  int64_t stride = 0;      // from one row or tile to the next
  detail::Ref<Storage> memory = {};
};

/// What activations are multiplied with after an operation, before they become bytes: f32.
struct GatedInput {
  Gated gate;
  const Operand& factor;
};

/// Activations [.., k] in the forms that the products of a call read.
class Activations {
 public:
  /// Of x, or of what a gate, if any, makes of it.
  Activations(const Operand& x, const GatedInput* gated, bool blocks_of_256);

  /// Before make(): this product will read them; what it may read instead of its weights' blocks.
  StripesUse add(const QuantizedProduct& product);
  void make();

  const QuantizedDotKernels& kernels() const { return kernels_; }
  int64_t k() const { return k_; }
  int64_t m() const { return m_; }
  /// The form for weights of a type that was added.
  const Form& form(QuantType weights) const { return *found(weights); }

 private:
  /// The type of the form for weights of a type.
  size_t form_type(QuantType weights) const {
    return by_panels(kernels_, weights, m_) ? static_cast<size_t>(weights) : kRowForm;
  }
  /// That form, or the end of all.
  const Form* found(QuantType weights) const {
    return std::find_if(forms_.data(), forms_.data() + count_,
                        [type = form_type(weights)](const Form& form) { return form.type == type; });
  }
  Form& of(QuantType weights);
  std::span<Form> forms() { return {forms_.data(), count_}; }
  /// Elements from `at` on as floats: themselves, or in scratch.
  const float* floats(int64_t at, int64_t count) const;
  void make_rows(std::byte* rows) const;
  /// Elements [begin, end) of a row, which it may have ended before.
  void make_row(std::byte* to, int64_t row, int64_t begin, int64_t end) const;

  const Operand& x_;
  const GatedInput* gated_;
  bool super_;  // blocks of 256
  int64_t k_, m_, row_stride_, tile_ = 1;
  bool reads_blocks_ = false;  // some product of rows
  const QuantizedDotKernels& kernels_;
  std::array<Form, Backend::kMostProducts> forms_;
  size_t count_ = 0;
};

}  // namespace beeswax::cpu
