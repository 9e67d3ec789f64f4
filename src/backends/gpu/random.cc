// SPDX-License-Identifier: Apache-2.0
// Random numbers.
#include "backends/gpu/launch.h"
#include "core/random_bounds.h"
#include "kernels/random_args.h"

namespace beeswax::gpu {
namespace {

KernelTable random_kernels(4, [](size_t i) -> KernelTable::Name {
  return {join_text("random_", i / 2 == 0 ? "uniform" : "normal", i % 2 == 0 ? "_f32" : "_f64"),
          i / 2 == 0 ? "rand" : "randn"};
});

uint32_t random_dtype(DType dtype) {
  if (dtype == DType::F16) return kRandomF16;
  if (dtype == DType::BF16) return kRandomBF16;
  return dtype == DType::F8E4M3 ? kRandomF8E4M3 : kRandomF32;
}

template <class A>
void draw(Gpu& gpu, const Target& out, Distribution distribution, double a, double b, uint64_t seed,
          uint64_t counter) {
  const bool uniform = distribution == Distribution::Uniform;
  const int64_t in_block = random_numbers_in_block(out.dtype);
  RandomDrawArgs<A> arguments{};
  arguments.dtype = random_dtype(out.dtype);
  arguments.keys = random_keys(seed);
  arguments.a = static_cast<A>(a);
  arguments.b = static_cast<A>(uniform ? b - a : b);
  if (uniform) {
    const RandomBounds bounds = random_bounds(out.dtype, a, b);
    arguments.first = static_cast<A>(bounds.first);
    arguments.last = static_cast<A>(bounds.last);
  }
  const Kernel& kernel = random_kernels.get(gpu, (uniform ? 0u : 2u) + (sizeof(A) == 8 ? 1u : 0u));
  const int64_t count = out.layout->shape().elem_count();
  for (int64_t first = 0; first < count; first += most_elements()) {  // a whole number of blocks
    const int64_t part = std::min(most_elements(), count - first);
    arguments.y = at(out.data(), first, out.dtype);
    arguments.count = static_cast<uint32_t>(part);
    arguments.block = counter + static_cast<uint64_t>(first / in_block);
    gpu.launch(kernel, {{blocks_for(ceil_div(part, in_block), kMapThreads), 1, 1}, kMapThreads, 0},
               arguments);
  }
}

}  // namespace

void GpuBackend::random(const Target& out, Distribution distribution, double a, double b, uint64_t seed,
                        uint64_t counter) {
  if (out.dtype == DType::F64) {
    draw<double>(gpu_, out, distribution, a, b, seed, counter);
  } else {
    draw<float>(gpu_, out, distribution, a, b, seed, counter);
  }
}

}  // namespace beeswax::gpu
