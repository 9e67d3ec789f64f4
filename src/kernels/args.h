// SPDX-License-Identifier: Apache-2.0
// What kernels are called with: one plain struct per kind of kernel, the same for the host and every GPU,
// passed by value. Counts and linear indices are 32 bits: the host splits larger tensors over an outer axis.
// Pointers already include offsets; strides are in elements.
#pragma once

#include "beeswax/portable.h"
#include "tables/gpu_limits.h"

namespace beeswax::gpu {

/// The first error of a stream, in host memory that the device sees: who claims the slot tells the rest, and
/// says then that all is there. The host reads it when it waits for the stream, or for another one.
struct ErrorSlot {
  uint32_t state;   // one of the constants below
  uint32_t code;    // one of the constants below
  int64_t value;    // the offending value
  int64_t place;    // the linear index where it was found
  int64_t limit;    // what the value must stay under
  uint64_t origin;  // the host's mark of who launched the kernel
};
inline constexpr uint32_t kSlotEmpty = 0;
inline constexpr uint32_t kSlotClaimed = 1;
inline constexpr uint32_t kSlotReported = 2;
/// What a kernel that can find errors is given.
struct Reporter {
  ErrorSlot* slot;
  uint64_t origin;
};
inline constexpr uint32_t kErrorDivisionByZero = 1;
inline constexpr uint32_t kErrorIndexOutOfRange = 2;

/// Whole division of numbers below 2^31 by one that the host knows: a product and a shift.
struct Divisor {
  uint32_t divisor, multiplier, shift;
};
/// n = quotient * divisor + rest, n below 2^31.
BW_FN uint32_t divide(uint32_t n, const Divisor& by) {
  const auto high = static_cast<uint32_t>((uint64_t{n} * by.multiplier) >> 32);
  return (high + n) >> by.shift;
}

/// How a linear index of a dense output walks n strided operands: axes innermost first, collapsed by the
/// host.
template <int n>
struct Walk {
  int32_t rank;
  uint32_t
      packed;  // bit k: operand k is dense along the innermost axis, and that axis counts packs; 0: elements
  Divisor dims[kMaxWalk];
  int64_t strides[n][kMaxWalk];
};

struct UnaryArgs {
  const void* x;
  void* y;
  uint32_t count;
  double param;
};

/// Each side is memory, or, where its pointer is null, one element whose bytes stand in `a_value`, `b_value`.
struct BinaryArgs {
  const void* a;
  const void* b;
  void* y;
  uint32_t count;
  uint64_t a_value, b_value;
  Reporter report;
  int64_t first;  // the linear index of element 0, for messages
};
struct BinaryStridedArgs {
  BinaryArgs dense;
  Walk<2> walk;
};

/// Operands turned, other, y in matrices of a batch: `turned` is dense along rows, y along columns; strides
/// in elements.
struct TurnedArgs {
  uint32_t rows, columns;
  Divisor row_tiles, column_tiles;
  int64_t rows_stride[3], columns_stride[2];
  Walk<3> batch;
};
struct BinaryTurnedArgs {
  BinaryArgs dense;
  TurnedArgs turned;
  uint32_t second;  // 1: the turned operand is b
};

/// x * mul + add; both are the bytes of a number in the compute type.
struct AffineArgs {
  const void* x;
  void* y;
  uint32_t count;
  uint64_t mul, add;
};
struct AffineStridedArgs {
  AffineArgs dense;
  Walk<1> walk;
};

struct CastArgs {
  const void* x;
  void* y;
  uint32_t count;
};

struct WhereArgs {
  const void* condition;
  const void* on_true;
  const void* on_false;
  void* y;
  uint32_t count;
};
struct WhereStridedArgs {
  WhereArgs dense;
  Walk<3> walk;
};

/// Copies or fills with strides on both sides; `value` is the element to fill with. Where packs are
/// collected, `step` is the stride of x, and `apart` how far from a pack and its place another one is, y's
/// not 0 where there is one.
struct CopyArgs {
  const void* x;
  void* y;
  uint32_t count;
  uint64_t value;
  int64_t step;
  int64_t apart[2];
  Walk<2> walk;  // x, y
};
/// Dense parts side by side in the rows of y; all counts are of units.
struct JoinArgs {
  struct Part {
    const void* x;
    uint32_t end_block;  // of the launch
    uint32_t width;      // of a row
    uint32_t at;         // in a row of y
  };
  static constexpr int kParts = 8;
  Part parts[kParts];
  void* y;
  uint32_t rows;
  uint32_t pitch;  // from a row of y to the next
};
/// y[j][i] = x[i][j] for matrices in a batch: x's axis `columns` is dense, y's axis `rows` is.
struct TransposeArgs {
  const void* x;
  void* y;
  uint32_t rows, columns;   // of x
  int64_t x_row, y_column;  // strides in elements
  Divisor row_tiles, column_tiles;
  Walk<2> batch;
};

struct RangeArgs {
  void* y;
  uint32_t count;
  int64_t first;  // the number of element 0
  double start, step;
  int64_t whole_start, whole_step;
};
struct RandomArgs {
  void* y;
  uint32_t count;
  uint64_t seed, block;
  double a, b, first, last;  // lo, width and the bounds of UniformIn; or mean and deviation
};

}  // namespace beeswax::gpu
