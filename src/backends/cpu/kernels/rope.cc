// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/rope.h"

#include <utility>

#include "backends/cpu/kernels/lines.h"
#include "backends/cpu/kernels/register.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class A>
constexpr int64_t kStep = kRegister / static_cast<int64_t>(sizeof(A));

template <class A>
BW_FN Register<A> load(const A* from) {
  Register<A> v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <class A>
BW_FN void store(A* to, Register<A> v) {
  __builtin_memcpy(to, &v, sizeof(v));
}

template <class A, int... i>
BW_FN Register<A> swapped_neighbours(Register<A> v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, (i ^ 1)...);
}
// Each element of the lower or upper half of a register twice.
template <class A, int... i>
BW_FN Register<A> lower_twice(Register<A> v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, (i / 2)...);
}
template <class A, int... i>
BW_FN Register<A> upper_twice(Register<A> v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, (static_cast<int>(sizeof...(i) + i) / 2)...);
}
template <class A, int... i>
BW_FN Register<A> minus_plus(std::integer_sequence<int, i...>) {
  return Register<A>{static_cast<A>((i & 1) != 0 ? 1 : -1)...};
}

// y = f(pairs) for n elements of each half, in the compute type.
template <class S, int64_t n, class A = Compute<S>>
BW_FN void rotate_halves(const Inputs<S, n>& a, const Inputs<S, n>& b, const A* cos, const A* sin,
                         Outputs<S, n>& first, Outputs<S, n>& second) {
  for (int64_t j = 0; j < n; j += kStep<A>) {
    const Register<A> va = load(a.value + j), vb = load(b.value + j), c = load(cos + j), s = load(sin + j);
    store(first.value + j, va * c - vb * s);
    store(second.value + j, va * s + vb * c);
  }
}

// Likewise for n neighbours: (a, b) c + (b, a) (-s, s) has the bits of the definition.
template <class S, int64_t n, class A = Compute<S>>
BW_FN void rotate_neighbours(const Inputs<S, n>& x, const A* cos, const A* sin, Outputs<S, n>& out) {
  constexpr auto lanes = std::make_integer_sequence<int, kStep<A>>{};
  const Register<A> signs = minus_plus<A>(lanes);
  for (int64_t j = 0; j < n; j += 2 * kStep<A>) {
    const Register<A> c = load(cos + j / 2), s = load(sin + j / 2);
    const Register<A> low = load(x.value + j), high = load(x.value + j + kStep<A>);
    store(out.value + j, low * lower_twice<A>(c, lanes) +
                             swapped_neighbours<A>(low, lanes) * (lower_twice<A>(s, lanes) * signs));
    store(out.value + j + kStep<A>, high * upper_twice<A>(c, lanes) + swapped_neighbours<A>(high, lanes) *
                                                                          (upper_twice<A>(s, lanes) * signs));
  }
}

template <class S, int64_t n>
BW_FN void put_lines(S* y, Outputs<S, n>& out, bool past_caches) {
  const S* lines = out.rounded();
  for (int64_t j = 0; j < n; j += kBlock<S>) put_line(y + j, lines + j, past_caches);
}
template <class S, int64_t n>
BW_FN void put_some(S* y, Outputs<S, n>& out, int64_t count) {
  __builtin_memcpy(y, out.rounded(), static_cast<size_t>(count) * sizeof(S));
}

// What is not rotated keeps its bits.
template <class S>
BW_FN void copy_rest(const S* x, S* y, int64_t count, bool past_caches) {
  int64_t i = 0;
  if (past_caches) {
    for (; i + kBlock<S> <= count; i += kBlock<S>) {
      alignas(64) S line[kBlock<S>];
      __builtin_memcpy(line, x + i, 64);
      put_line(y + i, line, true);
    }
  }
  __builtin_memcpy(y + i, x + i, static_cast<size_t>(count - i) * sizeof(S));
}

// Requests a row at `ahead` into the second cache, from left to right.
template <class S, class A>
BW_FN void halves_of_row(const S* x, const S* ahead, const A* cos, const A* sin, int64_t half, S* y,
                         bool past_caches) {
  constexpr int64_t n = kBlock<S>;
  Outputs<S, n> first, second;
  int64_t i = 0;
  for (; i + n <= half; i += n) {
    rotate_halves<S, n>(Inputs<S, n>(x + i), Inputs<S, n>(x + half + i), cos + i, sin + i, first, second);
    __builtin_prefetch(ahead + 2 * i, 0, 2);
    put_lines<S, n>(y + i, first, past_caches);
    __builtin_prefetch(ahead + 2 * i + n, 0, 2);
    put_lines<S, n>(y + half + i, second, past_caches);
  }
  if (i == half) return;
  const int64_t left = half - i;
  rotate_halves<S, n>(Inputs<S, n>(Padded<S, n>(x + i, left).value),
                      Inputs<S, n>(Padded<S, n>(x + half + i, left).value), Padded<A, n>(cos + i, left).value,
                      Padded<A, n>(sin + i, left).value, first, second);
  put_some<S, n>(y + i, first, left);
  put_some<S, n>(y + half + i, second, left);
}

template <class S, class A>
BW_FN void neighbours_of_row(const S* x, const S* ahead, const A* cos, const A* sin, int64_t half, S* y,
                             bool past_caches) {
  constexpr int64_t n = kBlock<S> < 2 * kStep<A> ? 2 * kBlock<S> : kBlock<S>;
  Outputs<S, n> out;
  int64_t i = 0;
  for (; i + n <= 2 * half; i += n) {
    rotate_neighbours<S, n>(Inputs<S, n>(x + i), cos + i / 2, sin + i / 2, out);
    for (int64_t j = 0; j < n; j += kBlock<S>) __builtin_prefetch(ahead + i + j, 0, 2);
    put_lines<S, n>(y + i, out, past_caches);
  }
  if (i == 2 * half) return;
  const int64_t left = half - i / 2;
  rotate_neighbours<S, n>(Inputs<S, n>(Padded<S, n>(x + i, 2 * left).value),
                          Padded<A, n / 2>(cos + i / 2, left).value,
                          Padded<A, n / 2>(sin + i / 2, left).value, out);
  put_some<S, n>(y + i, out, 2 * left);
}

// No processor foresees long halves that are read in turn, and some need the rest of kBytesAhead. Beyond the
// last row nobody reads what is requested, often the next call does.
template <class S, bool kHalves>
BW_FN const S* x_ahead(const RopeArgs& args, const S* x, int64_t bytes) {
  constexpr int64_t kLongHalf = 512, kRowsAhead = 6;
  const auto row = args.n * static_cast<int64_t>(sizeof(S));
  const int64_t rows = kHalves && args.half * static_cast<int64_t>(sizeof(S)) >= kLongHalf ? kRowsAhead : 0;
  const int64_t far = (bytes + row - 1) / row;
  return x + (far > rows ? far : rows) * args.x_row;
}

template <class S, bool kHalves>
void rope(const RopeArgs& args) {
  using A = Compute<S>;
  const auto* x = static_cast<const S*>(args.x);
  const auto* cos = static_cast<const A*>(args.cos);
  const auto* sin = static_cast<const A*>(args.sin);
  auto* y = static_cast<S*>(args.y);
  const int64_t bytes = args.past_caches ? kBytesAhead : 0;
  for (int64_t row = 0; row < args.rows; ++row) {
    const S* ahead = x_ahead<S, kHalves>(args, x, bytes);
    if constexpr (kHalves) {
      halves_of_row(x, ahead, cos, sin, args.half, y, args.past_caches);
    } else {
      neighbours_of_row(x, ahead, cos, sin, args.half, y, args.past_caches);
    }
    if (args.n > 2 * args.half)
      copy_rest(x + 2 * args.half, y + 2 * args.half, args.n - 2 * args.half, args.past_caches);
    x += args.x_row;
    cos += args.angle_row;
    sin += args.angle_row;
    y += args.n;
  }
}

template <class S>
constexpr RopeLoop loop(int pairs) {
  if constexpr (m::Floating<Compute<S>>) return pairs == 0 ? rope<S, false> : rope<S, true>;
  return nullptr;
}

}  // namespace

const RopeKernels& rope_kernels() {
  static constexpr RopeKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) {loop<ctype>(0), loop<ctype>(1)},
#include "tables/dtypes.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
