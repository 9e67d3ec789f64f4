// SPDX-License-Identifier: Apache-2.0
// random_uniform_<f32 or f64> and random_normal_<f32 or f64>: a thread makes the numbers of one block of
// words. f32's kernels write the narrow dtypes too.
//   floors: bytes written over the bandwidth; about 100 integer and, for normal numbers, 100 float operations
//   a block
#include "core/math/convert.h"
#include "core/philox.h"
#include "core/random_numbers.h"
#include "kernels/elements.h"
#include "kernels/random_args.h"

namespace beeswax::gpu {

/// Stores up to n numbers from element `at` on.
template <class T, class A, int n>
BW_DEVICE void store_numbers(const RandomDrawArgs<A>& args, uint32_t at, const A (&number)[n]) {
  T* y = static_cast<T*>(args.y);
  Pack<T, n> out;
  for (int i = 0; i < n; ++i) out.v[i] = m::convert<T>(number[i]);
  if (at + n <= args.count && aligned16(y)) {
    return store_whole(y + at, out);
  }
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (at + static_cast<uint32_t>(i) < args.count) y[at + static_cast<uint32_t>(i)] = out.v[i];
}
template <int n>
BW_DEVICE void store_as_dtype(const RandomDrawArgs<float>& args, uint32_t at, const float (&number)[n]) {
  if (args.dtype == kRandomF32) return store_numbers<float>(args, at, number);
  if (args.dtype == kRandomF16) return store_numbers<f16>(args, at, number);
  if (args.dtype == kRandomBF16) return store_numbers<bf16>(args, at, number);
  store_numbers<f8e4m3>(args, at, number);
}
template <int n>
BW_DEVICE void store_as_dtype(const RandomDrawArgs<double>& args, uint32_t at, const double (&number)[n]) {
  store_numbers<double>(args, at, number);
}

template <class A, bool normal>
BW_DEVICE void random(const RandomDrawArgs<A>& args) {
  constexpr int n = sizeof(A) == 8 ? 2 : 4;
  const uint32_t place = block() * kMapThreads + thread();
  const uint32_t at = place * n;
  if (at >= args.count) return;
  const PhiloxBlock words = random_block(args.keys, args.block + place);
  A number[n];
  if constexpr (normal) {
    if constexpr (sizeof(A) == 8) {
      normal_doubles(words.word, &number[0], &number[1]);
    } else {
      normal_floats(words.word[0], words.word[1], &number[0], &number[1]);
      normal_floats(words.word[2], words.word[3], &number[2], &number[3]);
    }
    for (A& value : number) value = args.a + args.b * value;
  } else {
    const UniformIn<A> in = {args.a, args.b, args.first, args.last};
    for (int i = 0; i < n; ++i) {
      if constexpr (sizeof(A) == 8) {
        number[i] = uniform_number(unit_double(words.word[2 * i], words.word[2 * i + 1]), in);
      } else {
        number[i] = uniform_number(unit_float(words.word[i]), in);
      }
    }
  }
  store_as_dtype(args, at, number);
}

BW_KERNEL(kMapThreads) random_uniform_f32(RandomDrawArgs<float> args) { random<float, false>(args); }
BW_KERNEL(kMapThreads) random_uniform_f64(RandomDrawArgs<double> args) { random<double, false>(args); }
BW_KERNEL(kMapThreads) random_normal_f32(RandomDrawArgs<float> args) { random<float, true>(args); }
BW_KERNEL(kMapThreads) random_normal_f64(RandomDrawArgs<double> args) { random<double, true>(args); }

}  // namespace beeswax::gpu
