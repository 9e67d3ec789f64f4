// SPDX-License-Identifier: Apache-2.0
// Constants, ranges and random numbers.
#include "backends/cpu/backend.h"

#include "backends/convert_scalar.h"
#include "backends/cpu/kernels/random.h"
#include "backends/cpu/kernels/range.h"
#include "backends/cpu/nest.h"
#include "backends/cpu/streaming.h"
#include "core/random_bounds.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {
constexpr int64_t kGrain = 1 << 16;                 // elements in one task
constexpr int64_t kPart = DenseWriter::kBytes / 8;  // made at once: a whole number of random blocks
}  // namespace

void CpuBackend::fill(const Target& out, const Scalar& value) {
  const size_t bytes = dtype_bytes(out.dtype, 1);
  const ScalarBytes element(value, out.dtype);
  const Nest<1> nest({out.layout});
  std::byte* base = out.data();
  constexpr int64_t kBlock = 1024;
  alignas(64) std::byte block[kBlock * 8];
  const CopyKernels& kernels = copy_kernels();
  kernels.gather[size_class(bytes)](block, element.data(), 0, kBlock);
  const bool past_caches = beyond_caches(static_cast<size_t>(nest.count) * bytes);
  parallel_ranges(nest.count, kGrain, [&](int64_t begin, int64_t end) {
    NestPosition<1> position(nest, begin);
    for (int64_t left = end - begin; left > 0;) {
      const int64_t run = std::min({left, position.left(), kBlock});
      std::byte* y = base + position.offset(0) * static_cast<int64_t>(bytes);
      if (nest.strides[0][nest.last()] != 1) {
        kernels.scatter[size_class(bytes)](y, nest.strides[0][nest.last()], block, run);
      } else if (past_caches) {
        kernels.stream(y, block, static_cast<size_t>(run) * bytes);
      } else {
        std::memcpy(y, block, static_cast<size_t>(run) * bytes);
      }
      left -= run;
      position.advance(run);
    }
    if (past_caches) kernels.fence();
  });
}

namespace {

// Calls make(where, begin, count) for parts of a dense output.
template <class Make>
void make_dense(const Target& out, Make&& make) {
  const int64_t count = out.layout->shape().elem_count();
  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
  const bool past_caches = beyond_caches(static_cast<size_t>(count * bytes));
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    DenseWriter writer(out.data() + begin * bytes, past_caches);
    for (int64_t i = begin; i < end; i += kPart) {
      const int64_t part = std::min(kPart, end - i);
      writer.write(part * bytes, [&](std::byte* to) { make(to, i, part); });
    }
  });
}

}  // namespace

void CpuBackend::range(const Target& out, const Scalar& start, const Scalar& step) {
  const auto kernel = range_kernels().range[static_cast<size_t>(out.dtype)];
  const int64_t count = out.layout->shape().elem_count();
  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
  const bool past_caches =
      beyond_caches(static_cast<size_t>(count * bytes)) && reinterpret_cast<uintptr_t>(out.data()) % 64 == 0;
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    kernel(out.data() + begin * bytes, begin, end - begin, start.as_double(), step.as_double(),
           start.as_int(), step.as_int(), past_caches);
    if (past_caches) copy_kernels().fence();
  });
}

void CpuBackend::random(const Target& out, Distribution distribution, double a, double b, uint64_t seed,
                        uint64_t counter) {
  const RandomKernels& kernels = random_kernels();
  const auto dtype = static_cast<size_t>(out.dtype);
  const int64_t in_block = random_numbers_in_block(out.dtype);
  UniformIn<double> uniform{};
  if (distribution == Distribution::Uniform) {
    const RandomBounds bounds = random_bounds(out.dtype, a, b);
    uniform = {a, b - a, bounds.first, bounds.last};
  }
  make_dense(out, [&](std::byte* to, int64_t begin, int64_t count) {
    const uint64_t block = counter + static_cast<uint64_t>(begin / in_block);
    if (distribution == Distribution::Uniform) {
      kernels.uniform[dtype](to, count, seed, block, uniform);
    } else {
      kernels.normal[dtype](to, count, seed, block, a, b);
    }
  });
}

}  // namespace beeswax::cpu
