// SPDX-License-Identifier: Apache-2.0
// Shape: up to eight dimensions, stored inline.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "beeswax/export.h"

namespace beeswax {

inline constexpr int kMaxRank = 8;

class BW_API Shape {
 public:
  Shape() = default;  ///< rank 0: a scalar
  /// Throws InvalidArgument for a negative size or more than eight dimensions.
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }

  /// Product of the dimensions (1 for rank 0). Throws TooLarge where that, 0 aside, does not fit 63 bits.
  int64_t elem_count() const;

  /// `axis` in [-rank, rank) as a number in [0, rank); `operation` names the caller in the error.
  int axis(int axis, std::string_view operation) const;

  /// Throws DimOutOfRange or InvalidArgument unless 0 <= axis < rank and size >= 0.
  void set(int axis, int64_t size) {
    if (axis < 0 || axis >= rank_ || size < 0) refuse(axis, size);
    dims_[static_cast<size_t>(axis)] = size;
  }
  void push_back(int64_t size);
  void insert(int axis, int64_t size);
  void erase(int axis);

  bool operator==(const Shape& other) const;
  std::string to_string() const;  ///< "[2, 3]"

 private:
  [[noreturn]] void refuse(int axis, int64_t size) const;

  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// Axes given as one number or a list, negative counting from the end.
class BW_API Axes {
 public:
  Axes(int axis) : axes_{axis}, count_(1) {}  // NOLINT(google-explicit-constructor): sum(1) and sum({0, 1})
  Axes(std::initializer_list<int> axes);
  explicit Axes(std::span<const int> axes);
  /// The first eight.
  std::span<const int> list() const { return {axes_.data(), kept()}; }
  /// Bit i is set where axis i of `shape` is named. Throws DimOutOfRange, DuplicateDim, or InvalidArgument
  /// for more than eight axes.
  uint32_t mask(const Shape& shape, std::string_view operation) const;

 private:
  size_t kept() const { return static_cast<size_t>(count_ < kMaxRank ? count_ : kMaxRank); }

  std::array<int, kMaxRank> axes_{};
  int count_ = 0;
};

/// NumPy's broadcast of two shapes. Throws ShapeMismatch naming `operation` and both shapes.
BW_API Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view operation,
                              std::string_view a_dtype = {}, std::string_view b_dtype = {});

}  // namespace beeswax
