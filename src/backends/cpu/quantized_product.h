// SPDX-License-Identifier: Apache-2.0
// Products of quantized weights with prepared activations, cut into tasks. Every output element is computed
// alone and in one order, so it depends neither on threads nor on batch-mates.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/backend.h"
#include "backends/cpu/byte_shares.h"
#include "backends/cpu/gated.h"
#include "backends/cpu/kernels/quantized.h"

namespace beeswax::cpu {

constexpr int64_t kPanelCache =
    384 << 10;  // bytes of panels that one task keeps: part of a second-level cache

/// Floats to the output's dtype, f16 or bf16, at element `at`.
void narrow(const float* from, int64_t count, DType dtype, std::byte* out, int64_t at);

/// What a product works on.
struct Product {
  const QuantizedDotKernels* kernels;
  size_t type;
  bool by_panels;  // else by rows
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
  float* floats_at(int64_t row, int64_t column) const {
    return reinterpret_cast<float*>(out) + row * n + column;
  }
};

/// A product through panels, in tasks: groups of weight rows are unpacked into panels that serve all
/// activations.
struct PanelTasks {
  const Product* product = nullptr;
  int64_t panels = 0, groups = 0, parts = 1, part = 0;
  int64_t tasks = 0;

  PanelTasks() = default;
  explicit PanelTasks(const Product& p);
  void run(int64_t task) const;
};

/// The products of a call without panels, in tasks: activations meet the weights as they lie in memory, or in
/// stripes made of them (stripes.h).
class RowTasks {
 public:
  /// Which lives as long as these.
  void add(const Product& p) {
    products_[count_++] = &p;
    bytes_ += p.bytes();
  }
  /// After the last one: how many tasks.
  int64_t cut();
  void run(int64_t task) const;

 private:
  std::array<const Product*, Backend::kMostProducts> products_;
  size_t count_ = 0;
  int64_t bytes_ = 0;
  ByteShares shares_;
};

}  // namespace beeswax::cpu
