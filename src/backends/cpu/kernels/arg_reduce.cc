// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/arg_reduce.h"

#include "backends/cpu/kernels/extreme.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

#define BW_ARG_REDUCE(Name, method, better_, ...)                               \
  struct Name##Op {                                                             \
    static constexpr Extreme kExtreme = extreme_of(#better_, "a > b", "a < b"); \
    template <class T>                                                          \
    BW_FN bool better(T a, T b) {                                               \
      return (better_) || (m::is_nan(a) && !m::is_nan(b));                      \
    }                                                                           \
  };
#include "tables/reduce.def"

// The best of `count` elements.
template <class Op, class T>
BW_FN T best_of(const T* x, int64_t count) {
  if constexpr (m::Floating<T> && Op::kExtreme != Extreme::None) {
    return extreme < Op::kExtreme == Extreme::Largest > (x, count);
  } else {
    constexpr int64_t kLanes = 32;
    T value = x[0];
    int64_t i = 1;
    if (count >= 2 * kLanes) {
      T lanes[kLanes];
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] = x[l];
      for (i = kLanes; i + kLanes <= count; i += kLanes)
        for (int64_t l = 0; l < kLanes; ++l) lanes[l] = Op::better(x[i + l], lanes[l]) ? x[i + l] : lanes[l];
      for (int64_t half = kLanes / 2; half > 0; half /= 2)
        for (int64_t l = 0; l < half; ++l)
          lanes[l] = Op::better(lanes[l + half], lanes[l]) ? lanes[l + half] : lanes[l];
      value = lanes[0];
    }
    for (; i < count; ++i) value = Op::better(x[i], value) ? x[i] : value;
    return value;
  }
}

// The first place of a value that is there.
template <class T>
BW_FN int64_t place_of(const T* x, int64_t count, T value) {
  constexpr int64_t kStep = 64;
  const bool nan = m::is_nan(value);
  const auto here = [=](T a) __attribute__((always_inline)) {
    return static_cast<int>(a == value) | (static_cast<int>(nan) & static_cast<int>(m::is_nan(a)));
  };
  int64_t place = 0;
  for (; place + kStep <= count; place += kStep) {
    int found = 0;
    for (int64_t i = 0; i < kStep; ++i) found |= here(x[place + i]);
    if (found != 0) break;
  }
  while (here(x[place]) == 0) ++place;
  return place;
}

// The value first, then its place: both loops vectorize, and the second one runs only where the value beats
// what was found before.
template <class Op, class T>
void row(const void* from, int64_t count, int64_t first, bool start, void* best, uint32_t* at) {
  const T* x = static_cast<const T*>(from);
  T* found = static_cast<T*>(best);
  const T value = best_of<Op>(x, count);
  if (!start && !Op::better(value, *found)) return;
  *found = value;
  *at = static_cast<uint32_t>(first + place_of(x, count, value));
}

template <class Op, class T>
void columns(const void* from, int64_t count, int64_t index, void* best, uint32_t* __restrict at) {
  const T* x = static_cast<const T*>(from);
  T* __restrict found = static_cast<T*>(best);
  const auto place = static_cast<uint32_t>(index);
  if (index == 0) {
    for (int64_t c = 0; c < count; ++c) found[c] = x[c];
    for (int64_t c = 0; c < count; ++c) at[c] = 0;
    return;
  }
  for (int64_t c = 0; c < count; ++c) {
    const bool better = Op::better(x[c], found[c]);
    found[c] = better ? x[c] : found[c];
    at[c] = better ? place : at[c];
  }
}

template <class Op>
constexpr void fill(ArgReduceLoops* loops) {
#define BW_DTYPE(Name, name, ctype, compute, ...) \
  loops[static_cast<size_t>(DType::Name)] = {row<Op, compute>, columns<Op, compute>};
#include "tables/dtypes.def"
}

constexpr ArgReduceKernels make_table() {
  ArgReduceKernels table{};
#define BW_ARG_REDUCE(Name, ...) fill<Name##Op>(table.loops[static_cast<size_t>(ArgReduceOp::Name)]);
#include "tables/reduce.def"
  return table;
}

}  // namespace

const ArgReduceKernels& arg_reduce_kernels() {
  static constexpr ArgReduceKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
