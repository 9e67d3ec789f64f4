// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/random.h"

#include "backends/cpu/kernels/philox_lanes.h"
#include "core/math/convert.h"

namespace beeswax::cpu::BW_ISA {
namespace {

constexpr int64_t kBlocks = 64;  // made at once
constexpr int64_t kWords = 4 * kBlocks;

// The words of kBlocks blocks, word w of block b at [4 b + w].
BW_FN void make_words(uint32_t* words, uint64_t seed, uint64_t block) {
  for (int64_t b = 0; b < kBlocks; b += kPhiloxGroups * kPhiloxLanes)
    philox_words(words + 4 * b, seed, block + static_cast<uint64_t>(b));
}

// Writes numbers of `out` in rounds of kBlocks blocks; make(words, numbers) turns words into numbers.
template <class T, class A, class Make>
BW_FN void generate(void* out, int64_t count, uint64_t seed, uint64_t block, Make make) {
  constexpr int64_t kNumbers = sizeof(A) == 8 ? kWords / 2 : kWords;
  T* y = static_cast<T*>(out);
  for (int64_t i = 0; i < count; i += kNumbers, block += kBlocks) {
    alignas(64) uint32_t words[kWords];
    alignas(64) A numbers[kNumbers];
    make_words(words, seed, block);
    make(words, numbers);
    const int64_t part = count - i < kNumbers ? count - i : kNumbers;
    for (int64_t k = 0; k < part; ++k) y[i + k] = m::convert<T>(numbers[k]);
  }
}

template <class T, class A>
void uniform(void* out, int64_t count, uint64_t seed, uint64_t block, const UniformIn<double>& given) {
  const UniformIn<A> in = {static_cast<A>(given.lo), static_cast<A>(given.width), static_cast<A>(given.first),
                           static_cast<A>(given.last)};
  generate<T, A>(out, count, seed, block,
                 [&in](const uint32_t* words, A* numbers) __attribute__((always_inline)) {
                   if constexpr (sizeof(A) == 8) {
                     for (int64_t k = 0; k < kWords / 2; ++k)
                       numbers[k] = uniform_number(unit_double(words[2 * k], words[2 * k + 1]), in);
                   } else {
                     for (int64_t k = 0; k < kWords; ++k)
                       numbers[k] = uniform_number(unit_float(words[k]), in);
                   }
                 });
}

template <class T, class A>
void normal(void* out, int64_t count, uint64_t seed, uint64_t block, double given_mean, double given_stddev) {
  const A mean = static_cast<A>(given_mean);
  const A stddev = static_cast<A>(given_stddev);
  generate<T, A>(out, count, seed, block,
                 [mean, stddev](const uint32_t* words, A* numbers) __attribute__((always_inline)) {
                   constexpr int64_t kStep = sizeof(A) == 8 ? 4 : 2;
                   for (int64_t k = 0; k < kWords / kStep; ++k) {
                     A first, second;
                     if constexpr (sizeof(A) == 8) {
                       normal_doubles(words + kStep * k, &first, &second);
                     } else {
                       normal_floats(words[kStep * k], words[kStep * k + 1], &first, &second);
                     }
                     numbers[2 * k] = mean + stddev * first;
                     numbers[2 * k + 1] = mean + stddev * second;
                   }
                 });
}

using Uniform = decltype(&uniform<float, float>);
using Normal = decltype(&normal<float, float>);

template <class T, class A>
constexpr Uniform uniform_for() {
  if constexpr (m::Integer<T>) {
    return nullptr;
  } else {
    return uniform<T, A>;
  }
}
template <class T, class A>
constexpr Normal normal_for() {
  if constexpr (m::Integer<T>) {
    return nullptr;
  } else {
    return normal<T, A>;
  }
}

}  // namespace

const RandomKernels& random_kernels() {
  static constexpr RandomKernels kTable = {
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) uniform_for<ctype, compute>(),
#include "tables/dtypes.def"
      },
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) normal_for<ctype, compute>(),
#include "tables/dtypes.def"
      },
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
